"""The JSON of a method and the arguments (case G1-01)."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.deployments import EAGLE, MODEL, NGRAM, make_deployment, with_methods

from specdec_operator.engine.render import literal, plain_arguments, render_arguments, render_method, served_names

REFERENCE = "$(SPECULATIVE_CONFIG)"

ARGUMENT = st.from_regex(r"[^\s\-]\S{0,30}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def expand(text: str, variables: dict[str, str]) -> str:
    """Do what the kubelet does to `command` and `args` (its expansion package works on bytes)."""
    source, out, position = text.encode(), b"", 0
    while position < len(source):
        if source[position : position + 1] != b"$" or position + 1 == len(source):
            out += source[position : position + 1]
            position += 1
            continue
        following = source[position + 1 : position + 2]
        closing = source.find(b")", position)
        if following == b"$":
            out += b"$"
            position += 2
        elif following == b"(" and closing > 0:
            name = source[position + 2 : closing].decode(errors="replace")
            out += variables.get(name, f"$({name})").encode()
            position = closing + 1
        else:
            out += b"$" + chr(following[0]).encode()
            position += 2
    return out.decode(errors="replace")


def test_config_is_one_element_without_quoting() -> None:
    """The method's JSON is exactly what was asked for: no backslash, no quote around it."""
    deployment = with_methods({"name": "mtp", "method": "mtp", "numSpeculativeTokens": 2})

    config = render_method(deployment.spec, "mtp").config

    assert json.loads(config) == {"method": "mtp", "num_speculative_tokens": 2}
    assert config[0] == "{"
    assert "\\" not in config
    assert yaml.safe_load(yaml.safe_dump([config])) == [config]


def test_typed_fields_and_options_are_merged() -> None:
    """Options stand beside the typed fields, in vLLM's own words."""
    method = {**EAGLE, "revision": "main", "draftTensorParallelSize": 1, "options": {"quantization": "fp8"}}

    rendered = render_method(with_methods(method).spec, "eagle3")

    assert json.loads(rendered.config) == {
        "method": "eagle3",
        "model": EAGLE["model"],
        "revision": "main",
        "num_speculative_tokens": 3,
        "draft_tensor_parallel_size": 1,
        "quantization": "fp8",
    }
    assert rendered.num_speculative_tokens == 3
    assert rendered.name == "eagle3"


def test_none_is_null() -> None:
    """Plain decoding is the JSON null, with every release."""
    rendered = render_method(make_deployment().spec, "none")

    assert (rendered.config, rendered.num_speculative_tokens) == ("null", None)


def test_unknown_method_is_a_key_error() -> None:
    """A name that is not in the list is refused."""
    with pytest.raises(KeyError, match="medusa"):
        render_method(make_deployment().spec, "medusa")


def test_order_of_options_does_not_change_the_text() -> None:
    """The API server sorts the keys of an object; that must not look like another method."""
    options = {"prompt_lookup_max": 5, "prompt_lookup_min": 2}
    turned = dict(reversed(options.items()))

    one, other = (render_method(with_methods({**NGRAM, "options": each}).spec, "ngram") for each in (options, turned))

    assert one == other


def test_arguments_of_the_smallest_object() -> None:
    """Model first, then what the operator sets, and the method by reference."""
    assert render_arguments(make_deployment().spec, object_name="llama-8b") == (
        MODEL,
        "--served-model-name",
        MODEL,
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
        "--shutdown-timeout",
        "600",
        "--speculative-config",
        REFERENCE,
    )


def test_typed_engine_fields_become_flags() -> None:
    """Every typed field that is set has its flag."""
    deployment = make_deployment(
        model={"name": MODEL, "revision": "v1", "trustRemoteCode": True, "servedNames": ["a", "b"]},
        engine={
            "version": "0.32.0",
            "tensorParallelSize": 2,
            "pipelineParallelSize": 3,
            "dataParallelSize": 4,
            "maxModelLen": 4096,
            "maxNumSeqs": 64,
            "gpuMemoryUtilization": "0.9",
            "extraArgs": ["--seed", "1"],
        },
    )

    text = " ".join(render_arguments(deployment.spec, object_name="x"))

    assert text.startswith(f"{MODEL} --seed 1 --served-model-name a b --revision v1 --trust-remote-code --host")
    assert "--tensor-parallel-size 2 --pipeline-parallel-size 3 --data-parallel-size 4" in text
    assert "--max-model-len 4096 --max-num-seqs 64 --gpu-memory-utilization 0.9" in text


@pytest.mark.parametrize(("version", "present"), [("0.17.1", False), ("0.18.0", True), ("0.33.0", True)])
def test_shutdown_timeout_only_where_the_release_has_it(version: str, *, present: bool) -> None:
    """An older vLLM would refuse the flag."""
    arguments = render_arguments(make_deployment(engine={"version": version}).spec, object_name="x")

    assert ("--shutdown-timeout" in arguments) is present


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ({"name": MODEL}, (MODEL,)),
        ({"name": "/models/llama"}, ("llama-8b",)),
        ({"name": "/models/llama", "servedNames": ["llama", "default"]}, ("llama", "default")),
    ],
)
def test_served_names(model: dict[str, Any], names: tuple[str, ...]) -> None:
    """Existing clients keep their name; a path is never one."""
    assert served_names(make_deployment(model=model).spec.model, "llama-8b") == names


@given(text=st.text() | st.from_regex(r"[$()aA_é]*", fullmatch=True))
def test_kubernetes_gives_back_every_text_unchanged(text: str) -> None:
    """Whatever dollars and parentheses a text has, the engine gets the text itself."""
    assert expand(literal(text), {"A": "!", "aA_": "!", "SPECULATIVE_CONFIG": "!"}) == text


@given(
    name=st.from_regex(r"[A-Za-z0-9/]\S{0,40}", fullmatch=True),
    served=st.lists(ARGUMENT, max_size=3),
    revision=st.none() | ARGUMENT,
    template=st.text(max_size=40),
)
def test_no_character_changes_the_shape_of_the_arguments(
    name: str, served: list[str], revision: str | None, template: str
) -> None:
    """Each text stays one element, and the element after the flag is always the reference."""
    model = {"name": name, "servedNames": served} | ({"revision": revision} if revision else {})
    spec = make_deployment(model=model, engine={"version": "0.32.0", "extraArgs": ["--chat-template", template]}).spec

    arguments = render_arguments(spec, object_name="llama-8b")

    assert [expand(argument, {}) for argument in arguments[:-1]] == [
        *(name, "--chat-template", template),
        *("--served-model-name", *(served or served_names(spec.model, "llama-8b"))),
        *(("--revision", revision) if revision else ()),
        *("--host", "0.0.0.0", "--port", "8000", "--shutdown-timeout", "600", "--speculative-config"),
    ]
    assert arguments[-1] == REFERENCE
    assert arguments[:-2] == tuple(map(literal, plain_arguments(spec, object_name="llama-8b")))


@given(options=st.dictionaries(st.text(max_size=20), JSON, max_size=5), model=ARGUMENT)
def test_config_reads_back_as_what_was_asked(options: dict[str, Any], model: str) -> None:
    """json.loads gives the options and the typed fields, which win; the text has no line break."""
    method = {"name": "m", "method": "eagle3", "model": model, "numSpeculativeTokens": 3, "options": options}

    config = render_method(with_methods(method).spec, "m").config

    assert json.loads(config) == {**options, "method": "eagle3", "model": model, "num_speculative_tokens": 3}
    assert not re.search(r"[\n\r]", config)
    assert expand(REFERENCE, {"SPECULATIVE_CONFIG": config}) == config
