"""`python -m flashwatt` is the command line."""

from flashwatt.cli import main

if __name__ == "__main__":
    main()
