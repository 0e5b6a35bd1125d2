"""What is wrong with one entry of `spec.speculation.methods` for one vLLM release."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from specdec_operator.api.conditions import Reason
from specdec_operator.api.spec import EngineSpec, MethodSpec
from specdec_operator.engine.findings import Finding, error, warning
from specdec_operator.engine.methods import MAXIMUM_TOKENS, METHODS, MTP_NAMES, Method, find_method
from specdec_operator.engine.options import OPTIONS, STRICT_FROM, TYPED_KEYS, known_in
from specdec_operator.engine.render import typed_options
from specdec_operator.engine.version import NEWEST, EngineVersion, Feature, Release, format_release


@dataclass(frozen=True, slots=True)
class MethodChecker:
    """Checks one entry; `position` is its place in the list."""

    spec: MethodSpec
    position: int
    engine: EngineSpec
    version: EngineVersion

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong; an error makes the method unsupported."""
        method = find_method(self.spec.method)
        yield from self._options()
        if method is None:
            known = ", ".join(sorted(name for name in METHODS if METHODS[name].runs_in(self.version.release)))
            said = f"vLLM has no method {self.spec.method!r}"
            yield self._error("unknown-method", "method", said, f"use one of {known}")
            return
        yield from self._release(method)
        yield from self._needs(method)
        yield from self._draft_parallel()

    def _release(self, method: Method) -> Iterator[Finding]:
        release = format_release(self.version.release)
        if not method.runs_in(self.version.release):
            said = f"vLLM {release} does not run {self.spec.method!r}: {_releases(method)}"
            yield self._error("method-release", "method", said, "use another method, or a release that runs it")
        if self.spec.method in MTP_NAMES:
            said = f"{self.spec.method!r} is an older name that vLLM turns into mtp"
            yield self._warning("mtp-name", "method", said, "write mtp")
        if not self.version.has(Feature.SPECULATION_HARDENED):
            said = f"in vLLM {release} one request can bring down an engine that speculates"
            yield self._warning("security-floor", "method", said, "use vLLM 0.24.0 or later")

    def _needs(self, method: Method) -> Iterator[Finding]:
        tokens = self.spec.num_speculative_tokens
        if method.needs_model and self.spec.model is None:
            yield self._error(
                "needs-model", "model", f"{method.name} needs a drafter", "set model to its hub id or path"
            )
        if method.needs_tokens and tokens is None:
            said = f"{method.name} has no default number of tokens to draft"
            yield self._error("needs-tokens", "numSpeculativeTokens", said, "set it, for example to 3")
        if tokens is not None and tokens > MAXIMUM_TOKENS:
            said = f"vLLM verifies at most {MAXIMUM_TOKENS} drafted tokens a step, not {tokens}"
            yield self._error("tokens-bound", "numSpeculativeTokens", said, "draft fewer; 2 to 8 are usual")
        elif tokens is not None and method.only_tokens not in (None, tokens):
            said = f"{method.name} works with {method.only_tokens} drafted token only, not {tokens}"
            yield self._error("tokens-bound", "numSpeculativeTokens", said, f"set it to {method.only_tokens}")

    def _draft_parallel(self) -> Iterator[Finding]:
        size, target = self.spec.draft_tensor_parallel_size, self.engine.tensor_parallel_size
        if size not in (None, 1, target):
            said = f"vLLM spreads a drafter over 1 accelerator or over all {target} of the target, not over {size}"
            yield self._error("draft-tensor-parallel", "draftTensorParallelSize", said, "leave it out, or set it to 1")

    def _options(self) -> Iterator[Finding]:
        try:
            json.dumps(self.spec.options, allow_nan=False)
        except (TypeError, ValueError) as error:
            yield self._error(
                "option-value", "options", f"is no JSON: {error}", "use numbers, texts, lists and objects"
            )
        for key in self.spec.options:
            yield from self._option(key)

    def _option(self, key: str) -> Iterator[Finding]:
        field = f"options.{key}"
        typed = TYPED_KEYS.get(key)
        if typed is not None:
            twice = key in typed_options(self.spec)
            said = f"{key} is said in options and in {typed}" if twice else f"{key} has a field of its own"
            reason = Reason.CONFLICTING_OPTIONS if twice else Reason.RESERVED_ARGUMENT
            yield self._error("typed-option", field, said, f"keep {typed}, beside options", reason)
        elif not known_in(key, self.version.release):
            yield self._error("unknown-option", field, self._unknown(key), _nearest(key), Reason.UNKNOWN_OPTION)

    def _unknown(self, key: str) -> str:
        release = format_release(self.version.release)
        effect = "refuses it" if self.version.rules >= STRICT_FROM else "drops it without a word"
        if key not in OPTIONS:
            return f"no vLLM release knows the key {key!r}; {release} {effect}"
        return f"vLLM {release} does not know the key {key!r} (known to {_range(*OPTIONS[key])}) and {effect}"

    def _error(
        self, rule: str, field: str, message: str, remedy: str, reason: Reason = Reason.UNSUPPORTED_BY_ENGINE_VERSION
    ) -> Finding:
        return replace(error(self._path(field), message, remedy, rule=rule, reason=reason), method=self.spec.name)

    def _warning(self, rule: str, field: str, message: str, remedy: str) -> Finding:
        return replace(warning(self._path(field), message, remedy, rule=rule), method=self.spec.name)

    def _path(self, field: str) -> str:
        return f"spec.speculation.methods[{self.position}].{field}"


def _releases(method: Method) -> str:
    if method.last < method.first:
        return "no release does, although some know the name"
    return f"{_range(method.first, method.last)} do"


def _range(first: Release, last: Release) -> str:
    start = format_release(first)
    if last >= NEWEST:
        return f"releases from {start} on"
    return f"releases from {start} to {format_release(last)}" if first != last else f"release {start} only"


def _nearest(key: str) -> str:
    spelled = key.replace("-", "_")
    if spelled in OPTIONS or spelled in TYPED_KEYS:
        return f"write {spelled}" if spelled != key else "leave it out, or use a release that knows it"
    near = difflib.get_close_matches(spelled, OPTIONS, n=1)
    return f"did you mean {near[0]}?" if near else "leave it out"
