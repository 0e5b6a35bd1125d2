"""Objects to test with."""

from typing import Any

from specdec_operator.api.objects import SpecDecDeployment

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
NGRAM: dict[str, Any] = {
    "name": "ngram",
    "method": "ngram",
    "numSpeculativeTokens": 4,
    "options": {"prompt_lookup_max": 5},
}
EAGLE: dict[str, Any] = {
    "name": "eagle3",
    "method": "eagle3",
    "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
    "numSpeculativeTokens": 3,
}


def make_deployment(
    name: str = "llama-8b", *, annotations: dict[str, str] | None = None, **spec: Any
) -> SpecDecDeployment:
    """Make an object from the smallest useful spec; `spec` replaces its top-level fields, in the words of the API."""
    body = {
        "metadata": {"name": name, "namespace": "serving", "uid": "uid-1", "annotations": annotations or {}},
        "spec": {
            "model": {"name": MODEL},
            "engine": {"version": "0.32.0"},
            "speculation": {"methods": [EAGLE, NGRAM]},
            **spec,
        },
    }
    return SpecDecDeployment.parse(body)


def with_methods(*methods: dict[str, Any], **spec: Any) -> SpecDecDeployment:
    """Make an object with these methods."""
    return make_deployment(speculation={"methods": list(methods)}, **spec)
