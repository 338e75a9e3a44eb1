"""The program `taffeta`, run by `python -m taffeta`."""

import sys

from ._taffeta import program


def main() -> int:
    """Runs the program with the words of the command line; its exit code."""
    return program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
