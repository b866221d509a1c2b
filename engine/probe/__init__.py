"""A learner's own code and files, looked at in a child with limits: against accidents, not against malice."""
