"""Every layer and lab on an accelerator against the CPU; needs torch, numpy, msgspec, safetensors and pytest alone.

`python -m pytest tests/gpu -rA` prints largest differences, times and memory. Without CUDA only the self-check runs:
the same comparisons of the CPU with itself, so that this folder does not rot where nobody has a card.
"""
