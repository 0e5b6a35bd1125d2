"""Reading files."""

import io
from pathlib import Path

import pytest

from specdec_operator.cli.documents import UnusableInputError, read_documents

OBJECT = "kind: A\nmetadata: {name: x}\n"


def write(path: Path, text: str) -> str:
    """Write a file and return its name."""
    path.write_text(text)
    return str(path)


def test_documents_of_files_directories_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each object is known by file and line; other documents are passed over."""
    folder = tmp_path / "folder"
    folder.mkdir()
    one = write(tmp_path / "one.yaml", f"# comment\n{OBJECT}---\n---\njust text\n---\n- 1\n---\n{OBJECT}")
    write(folder / "b.json", '{"kind": "B"}')
    write(folder / "a.yml", "kind: C\n")
    write(folder / "notes.txt", "kind: no\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("kind: D\n"))

    documents = list(read_documents([one, str(folder), "-"]))

    assert [(item.source, item.kind) for item in documents] == [
        (f"{one}:2", "A"),
        (f"{one}:10", "A"),
        (f"{folder}/a.yml:1", "C"),
        (f"{folder}/b.json:1", "B"),
        ("<stdin>:1", "D"),
    ]


def test_items_of_a_list_are_objects(tmp_path: Path) -> None:
    """What kubectl get -o yaml prints can be checked."""
    name = write(tmp_path / "x.yaml", "kind: List\nitems:\n- kind: A\n- kind: B\n")

    assert [item.kind for item in read_documents([name])] == ["A", "B"]


def test_values_are_read_as_kubernetes_reads_them(tmp_path: Path) -> None:
    """Dates stay texts and keys are texts, as in JSON; merge keys work."""
    text = "kind: A\nbase: &base {a: 1, b: 2}\nx: {<<: *base, a: 3}\nday: 2026-12-01\nmap: {1: x, true: y}\n"

    (document,) = read_documents([write(tmp_path / "x.yaml", text)])

    assert document.body["day"] == "2026-12-01"
    assert document.body["map"] == {"1": "x", "true": "y"}
    assert document.body["x"] == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("kind: A\n  b: [\n", ":2:4", "mapping values"),
        ("a: {\n", ":2:1", "expected"),
        ("kind: A\nspec:\n  x: 1\n  x: 2\n", ":4:3", "'x' comes twice"),
        ("kind: A\nx: *nowhere\n", ":2:4", "undefined alias"),
        ("kind: A\nx: !!python/object:os.system {}\n", ":2:4", "could not determine a constructor"),
        ("a: 1\nb: \x00", ":2:4", "not allowed"),
        ("[" * 3000, "", "nested too deep"),
    ],
)
def test_broken_yaml_names_file_line_and_column(tmp_path: Path, text: str, place: str, said: str) -> None:
    """Whoever reads the message can find the place."""
    name = write(tmp_path / "x.yaml", text)

    with pytest.raises(UnusableInputError) as caught:
        list(read_documents([name]))
    assert str(caught.value).startswith(f"{name}{place}: ")
    assert said in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Missing files, empty directories and bytes that are no text."""
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "empty").mkdir()

    for name, said in (("missing.yaml", "No such file"), ("bytes.yaml", "no UTF-8"), ("empty", "no .yaml")):
        with pytest.raises(UnusableInputError, match=said):
            list(read_documents([str(tmp_path / name)]))
