"""The methods of vLLM as data: which releases run them, and what each needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from specdec_operator.engine.version import NEWEST, OLDEST, Release


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `first` and `last` are the releases between which an engine starts with it.

    vLLM names some methods earlier or longer than it can run them: draft_model before 0.15.0, mlp_speculator always.
    """

    name: str
    first: Release = OLDEST
    last: Release = NEWEST
    needs_model: bool = False
    """A drafter must be named; the others have none, or take it from the target."""
    needs_tokens: bool = True
    """The number of drafted tokens has no default that vLLM can reach."""
    only_tokens: int | None = None
    """The one number of drafted tokens that works."""

    def runs_in(self, release: Release) -> bool:
        """Whether an engine of this release starts with the method; newer ones than known count as the newest."""
        return self.first <= min(release, NEWEST) <= self.last


_NEVER: Final[Release] = (0, 0, 0)

METHODS: Final[Mapping[str, Method]] = {
    method.name: method
    for method in (
        Method("ngram"),
        Method("eagle", needs_model=True),
        Method("eagle3", needs_model=True),
        Method("mtp"),
        Method("medusa", last=(0, 32, 0), needs_model=True),
        Method("mlp_speculator", last=_NEVER, needs_model=True),
        Method("suffix", first=(0, 11, 1), needs_tokens=False),
        Method("draft_model", first=(0, 15, 0), needs_model=True),
        Method("extract_hidden_states", first=(0, 17, 0), only_tokens=1),
        Method("ngram_gpu", first=(0, 18, 0)),
        Method("dflash", first=(0, 20, 0), needs_model=True),
        Method("custom_class", first=(0, 22, 0), needs_model=True),
        Method("dspark", first=(0, 25, 0)),
    )
}

MTP_NAMES: Final[Mapping[str, Release]] = {
    "deepseek_mtp": (0, 11, 0),
    "ernie_mtp": (0, 11, 0),
    "longcat_flash_mtp": (0, 11, 0),
    "mimo_mtp": (0, 11, 0),
    "qwen3_next_mtp": (0, 11, 0),
    "glm4_moe_mtp": (0, 11, 1),
    "pangu_ultra_moe_mtp": (0, 11, 1),
    "exaone_moe_mtp": (0, 14, 0),
    "glm4_moe_lite_mtp": (0, 15, 0),
    "step3p5_mtp": (0, 15, 1),
    "glm_ocr_mtp": (0, 16, 0),
    "nemotron_h_mtp": (0, 17, 0),
    "qwen3_5_mtp": (0, 17, 0),
    "exaone4_5_mtp": (0, 20, 0),
    "hy_v3_mtp": (0, 20, 0),
    "gemma4_mtp": (0, 21, 0),
    "mimo_v2_mtp": (0, 21, 0),
    "minimax_m3_mtp": (0, 24, 0),
    "bailing_hybrid_mtp": (0, 25, 0),
    "inkling_mtp": (0, 26, 0),
    "kimi_k3_mtp": (0, 27, 0),
    "bailing_hybrid_v3_mtp": (0, 28, 0),
    "dots3_note_mtp": (0, 28, 0),
    "hy_v4_mtp": (0, 29, 0),
    "qwen4_exp_mtp": (0, 29, 0),
    "glm5_next_mtp": (0, 30, 0),
    "step5_mtp": (0, 33, 0),
}
"""Older names that vLLM turns into mtp with a warning, and the first release that knows each."""

MAXIMUM_TOKENS: Final = 128
"""Most drafted tokens a step that vLLM's first model runner can verify; with more it fails at the first request."""


def find_method(name: str) -> Method | None:
    """Return the method of that name, also by an older name of mtp; None when no release has it."""
    if name in MTP_NAMES:
        return Method(name="mtp", first=MTP_NAMES[name])
    return METHODS.get(name)
