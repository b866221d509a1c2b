"""Training: one loop for every lab; optimisers, schedules, clipping, accumulation, checkpoints."""
