"""Start the embedding server with `python -m embedding_server`."""

from embedding_server.command import main

if __name__ == "__main__":
    main()
