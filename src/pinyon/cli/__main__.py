"""`python -m pinyon.cli`: the same as `pinyon`."""

from pinyon.cli import main

main()
