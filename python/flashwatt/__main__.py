"""The command `flashwatt`, which is also `python -m flashwatt`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C while it is loaded, a tenth of a second, ends in a message, too."""
    try:
        from flashwatt.cli.main import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("flashwatt: error: interrupted; nothing was kept\n")
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
