"""The program `taffeta`, run by `python -m taffeta`."""

import os
import sys

from ._taffeta import program


def main() -> int:
    """Runs the program with the words of the command line; its exit code."""
    # A sweep starts this program again; an interpreter of a virtual environment does not know its own name.
    os.environ["TAFFETA_PYTHON"] = sys.executable
    return program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
