"""`python -m service`: the same as the command `graph-memory`."""

from service.command import main

main()
