"""Arguments that a user may not give, in every spelling that vLLM's parser understands.

vLLM reads `_` in a flag as `-`, takes a value behind `=` and a key of a JSON flag behind `.`, knows `--no-` forms,
and (being an argparse parser) completes a flag from any unambiguous beginning: `--speculative-conf` is
`--speculative-config`. So an argument counts as an owned flag when its name, once normalised, is one, or is the
beginning of one. A longer name (`--port-range`, `--model-impl`) is another flag and passes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from specdec_operator.api.owned_flags import OWNED_FLAGS
from specdec_operator.engine.findings import Finding, error, warning

_ARGUMENTS: Final = "spec.engine.extraArgs"
_RULE: Final = "extra-args"


@dataclass(frozen=True, slots=True)
class OwnedFlag:
    """One flag that has another place in the spec, written with its dashes."""

    flag: str
    remedy: str


_TYPED: Final = tuple(
    OwnedFlag(flag, f"use spec.{field}")
    for flag, field in {
        "--model": "model.name",
        "--revision": "model.revision",
        "--trust-remote-code": "model.trustRemoteCode",
        "--hf-token": "model.tokenSecretRef",
        "--max-model-len": "engine.maxModelLen",
        "--max-num-seqs": "engine.maxNumSeqs",
        "--gpu-memory-utilization": "engine.gpuMemoryUtilization",
    }.items()
)
_NEVER: Final = (OwnedFlag("--headless", "leave it out: the operator asks every pod over HTTP whether it is ready"),)
OWNED: Final[tuple[OwnedFlag, ...]] = (
    *(OwnedFlag(f"--{name}", group.remedy) for group in OWNED_FLAGS for name in group.long),
    *(OwnedFlag(short, group.remedy) for group in OWNED_FLAGS for short in group.short),
    *_TYPED,
    *_NEVER,
)
_FAMILIES: Final = tuple((f"--{prefix}", group.remedy) for group in OWNED_FLAGS for prefix in group.prefixes)


def normalise(argument: str) -> str | None:
    """Return the flag that an argument gives, as vLLM names it; None when it is a value and no flag.

    "--speculative_config.method=eagle" gives "--speculative-config", "--no-trust-remote-code" gives
    "--trust-remote-code", "-sc={}" gives "-sc".
    """
    if not argument.startswith("-") or _is_number(argument):
        return None
    name = argument.partition("=")[0].partition(".")[0].replace("_", "-")
    return f"--{name.removeprefix('--no-')}" if name.startswith("--no-") else name


def owner_of_flag(flag: str) -> OwnedFlag | None:
    """Return the owned flag that a normalised flag is, or is a beginning of; None when it is the user's to set."""
    if not flag.strip("-"):
        return None
    family = next((remedy for prefix, remedy in _FAMILIES if flag.startswith(prefix)), None)
    exact = next((owned for owned in OWNED if owned.flag == flag), None)
    if exact is not None:
        return exact
    if family is not None:
        return OwnedFlag(flag, family)
    return next((owned for owned in OWNED if owned.flag.startswith(flag)), None)


def check_arguments(arguments: tuple[str, ...]) -> Iterator[Finding]:
    """Check `spec.engine.extraArgs`: owned flags are errors, and so is what no vLLM can parse."""
    if arguments and normalise(arguments[0]) is None:
        yield _error(0, arguments[0], "is a value without a flag before it", "put its flag first")
    for position, argument in enumerate(arguments):
        flag = normalise(argument)
        if flag is not None:
            yield from _check_flag(position, argument, flag, arguments[position + 1 : position + 2])


def _check_flag(position: int, argument: str, flag: str, following: tuple[str, ...]) -> Iterator[Finding]:
    owner = owner_of_flag(flag)
    if owner is not None:
        known = owner.flag if flag == owner.flag else f"{owner.flag}, of which this is another spelling"
        yield _error(position, argument, f"sets {known}; the operator owns it", owner.remedy)
    elif flag == "--":
        yield _error(position, argument, "ends the flags, so that vLLM would not read what follows", "leave it out")
    elif any(character.isspace() for character in flag):
        remedy = "write flag and value as two list entries, or join them with ="
        yield _error(position, argument, "has a space in the name of the flag, which vLLM refuses", remedy)
    elif flag == "--per-request-spec-decode-metrics" and _value(argument, following) != "none":
        said = "makes vLLM refuse to start without speculation, and every deployment must be able to turn it off"
        yield _error(position, argument, said, "leave it out; the engine's own metrics carry the same counters")
    elif flag == "--config":
        said = "reads flags from a file that the operator cannot see; flags that it owns win over the file's"
        remedy = "write the flags into extraArgs"
        yield warning(f"{_ARGUMENTS}[{position}]", f"{_shown(argument)} {said}", remedy, rule=_RULE)


def _value(argument: str, following: tuple[str, ...]) -> str | None:
    _, joined, value = argument.partition("=")
    return value if joined else next(iter(following), None)


def _is_number(text: str) -> bool:
    """Say whether argparse reads the text as a value, as it does "-1" and "-0.5"."""
    digits = text[1:].replace(".", "", 1)
    return digits.isascii() and digits.isdigit()


def _error(position: int, argument: str, said: str, remedy: str) -> Finding:
    return error(f"{_ARGUMENTS}[{position}]", f"{_shown(argument)} {said}", remedy, rule=_RULE)


def _shown(argument: str) -> str:
    return repr(argument if len(argument) <= 80 else f"{argument[:77]}...")
