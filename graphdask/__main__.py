"""`python -m graphdask COMMAND` is `graphdask COMMAND`."""

from graphdask.cli import main

if __name__ == "__main__":
    main()
