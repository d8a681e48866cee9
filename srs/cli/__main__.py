"""`python -m srs.cli` is `srs`."""

from srs.cli.app import main

if __name__ == "__main__":
    main()
