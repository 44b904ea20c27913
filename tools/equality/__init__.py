"""What `tools/equal.py` runs: cases drawn from a seed, and the bytes of their results."""
