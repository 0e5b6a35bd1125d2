"""`python -m hack.images`: build what has changed; prints reference, size and archive of each image."""

from hack.images.recipes import build_all
from hack.testbed.errors import TestbedError
from hack.testbed.progress import console


def main() -> int:
    """Build all images; exit status 1 with one message when that fails."""
    try:
        for image in build_all():
            print(f"{image.reference} {image.size / 1e6:.1f} MB {image.path}")
    except TestbedError as error:
        console.print(f"[red]error:[/] {error}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
