"""`python -m pinyon`: the same as `pinyon`."""

from pinyon.cli import main

main()
