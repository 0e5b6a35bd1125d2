"""vLLM flags that the operator sets itself: refused in `spec.engine.extraArgs`, with the field to use instead.

vLLM treats `-` and `_` in a flag alike, takes a value behind `=` and a key of a JSON flag behind `.`, so each flag
here stands for all of its spellings.
"""

import re
from dataclasses import dataclass
from typing import Final

from specdec_operator.api.schema import Rule, quoted


@dataclass(frozen=True, slots=True)
class OwnedFlags:
    """Flags with one remedy. `long` are written with dashes and without the leading two, `short` with one dash."""

    long: tuple[str, ...]
    remedy: str
    short: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """Beginnings of long flags."""

    @property
    def pattern(self) -> str:
        """What an argument that gives one of the flags begins with, for Python and RE2 alike."""
        names = [re.escape(name).replace(r"\-", "[-_]") for name in self.long]
        names += [name.replace("-", "[-_]") + "[-_a-z]+" for name in self.prefixes]
        spellings = [f"--(?:{'|'.join(names)})", *self.short]
        return f"^(?:{'|'.join(spellings)})(?:[=.]|$)"

    @property
    def message(self) -> str:
        """What is wrong and what to write instead."""
        listed = ", ".join([*(f"--{name}" for name in self.long), *(f"--{name}*" for name in self.prefixes)])
        return f"engine.extraArgs: the operator sets {listed} (in every spelling) itself; {self.remedy}"

    def matches(self, argument: str) -> bool:
        """Say whether the argument gives one of the flags."""
        return re.match(self.pattern, argument) is not None

    @property
    def rule(self) -> Rule:
        """Return the same as CEL, at `spec.engine`; to bound its cost it looks at the beginning of an argument only."""
        start = "a.substring(0, a.size() < 64 ? a.size() : 64)"
        every = f"self.extraArgs.all(a, !{start}.matches({quoted(self.pattern)}))"
        return Rule(f"!has(self.extraArgs) || {every}", self.message, ".extraArgs")


OWNED_FLAGS: Final = (
    OwnedFlags(
        long=("speculative-config", "num-speculative-tokens"),
        prefixes=("spec-", "speculative-"),
        short=("-sc",),
        remedy="use speculation.methods",
    ),
    OwnedFlags(long=("port", "host", "uds"), remedy="clients use the Service, whose port is service.port"),
    OwnedFlags(long=("served-model-name",), remedy="use model.servedNames"),
    OwnedFlags(
        long=("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size"),
        short=("-tp", "-pp", "-dp"),
        remedy="use engine.tensorParallelSize, engine.pipelineParallelSize and engine.dataParallelSize",
    ),
    OwnedFlags(long=("shutdown-timeout",), remedy="use pod.terminationGracePeriodSeconds"),
    OwnedFlags(long=("disable-log-stats",), remedy="leave it out, because decisions need the engine's metrics"),
    OwnedFlags(
        long=("enable-ssl-refresh",),
        prefixes=("ssl-",),
        remedy="end TLS in front of the Service, because probes and metrics speak plain HTTP",
    ),
)


def owner_of(argument: str) -> OwnedFlags | None:
    """Return the owned flags that this argument is one of, None when it is the user's to set."""
    return next((flags for flags in OWNED_FLAGS if flags.matches(argument)), None)
