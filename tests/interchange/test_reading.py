"""Dataset files: what is read, and what each bad file is told."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from fairtrial.interchange.dataset_files import reading, yaml_documents
from fairtrial.interchange.dataset_files.columns import Columns, Extra, Format
from fairtrial.interchange.dataset_files.reading import read_cases
from fairtrial.model.case import Case, case_id_of
from fairtrial.model.errors import NotFoundError, UsageError

Read = Callable[..., list[Case]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    monkeypatch.chdir(tmp_path)

    def write_and_read(name: str, content: str | bytes, **columns: object) -> list[Case]:
        path = Path(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_cases([path], Columns(**columns)))  # type: ignore[arg-type]

    return write_and_read


def message(read: Read, name: str, content: str | bytes, **columns: object) -> str:
    with pytest.raises(UsageError) as caught:
        read(name, content, **columns)
    assert caught.value.where is not None
    return str(caught.value)


FULL = Case("a", {"q": 1}, "x", {"repo": "r"}, ("hard", "math"), "test", "attack")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "c.jsonl",
            (
                '{"id":"a","input":{"q":1},"expected":"x","metadata":{"repo":"r"},'
                '"tags":["hard","math"],"split":"test","condition":"attack"}\n{"input":"two"}'
            ),
        ),
        (
            "c.json",
            (
                '[{"id":"a","input":{"q":1},"expected":"x","metadata":{"repo":"r"},'
                '"tags":["hard","math"],"split":"test","condition":"attack"},{"input":"two"}]'
            ),
        ),
        (
            "c.json",
            (
                '{"cases":[{"id":"a","input":{"q":1},"expected":"x","metadata":{"repo":"r"},'
                '"tags":["hard","math"],"split":"test","condition":"attack"},{"input":"two"}]}'
            ),
        ),
        (
            "c.csv",
            (
                "id,input,input:json,expected,repo,tags,split,condition\n"
                'a,,"{""q"":1}",x,r,"hard, math",test,attack\n'
                ",two,,,,,,\n"
            ),
        ),
        (
            "c.tsv",
            "id\tinput\tinput:json\texpected\tmetadata\ttags\tsplit\tcondition\n"
            'a\t\t{"q":1}\tx\t{"repo":"r"}\thard;math\ttest\tattack\n'.replace('{"', '"{""')
            .replace('":', '"":')
            .replace('"r"', '""r""')
            .replace("}", '}"')
            + "\ttwo\t\t\t\t\t\t\n",
        ),
        (
            "c.yml",
            (
                "- id: a\n  input: {q: 1}\n  expected: x\n  metadata: {repo: r}\n"
                "  tags: [hard, math]\n  split: test\n  condition: attack\n- input: two\n"
            ),
        ),
        (
            "c.yaml",
            (
                "cases:\n- id: a\n  input: {q: 1}\n  expected: x\n  metadata: {repo: r}\n"
                "  tags: [hard, math]\n  split: test\n  condition: attack\n---\ninput: two\n"
            ),
        ),
    ],
)
def test_every_format_says_everything(read: Read, name: str, content: str) -> None:
    two = Case(case_id_of("two"), "two")
    assert read(name, content) == [FULL, two]
    with_bom_and_crlf = b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode()
    assert read(name, with_bom_and_crlf) == [FULL, two]


def test_blank_lines_and_several_files(read: Read, tmp_path: Path) -> None:
    assert [
        case.id for case in read("a.jsonl", '\n{"id":1,"input":1}\n \n\n{"id":2,"input":2}')
    ] == [
        "1",
        "2",
    ]
    assert [case.input for case in read("b.csv", "\nid,input\n\n3,x\n\n4,y\n\n")] == ["x", "y"]
    both = list(read_cases([tmp_path / "a.jsonl", tmp_path / "b.csv"]))
    assert [case.id for case in both] == ["1", "2", "3", "4"]


def test_standard_input_is_jsonl_or_what_is_named() -> None:
    stdin = io.BytesIO(b'{"input": 1}\n')
    assert [case.input for case in read_cases([Path("-")], stdin=stdin)] == [1]
    stdin = io.BytesIO(b"input\n1\n")
    cases = read_cases([Path("-")], file_format=Format.CSV, stdin=stdin)
    assert [case.input for case in cases] == ["1"]
    with pytest.raises(UsageError, match="-:1: the file is not UTF-8"):
        list(read_cases([Path("-")], file_format=Format.CSV, stdin=io.BytesIO(b"\xff")))


def test_named_columns(read: Read) -> None:
    line = '{"key": 7, "question": "q", "context": "c", "answer": "a", "kind": "k"}'
    columns = {"id": "key", "expected": "answer", "extra": Extra.METADATA}
    one = read("a.jsonl", line, input=("question",), **columns)
    assert one == [Case("7", "q", "a", {"context": "c", "kind": "k"})]
    two = read("a.jsonl", line, input=("question", "context"), **columns)
    assert two == [Case("7", {"question": "q", "context": "c"}, "a", {"kind": "k"})]
    table = read("a.csv", "q,n,j\nx,,[1]\n", input=("q", "n"), json=("j",))
    assert table == [Case(case_id_of({"q": "x", "n": ""}), {"q": "x", "n": ""}, None, {"j": [1]})]


def test_cells_are_text_and_empty_cells_are_absent(read: Read) -> None:
    cases = read("a.csv", "input,expected,n,tags\n007,1e5,NaN,a; b,\n".replace("b,", "b"))
    assert cases == [Case(case_id_of("007"), "007", "1e5", {"n": "NaN"}, ("a", "b"))]
    assert read("a.csv", "id,input,expected,tags\nx,,,\n") == [Case("x", "")]
    assert read("a.csv", 'input,tags\nx,"[""a,b""]"\n')[0].tags == ("a,b",)
    assert read("a.csv", 'input:json\n"""x"""\nnull\n')[1].input is None


def test_quoted_line_ends_and_long_fields(read: Read) -> None:
    long = "x" * 300_000
    cases = read("a.csv", f'id,input\n1,"a\nb\r\nc"\n2,{long}\n')
    assert [case.input for case in cases] == ["a\nb\r\nc", long]
    assert [case.input for case in read("a.csv", "id,input\r1,old\r2,mac\r")] == ["old", "mac"]


def test_yaml_scalars_are_those_of_json(read: Read) -> None:
    text = "- input: [no, yes, 2024-05-01, 12:30, 007, 0o7, 1_000, 1.5, -2, 1e3, true, ~, '1']"
    assert read("a.yaml", text)[0].input == [
        "no", "yes", "2024-05-01", "12:30", "007", "0o7", "1_000", 1.5, -2, 1e3, True, None, "1",
    ]  # fmt: skip
    assert read("a.yaml", "- input: &x {1: a}\n- {input: {b: *x}}")[1].input == {"b": {"1": "a"}}


def test_5_mb_inputs(read: Read) -> None:
    big = ("é" * 24 + "\n") * 100_000
    for name, content in (
        ("a.jsonl", json.dumps({"input": big})),
        ("a.json", json.dumps([{"input": big}], ensure_ascii=False)),
        ("a.csv", f'input\n"{big}"\n'),
        ("a.tsv", f'input\n"{big}"\n'),
        ("a.yaml", json.dumps([{"input": big}], ensure_ascii=False)),
    ):
        assert read(name, content)[0].input == big


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("count", [40_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_many_cases_are_streamed(name: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("w") as stream:
        if name == "a.csv":
            stream.write("id,input,expected\n")
            stream.writelines(f"case-{n},{'question ' * 20}{n},answer\n" for n in range(count))
        else:
            question = "question " * 20
            stream.writelines(
                f'{{"id":"case-{n}","input":"{question}{n}","expected":"answer"}}\n'
                for n in range(count)
            )
    start = time.process_time()
    assert sum(1 for _ in read_cases([path])) == count
    # Generous: what is meant is seconds, not minutes. Other programs' time is not counted.
    assert time.process_time() - start < count / 10_000
    tracemalloc.start()
    cases = read_cases([path])
    for _ in range(20_000):
        next(cases)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    cases.close()  # type: ignore[attr-defined]  # it is a generator
    assert peak < 20_000 * 300 + 2_000_000  # a digest and a place a case, not the cases


BAD = [
    ("a.jsonl", '{"input":1}\n{"input":', "a.jsonl:2: the line is not JSON", "at column"),
    ("a.jsonl", '{"input":NaN}', "a.jsonl:1", "NaN is not a JSON number"),
    ("a.jsonl", '{"input":[-Infinity]}', "a.jsonl:1", "-Infinity is not a JSON number"),
    ("a.jsonl", '\n{"input":1e999}', "a.jsonl:2", "out of range"),
    ("a.jsonl", '{"input":' + "1" * 5000 + "}", "a.jsonl:1", "the line is not JSON"),
    ("a.jsonl", "[1]", "a.jsonl:1", "this is an array"),
    ("a.jsonl", "null", "a.jsonl:1", "this is null"),
    ("a.jsonl", '{"input":"\\ud800"}', "a.jsonl:1", "\\ud800 is half of a surrogate pair"),
    ("a.jsonl", '{"input":{"\\udc00":1}}', "a.jsonl:1", "half of a surrogate pair"),
    ("a.jsonl", b'{"input":1}\n{"input":"\xff"}', "a.jsonl:2", "byte 0xff is not UTF-8"),
    ("a.jsonl", '{"input":1}'.encode("utf-16"), "a.jsonl:1", "UTF-16"),
    ("a.jsonl", '{"input":"a\tb"}', "a.jsonl:1", "invalid control character"),
    ("a.jsonl", '{"input":' + "[" * 90_000 + "]" * 90_000 + "}", "a.jsonl:1", "nested too deeply"),
    ("a.jsonl", "", "a.jsonl: the file holds no cases", "fix"),
    ("a.jsonl", "\n\n", "a.jsonl: the file holds no cases", "fix"),
    ("a.jsonl", '{"id":"x","expected":1}', "a.jsonl:1: the case has no 'input'", "--input-column"),
    ("a.jsonl", '{"input":1,"expcted":2}', "a.jsonl:1", "did you mean 'expected'?"),
    ("a.jsonl", '{"input":1,"id":1.5}', "a.jsonl:1", "it is a number"),
    ("a.jsonl", '{"input":1,"id":true}', "a.jsonl:1", "it is true or false"),
    ("a.jsonl", '{"input":1,"id":""}', "a.jsonl:1", "it is empty"),
    ("a.jsonl", '{"input":1,"tags":"a"}', "a.jsonl:1", "an array of texts"),
    ("a.jsonl", '{"input":1,"tags":[1]}', "a.jsonl:1", "an array of texts"),
    ("a.jsonl", '{"input":1,"split":1}', "a.jsonl:1: 'split' must be a text", "it is a number"),
    ("a.jsonl", '{"input":1,"condition":""}', "a.jsonl:1: 'condition' is empty", "leave it out"),
    ("a.jsonl", '{"input":1,"metadata":[]}', "a.jsonl:1", "'metadata' must be an object"),
    ("a.jsonl", '{"input":1}\n{"input":1}', "a.jsonl:2", "it stands at a.jsonl:1 already"),
    ("a.json", "", "a.json:1: the file is not JSON", "expecting value"),
    ("a.json", "[]", "a.json: the file holds no cases", "fix"),
    ("a.json", "3", "a.json: the file must hold an array of cases", "this is a number"),
    ("a.json", '{"a":1,"input":2}', "a.json", "the keys 'a', 'input'"),
    ("a.json", '{"cases":{}}', "a.json", '{"cases": ['),
    ("a.json", '[\n{"input":1},\n\n{"input":2}\n{}]', "a.json:5: the file is not JSON", "','"),
    ("a.json", '[{"input":1},\n\n{"input":\n1e999}]', "a.json:3", "out of range"),
    ("a.json", '[{"input":1},\n2]', "a.json:2: a case must be an object", "this is a number"),
    ("a.json", "[[[1]]]", "a.json:1: a case must be an object", "this is an array"),
    ("a.json", '{"cases":\n[{"input":1},\n{"input":1}]}', "a.json:3", "it stands at a.json:2"),
    ("a.json", '[{"input":1},{"input":1}]', "a.json:1", "it stands at a.json:1 already"),
    ("a.json", b'[{"input":\n"\xff"}]', "a.json:2", "not UTF-8"),
    ("a.csv", "", "a.csv: the file holds no cases", "fix"),
    ("a.csv", "id,input\n", "a.csv: the file holds no cases", "fix"),
    ("a.csv", "id,input\n1,a\n2,b,c\n", "a.csv:3: the record has 3 fields, the header 2", "fix"),
    ("a.csv", 'id,input\n1,"a\n\nb"\n2\n', "a.csv:5: the record has 1 fields", "fix"),
    ("a.csv", 'id,input\n1,"a\nb', "a.csv:2: the record cannot be read", '""'),
    ("a.csv", 'id,input\n1,"a"b\n', "a.csv:2: the record cannot be read", '""'),
    ("a.csv", "id,input\n1,a\0\n", "a.csv:2: the line holds a NUL byte", "fix"),
    ("a.csv", b"id,input\n1,a\n2,\xff\n", "a.csv:3: the file is not UTF-8", "0xff"),
    ("a.csv", "id,input\n1,a\n".encode("utf-16"), "a.csv:1: the file is not UTF-8", "UTF-16"),
    (
        "a.csv",
        "question,answer\n1,a\n",
        "a.csv:1: there is no column 'input'",
        "'question', 'answer'",
    ),
    ("a.csv", "id;input\n1;a\n", "a.csv:1", "separated by ';'"),
    ("a.csv", "id,input,\n1,a,\n", "a.csv:1: column 3 has no name", "fix"),
    ("a.csv", "id,input,id\n1,a,1\n", "a.csv:1: two columns are named 'id'", "fix"),
    ("a.csv", "input,input:json\na,1\n", "a.csv:2: 'input' and 'input:json' both", "fix"),
    ("a.csv", "input:json\nNaN\n", "a.csv:2: the cell of 'input' is not JSON", "NaN"),
    ("a.csv", "input,metadata\na,b\n", "a.csv:2: the cell of 'metadata' is not JSON", "why"),
    ("a.csv", 'input,k,metadata\na,b,"{""k"":1}"\n', "a.csv:2: 'k' stands both in", "'metadata'"),
    ("a.csv", "id,input\n1,a\n\n1,b\n", "a.csv:4: the case '1' comes twice", "a.csv:2"),
    ("a.tsv", "id,input\n1,a\n", "a.tsv:1", "separated by ','"),
    ("a.yaml", "", "a.yaml: the file holds no cases", "fix"),
    ("a.yaml", "[]", "a.yaml: the file holds no cases", "fix"),
    ("a.yaml", "hello", "a.yaml:1: the file must hold a list of cases", "this is a text"),
    ("a.yaml", "- input: [1\n- 2", "a.yaml:2: the file is not YAML", "flow sequence"),
    ("a.yaml", "- input: 1\n\n- input: .nan", "a.yaml:3: the case is not JSON", "finite"),
    ("a.yaml", "- input: 1e999", "a.yaml:1: the case is not JSON", "finite"),
    ("a.yaml", "- input: !!python/name:os.system x", "a.yaml:1: the case is not JSON", "python"),
    ("a.yaml", "- input: !!python/object/new:os.system [x]", "a.yaml:1", "is not JSON"),
    ("a.yaml", "- input: !!binary aGk=", "a.yaml:1: the case is not JSON", "!!binary"),
    ("a.yaml", "- input:\n  - &a [*a]", "a.yaml:2: the case is not JSON", "its own anchor"),
    ("a.yaml", "- input: 1\n  input: 2", "a.yaml:2: the case is not JSON", "comes twice"),
    ("a.yaml", "- input: {? [a] : b}", "a.yaml:1: the case is not JSON", "a key must be a text"),
    ("a.yaml", "- input: \0", "a.yaml:1: the file is not YAML", "control"),
    ("a.yaml", b"- input: 1\n- input: \xff", "a.yaml:2: the file is not UTF-8", "0xff"),
    ("a.yaml", "- 1\n", "a.yaml:1: a case must be an object", "this is a number"),
    ("a.yaml", "- input: " + "[" * 99_999, "a.yaml", "nest"),
    ("a.yaml", "- input: " + "[" * 700 + "]" * 700, "a.yaml:1", "nested too deeply"),
    ("a.yaml", "- input: " + "9" * 5000, "a.yaml:1", "finite"),
    ("a.jsonl", json.dumps({"k" * 9999: 1, "input": 1}), "a.jsonl:1", "unknown 'kkk"),
    ("a.jsonl", json.dumps(dict.fromkeys(map(str, range(999)))), "a.jsonl:1", "and 987 more"),
    ("a.yaml", "- input: 1\n- input: 1", "a.yaml:2", "it stands at a.yaml:1"),
]


@pytest.mark.parametrize(
    ("name", "content", "what", "detail"), BAD, ids=[f"{b[0]}-{n}" for n, b in enumerate(BAD)]
)
def test_bad_content(read: Read, name: str, content: str | bytes, what: str, detail: str) -> None:
    told = message(read, name, content)
    assert told.startswith(what)
    assert detail in told
    assert len(told) < 600


def test_a_named_column_must_be_there(read: Read) -> None:
    told = message(read, "a.csv", "name,input\na,b\n", id="key")
    assert told.startswith("a.csv:1: there is no column 'key' for the id")
    assert "the file's columns are 'name', 'input'" in told
    assert "'key'" in message(read, "a.jsonl", '{"input":1}', id="key")
    assert "it was named as the id" in message(read, "a.csv", "key,input\n,b\n", id="key")
    lost = message(
        read, "a.jsonl", '{"input":1}\n{"input":2}', expected="answer", extra=Extra.METADATA
    )
    assert lost.startswith("a.jsonl: no case has a 'answer' for the expected")
    assert "'json'" not in message(read, "a.csv", "input\na\n", json=("blob",))
    assert "'b'" in message(read, "a.jsonl", '{"a":1}', input=("a", "b"))


def test_duplicates_are_told_across_files_and_conditions_apart(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"id":"x","input":1}\n{"id":"x","input":1,"condition":"attack"}\n')
    assert len(list(read_cases([first]))) == 2
    second.write_text('\n{"id":"x","input":5,"condition":"attack"}\n')
    with pytest.raises(UsageError) as caught:
        list(read_cases([first, second]))
    assert caught.value.where == f"{second}:2"
    assert f"{first}:2" in str(caught.value.why)


def test_an_alias_bomb_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    # The real limit takes seconds to be reached.
    monkeypatch.setattr(yaml_documents, "_MAX_NODES", 200_000)
    lines = ["- input:", "    a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"    a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases" in message(read, "a.yaml", "\n".join(lines))


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="does not exist"):
        list(read_cases([tmp_path / "no.jsonl"]))
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(UsageError, match="folder"):
        list(read_cases([tmp_path / "folder.jsonl"]))
    with pytest.raises(UsageError, match="parquet"):
        list(read_cases([tmp_path / "a.parquet"]))
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_cases([loop]))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("file_format", list(Format))
def test_a_file_without_an_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, file_format: Format
) -> None:
    # The real limits take a quarter of a gigabyte and more.
    monkeypatch.setattr(reading, "LONGEST_LINE", 1_000_000)
    monkeypatch.setattr(reading, "LARGEST_WHOLE", 1_000_000)
    with pytest.raises(UsageError, match="more than 1,000,000 bytes") as caught:
        list(read_cases([Path("/dev/zero")], file_format=file_format))
    assert str(caught.value.where).startswith("/dev/zero")


def test_a_line_of_the_longest_size_is_read(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    line = json.dumps({"id": "a", "input": "x"}) + "\n"
    monkeypatch.setattr(reading, "LONGEST_LINE", len(line))
    assert len(read("cases.jsonl", line)) == 1
    monkeypatch.setattr(reading, "LONGEST_LINE", len(line) - 1)
    with pytest.raises(UsageError, match="the line has more than"):
        read("cases.jsonl", line)
