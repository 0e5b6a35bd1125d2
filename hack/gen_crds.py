"""Write the CustomResourceDefinitions from the API types: `python -m hack.gen_crds`; `--check` only compares."""

import sys

from hack.crds.files import ROOT, generated


def main(arguments: list[str]) -> int:
    """Write, or compare with --check; return 1 if a compared file differs."""
    check = "--check" in arguments
    differing = []
    for path, text in generated().items():
        target = ROOT / path
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        differing.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for path in differing:
        print(f"{path}: {'differs; run python -m hack.gen_crds' if check else 'written'}")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
