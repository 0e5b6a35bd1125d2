"""`python -m hack.vllm`: install a real vLLM for CPUs and say where it is."""

import sys

from hack.vllm.install import InstallError, install


def main() -> int:
    """Install what is missing; exit code 1 with one line when that cannot be done."""
    try:
        found = install()
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"environment: {found.environment}\nmodels: {found.models}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
