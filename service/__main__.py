"""`python -m service`: the same as the command `graph-memory`."""

from service.commands.main import main

main()
