"""Texts from files of every format; problems are counted with their lines."""

import gzip
import json

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from sphericalpca import DataError, ParameterError
from sphericalpca.groups import texts as module
from sphericalpca.groups.page import clean
from sphericalpca.groups.texts import Texts

ROWS = [("a", "the first text, of several words"), ("b", 'a "quoted" one\non two lines'), ("c", "")]


def read(path, *arguments, **options):
    source = Texts(path, *arguments, **options)
    return source, [tuple(text) for text in source]


def seen(source):
    return {kind: (found["count"], found["lines"]) for kind, found in source.problems.items()}


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


WRITERS = {
    "x.csv": lambda: "id,text\n" + "".join(f"{i},{quoted(t)}\n" for i, t in ROWS),
    "x.tsv": lambda: "id\ttext\r\n" + "".join(f"{i}\t{quoted(t)}\r\n" for i, t in ROWS),
    "semicolon.csv": lambda: "id;text\n" + "".join(f"{i};{quoted(t)}\n" for i, t in ROWS),
    "x.jsonl": lambda: "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in ROWS),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_text_files_give_back_what_was_written(tmp_path, name, zipped):
    path = tmp_path / (name + ".gz" * zipped)
    content = WRITERS[name]().encode("utf-8-sig")
    path.write_bytes(gzip.compress(content) if zipped else content)
    source, found = read(path, None, "id")
    assert found == ROWS
    assert source.column == "text"
    assert source.guessed
    assert seen(source) == {"empty texts": (1, [5 if "jsonl" not in name else 3])}
    assert read(path, "text")[1][0][0] == ("1" if "jsonl" in name else "2")  # the line


def test_a_mark_of_utf_16_is_believed(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(WRITERS["x.tsv"]().encode("utf-16"))
    assert read(path, None, "id")[1] == ROWS


def test_tables_give_back_what_was_written(tmp_path):
    table = pa.table({"id": [i for i, _ in ROWS], "text": [t for _, t in ROWS], "n": [1, 2, 3]})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    with pyarrow.ipc.new_file(tmp_path / "x.arrow", table.schema) as file:
        file.write_table(table)
    for name in ("x.parquet", "x.arrow"):
        assert read(tmp_path / name, None, "id")[1] == ROWS
        assert [i for i, _ in read(tmp_path / name, "text", "n")[1]] == ["1", "2", "3"]
        assert [i for i, _ in read(tmp_path / name, "text")[1]] == ["1", "2", "3"]


def test_lines_and_folders(tmp_path):
    (tmp_path / "x.txt").write_text("one\n\ntwo words")
    source, found = read(tmp_path / "x.txt")
    assert found == [("1", "one"), ("2", ""), ("3", "two words")]
    assert not source.guessed
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("t10.txt", "t2.txt", "other.md"):
        (folder / name).write_bytes(b"in " + name.encode() + b" \xff")
    source, found = read(folder)
    assert [i for i, _ in found] == ["t2.txt", "t10.txt"]
    assert seen(source) == {"texts with undecodable bytes": (2, ["t2.txt", "t10.txt"])}
    assert source.unit == "file"


def test_what_is_wrong_is_counted_with_its_line(tmp_path):
    path = tmp_path / "x.csv"
    lines = [
        b"id,text",  # 1
        b"1,good words here",
        b"2,too,many fields",  # 3
        b"3",  # 4
        b"",  # 5
        b'4,"never closed',  # 6
        b"5,caf\xe9 words",  # 7
        b"6,good words here",  # 8: as line 2
        b"7,   ",  # 9
        b'8,"a ""word"" more" or less',  # 10
        b"9,nul \x00 byte",
    ]
    path.write_bytes(b"\n".join(lines))
    source, found = read(path, "text", "id")
    assert [i for i, _ in found] == ["1", "5", "6", "7", "9"]
    assert found[1][1] == "caf\N{REPLACEMENT CHARACTER} words"
    assert seen(source) == {
        "malformed lines": (4, [3, 4, 6, 10]),
        "blank lines": (1, [5]),
        "texts with undecodable bytes": (1, [7]),
        "duplicate texts": (1, [8]),
        "empty texts": (1, [9]),
    }
    assert read(path, "text", "id", "latin-1")[1][1][1] == "café words"
    assert [tuple(text) for text in source] == found  # read again, counted again
    assert seen(source)["malformed lines"][0] == 4


def test_lines_of_json_that_hold_no_text(tmp_path):
    path = tmp_path / "x.jsonl"
    good = '{"text": "some words are here", "n": 1}'
    deep = "[" * 100_000
    path.write_text("\n".join([good, "{", "", "3", deep, '{"text": 3}', '{"n": 1}', "[]", good]))
    source, found = read(path, "text")
    assert [i for i, _ in found] == ["1", "7", "9"]
    assert found[1][1] == ""
    assert seen(source)["malformed lines"] == (5, [2, 4, 5, 6, 8])
    half = tmp_path / "half.jsonl"
    half.write_text('{"text": "half \\ud800 a character"}')
    assert read(half)[1][0][1].encode()  # no half is left


def test_a_lost_quote_costs_one_line_however_long_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_FIELD", 1000)
    path = tmp_path / "x.csv"
    rest = [f"some words {k}" for k in range(500)]
    path.write_text("\n".join(["text", '"lost', *rest]))
    source, found = read(path)
    assert [text for _, text in found] == rest
    assert seen(source) == {"malformed lines": (1, [2])}


def test_the_column_is_guessed_or_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "id,date,kind,body\n1,2020-01-01,a,this is the text\n2,2020-01-02,b,and one more\n"
    )
    assert read(path)[0].column == "body"
    path.write_text("id,word\n1,apple\n2,pear\n")
    assert read(path)[0].column == "word"
    path.write_text("title,body\nthis is a title,this is the text\n")
    with pytest.raises(DataError, match=r"several columns .*'title' and 'body'.*text=\.\.\."):
        read(path)
    with pytest.raises(DataError, match="no column 'nothing': it has 'title' and 'body'"):
        read(path, "nothing")
    with pytest.raises(DataError, match="no column 'x'"):
        read(path, "body", "x")


def test_what_cannot_be_read_is_refused(tmp_path):
    for name, said in {
        "x.doc": "Supported: .csv",
        "x.npy": "vectors=True",
        "x.parquet.gz": "Supp",
    }.items():
        (tmp_path / name).write_bytes(b"?")
        with pytest.raises(DataError, match=said):
            Texts(tmp_path / name)
    with pytest.raises(DataError, match="no file"):
        Texts(tmp_path / "absent.csv")
    (tmp_path / "x.csv").write_text("text\nsome words\n")
    with pytest.raises(ParameterError, match="encoding"):
        read(tmp_path / "x.csv", None, None, "no-such")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"text\n" + b"a b\n" * 10**5)[:200])
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "x.csv.gz")
    for name in ("empty.csv", "empty.txt", "empty.jsonl"):
        (tmp_path / name).write_text("")
        with pytest.raises(DataError, match="no texts"):
            read(tmp_path / name)
    for name in ("x.parquet", "x.arrow"):
        (tmp_path / name).write_bytes(b"PAR1 not a table PAR1")
        with pytest.raises(DataError, match="cannot be read"):
            read(tmp_path / name)
    pyarrow.parquet.write_table(pa.table({"n": [1]}), tmp_path / "n.parquet")
    with pytest.raises(DataError, match="no column of text: it has 'n'"):
        read(tmp_path / "n.parquet")


def test_excerpts_are_one_line_of_at_most_300_characters():
    assert clean("a\n b\t c") == "a b c"
    cut = clean("word " * 10**5)
    assert len(cut) <= 300
    assert cut.endswith("…")


def test_mails_are_stripped_on_demand(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"text": "From: me\nSubject: x\n\nHello\n> quoted\n--\nme"}))
    assert read(path, strip=True)[1] == [("1", "Hello")]


def test_folders_are_read_like_files(tmp_path):
    (tmp_path / "a.TXT").write_text("upper case")
    (tmp_path / "b.txt").write_text("Grüße", encoding="utf-16")
    source, found = read(tmp_path)
    assert found == [("a.TXT", "upper case"), ("b.txt", "Grüße")]
    assert not source.problems
    with pytest.raises(DataError, match=r"no column 'body': it has 'file' and 'text'"):
        read(tmp_path, "body")


def test_columns_of_the_same_name_are_told_apart(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("text,n,text\nthe first three words,1,the other three words\n")
    assert read(path, "text")[1] == [("2", "the first three words")]
    assert read(path, "text.3")[1] == [("2", "the other three words")]
    with pytest.raises(DataError, match=r"several columns .*'text' and 'text.3'"):
        read(path)


def test_a_column_that_is_not_found_is_not_announced(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\nx,y\n")
    source = Texts(path)
    with pytest.raises(DataError, match="several columns"):
        list(source)
    assert not source.guessed


def test_codecs_that_are_not_for_text_are_refused(tmp_path):
    (tmp_path / "x.txt").write_text("words")
    with pytest.raises(ParameterError, match="encoding='hex' must be an encoding such as"):
        Texts(tmp_path / "x.txt", encoding="hex")


def test_columns_of_lists_are_not_texts(tmp_path):
    table = pa.table(
        {"tags": [["a b c d"]], "body": pa.array(["one two three"]).dictionary_encode()}
    )
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    source, found = read(tmp_path / "x.parquet")
    assert (source.column, found) == ("body", [("1", "one two three")])
