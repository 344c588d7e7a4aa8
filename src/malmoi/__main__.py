"""`python -m malmoi` is the `malmoi` command."""

from malmoi.cli import main

if __name__ == "__main__":
    main()
