"""The tasks that the course's models are trained on: generators of data, equal in every process."""
