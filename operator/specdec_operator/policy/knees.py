"""Published figures behind the closed form and the prior table; every row names its source.

The knee n* of an accelerator is the number of tokens per decoding step at which reading the weights takes as long as
computing with them: `n* = F x bytes / (2 x bandwidth)`. Peak figures are the vendors' public dense figures. They hold
for bf16 and for weights and activations of the same width; weight-only quantisation divides them.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final


class Drafter(StrEnum):
    """Kinds of drafters that cost alike."""

    EAGLE3 = "EAGLE-3 head"
    EAGLE = "EAGLE head"
    DRAFT_MODEL = "draft model"
    MTP = "multi-token prediction layer"
    BLOCK = "block drafter"
    NGRAM = "n-gram lookup"
    SUFFIX = "suffix tree"
    OTHER = "unknown drafter"


class Hardware(StrEnum):
    """Columns of the prior table."""

    DATA_CENTRE = "current data-centre accelerators"
    OLDER = "A100 and 24 to 48 GB cards"
    LOW_COMPUTE = "H20 and the like"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and where it was published or derived."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Knee:
    """n* of one accelerator, and its column in the prior table."""

    tokens: Figure
    hardware: Hardware


_ROOFLINE: Final = "roofline of the vendor's dense bf16 peak and memory bandwidth"

KNEES: Final = {
    "H100": Knee(Figure(295, _ROOFLINE), Hardware.DATA_CENTRE),
    "H200": Knee(Figure(206, _ROOFLINE), Hardware.DATA_CENTRE),
    "B200": Knee(Figure(281, _ROOFLINE), Hardware.DATA_CENTRE),
    "MI300X": Knee(Figure(247, _ROOFLINE), Hardware.DATA_CENTRE),
    "MI355X": Knee(Figure(312, _ROOFLINE), Hardware.DATA_CENTRE),
    "A100": Knee(Figure(153, _ROOFLINE + " (80 GB)"), Hardware.OLDER),
    "L4": Knee(Figure(400, _ROOFLINE), Hardware.OLDER),
    "L40S": Knee(Figure(420, _ROOFLINE), Hardware.OLDER),
    "RTX3090": Knee(Figure(76, _ROOFLINE), Hardware.OLDER),
    "RTX4090": Knee(Figure(164, _ROOFLINE), Hardware.OLDER),
    "H20": Knee(Figure(37, _ROOFLINE), Hardware.LOW_COMPUTE),
}

ACCEPTANCE: Final = {
    Drafter.EAGLE3: Figure(0.70, "arXiv 2604.09557 table 1: length 2.44 at K=3; vllm#20780: 2.36 at K=2"),
    Drafter.EAGLE: Figure(0.61, "arXiv 2601.11580: length 2.2 at K=3"),
    Drafter.DRAFT_MODEL: Figure(0.70, "arXiv 2604.09557 table 1: length 2.44 at K=3"),
    Drafter.MTP: Figure(0.70, "arXiv 2604.09557 table 1: length 2.55 at K=3 (DeepSeek-R1)"),
    Drafter.BLOCK: Figure(0.70, "no table found; taken as for EAGLE-3"),
    Drafter.NGRAM: Figure(0.30, "arXiv 2604.09557 table 1: length 1.41 at K=3"),
}
"""Chance that one more drafted token is accepted, fitted to published acceptance lengths."""

DRAFT_COST: Final = {
    Drafter.EAGLE3: Figure(0.15, "vllm#20780: rho = 1.14 + 0.15 K on an 8B model and one H100"),
    Drafter.EAGLE: Figure(0.10, "vllm#20780: rho = 1.10 + 0.10 K on an 8B model and one H100"),
    Drafter.DRAFT_MODEL: Figure(0.375, "arXiv 2601.11580: step of a 0.6B draft over that of an 8B target"),
    Drafter.MTP: Figure(0.08, "fitted to K=3 paying below about 25 requests on H20 (27B)"),
    Drafter.BLOCK: Figure(0.18, "vLLM on B300, V4-Flash: 0.92 ms draft in front of a 5.16 ms step"),
    Drafter.NGRAM: Figure(0.0, "lookup on the host"),
}
"""Time of one draft step over one plain step; a block drafter makes all its tokens in one."""

_TABLE: Final = "arXiv 2601.11580 figure 1 (vLLM 0.10.1), lower one of 8B and 70B"
_OLD_CARDS: Final = "arXiv 2503.01840 (RTX 3090) and the closed form for A100"
_FORM: Final = "closed form, no measurement found"

PRIORS: Final = {
    (Drafter.EAGLE3, Hardware.DATA_CENTRE): Figure(130, _TABLE),
    (Drafter.EAGLE3, Hardware.OLDER): Figure(48, _OLD_CARDS),
    (Drafter.EAGLE3, Hardware.LOW_COMPUTE): Figure(24, _FORM),
    (Drafter.EAGLE, Hardware.DATA_CENTRE): Figure(128, _TABLE),
    (Drafter.EAGLE, Hardware.OLDER): Figure(24, _OLD_CARDS),
    (Drafter.EAGLE, Hardware.LOW_COMPUTE): Figure(16, _FORM),
    (Drafter.DRAFT_MODEL, Hardware.DATA_CENTRE): Figure(96, _TABLE),
    (Drafter.DRAFT_MODEL, Hardware.OLDER): Figure(32, _FORM),
    (Drafter.DRAFT_MODEL, Hardware.LOW_COMPUTE): Figure(8, _FORM),
    (Drafter.MTP, Hardware.DATA_CENTRE): Figure(128, "vLLM blog 2026-08-14 and arXiv 2607.05147"),
    (Drafter.MTP, Hardware.OLDER): Figure(48, _FORM),
    (Drafter.MTP, Hardware.LOW_COMPUTE): Figure(16, _FORM),
    (Drafter.BLOCK, Hardware.DATA_CENTRE): Figure(96, "vLLM blog 2026-08-14, figure 3"),
    (Drafter.BLOCK, Hardware.OLDER): Figure(16, _FORM),
    (Drafter.BLOCK, Hardware.LOW_COMPUTE): Figure(8, _FORM),
    (Drafter.NGRAM, Hardware.DATA_CENTRE): Figure(64, _TABLE + "; traffic decides"),
    (Drafter.NGRAM, Hardware.OLDER): Figure(16, _FORM),
    (Drafter.NGRAM, Hardware.LOW_COMPUTE): Figure(8, _FORM),
    (Drafter.OTHER, Hardware.DATA_CENTRE): Figure(16, "arXiv 2601.11580: tree drafts, the earliest to lose"),
    (Drafter.OTHER, Hardware.OLDER): Figure(8, _FORM),
    (Drafter.OTHER, Hardware.LOW_COMPUTE): Figure(4, _FORM),
}
"""Running requests per engine above which a method stops paying. Suffix decoding limits itself and has no row."""

_DRAFTERS: Final = {
    "eagle3": Drafter.EAGLE3,
    "eagle": Drafter.EAGLE,
    "draft_model": Drafter.DRAFT_MODEL,
    "mtp": Drafter.MTP,
    "dflash": Drafter.BLOCK,
    "dspark": Drafter.BLOCK,
    "ngram": Drafter.NGRAM,
    "ngram_gpu": Drafter.NGRAM,
    "suffix": Drafter.SUFFIX,
}


def drafter_of(method: str) -> Drafter:
    """Return the kind of drafter behind a vLLM method; model-specific MTP names end in `_mtp`."""
    if method.endswith("_mtp"):
        return Drafter.MTP
    return _DRAFTERS.get(method, Drafter.OTHER)


def knee_of(accelerator: str | None) -> Knee | None:
    """Look up an accelerator by its chip, as a short name (H100) or within a product name (NVIDIA-A100-SXM4-80GB)."""
    words = re.findall(r"[A-Z0-9]+", (accelerator or "").upper())
    names = [*words, *(first + second for first, second in pairwise(words))]
    return next((KNEES[name] for name in names if name in KNEES), None)
