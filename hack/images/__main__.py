"""`python -m hack.images`: build what has changed; print each image's reference and size, then the archive of all."""

from hack.images.recipes import build_all
from hack.testbed.errors import TestbedError
from hack.testbed.progress import console


def main() -> int:
    """Build all images; exit status 1 with one message when that fails."""
    try:
        path, images = build_all()
    except TestbedError as error:
        console.print(f"[red]error:[/] {error}")
        return 1
    for image in images:
        print(f"{image.reference} {image.size / 1e6:.1f} MB")
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
