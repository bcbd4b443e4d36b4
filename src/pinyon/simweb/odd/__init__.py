"""The awkward hosts, one module for each family: their paths and what they answer. `kinds.py` lists them all."""
