"""Entry point of `python -m hack.testbed`."""

from hack.testbed.cli import main

if __name__ == "__main__":
    main()
