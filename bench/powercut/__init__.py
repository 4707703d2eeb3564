"""Power cuts: the operations that are cut at each step, and what must be true of a store afterwards."""
