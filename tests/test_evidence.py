"""Committed rows: the code they measure, and the tables made from them."""

from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path

import pytest

from paper.provenance import made_with
from reliability import claims, evidence, release
from reliability.evidence import EVIDENCE, LEDGER, ROOT, Evidence, code_hash, read_ledger
from reliability.passages import BEHIND, PLAIN, passages_of

ROWS = "results/rows.csv"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one file of rows, of one module."""
    (tmp_path / "results").mkdir()
    (tmp_path / ROWS).write_text("a\n1\n")
    (tmp_path / "module.py").write_text('"""Words."""\n\n\ndef f(x):\n    return x + 1\n')
    known = {ROWS: Evidence(ROWS, "python -m again", ("module.py",))}
    for module in (release, claims):
        monkeypatch.setattr(module, "EVIDENCE", known)
    return tmp_path


# The committed ledgers


def test_every_committed_file_of_rows_is_in_a_ledger_with_its_provenance():
    assert [fault for fault in release.faults() if "older" not in fault] == []
    for name in EVIDENCE:
        line = read_ledger((ROOT / name).parent)[Path(name).name]
        assert "commit" in line.made_with
        assert re.fullmatch(r"[0-9a-f]{16}", line.code)


@pytest.mark.parametrize("one", EVIDENCE.values(), ids=EVIDENCE)
def test_the_command_and_the_code_exist(one):
    assert all((ROOT / place).exists() for place in one.code)
    if module := re.match(r"python -m (\S+)", one.command):
        assert importlib.util.find_spec(module[1])
    elif script := re.match(r"python (\S+)", one.command):
        assert (ROOT / script[1]).is_file()


def test_the_page_of_claims_is_up_to_date():
    assert claims.main(["--check"]) == 0


# Ledgers in general


def test_rows_are_current_until_the_code_changes_and_again_when_recorded(project):
    assert "not in measured.csv" in next(release.faults(project))
    release.record(ROWS, project)
    assert list(release.faults(project)) == []
    (project / "module.py").write_text("def f(x):\n    return x + 2\n")
    (fault,) = release.faults(project)
    assert fault.startswith(f"{ROWS}: older than the code")
    assert "run 'python -m again'" in fault
    release.mark_older(ROWS, "no time", project)
    assert list(release.faults(project)) == []
    release.record(ROWS, project)
    assert read_ledger(project / "results")["rows.csv"].older == ""


def test_the_ledger_repeats_what_rows_say_of_themselves(project):
    release.record(ROWS, project)
    (mine,) = read_ledger(project / "results").values()
    assert mine.made_with == made_with()
    (project / ROWS).write_text("a,made_with\n1,commit x; one\n2,commit x; one\n3,commit y\n")
    release.record(ROWS, project)
    assert read_ledger(project / "results")["rows.csv"].made_with == "commit x; one | commit y"


def test_files_that_nobody_knows_and_rows_without_provenance_are_faults(project):
    release.record(ROWS, project)
    (project / "results" / "new.csv").write_text("a\n")
    ledger = project / "results" / LEDGER
    with ledger.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["made_with"]
    ledger.write_text(f"file,code,made_with,older\nrows.csv,{row['code']},,\n")
    first, second = release.faults(project)
    assert "does not say what it was made with" in first
    assert second == "results/new.csv: not in reliability/evidence.py"


def test_words_do_not_count_but_what_code_does_and_where_it_is_counts(tmp_path):
    file = tmp_path / "module.py"
    file.write_text('"""Words."""\n\n\ndef f(x):\n    """More."""\n    return x + 1\n')
    first = code_hash(("module.py",), tmp_path)
    file.write_text('# other words\ndef f(x):\n    """Else."""\n    return (x\n            + 1)\n')
    assert code_hash(("module.py",), tmp_path) == first
    file.write_text("def f(x):\n    return x - 1\n")
    assert code_hash(("module.py",), tmp_path) != first
    (tmp_path / "kernel.c").write_text("int x;")
    with_c = code_hash((".",), tmp_path)
    (tmp_path / "kernel.c").write_text("int y;")
    assert code_hash((".",), tmp_path) != with_c


def test_the_program_checks_marks_records_and_refuses(monkeypatch, capsys):
    written = []
    monkeypatch.setattr(release, "record", written.append)
    monkeypatch.setattr(release, "mark_older", lambda *what: written.append(what))
    name = next(iter(EVIDENCE))
    monkeypatch.setattr(release, "faults", list)
    assert release.main([]) == 0
    assert release.main(["--record", name]) == 0
    assert release.main(["--older", "why", name]) == 0
    assert written == [name, (name, "why")]
    monkeypatch.setattr(release, "faults", lambda: ["a fault"])
    assert release.main([]) == 1
    assert "a fault" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        release.main(["--record", "unknown.csv"])
    assert "unknown.csv is not in" in capsys.readouterr().err


# Tables


PAGE = """
# Title

| after one pass | `a1` |
| --- | ---: |
| 1,000 x 5 | -.25 [7](8.md) `9` 1e-4 |

Part
----

.. from-rows:: benchmarks/speed.md
"""


def test_tables_are_found_with_their_headings_and_numbers():
    first, second = claims.tables_of("page.md", PAGE)
    assert (first.heading, first.numbers) == ("Title", ("1,000", "5", "-.25", "7", "1e-4"))
    assert (second.heading, second.head) == ("Part", "benchmarks/speed.md")
    assert first.sources == ("docs/measurements/streams.csv",)
    assert second.sources == ("benchmarks/results/reach.csv",)


def test_a_table_of_unknown_source_is_an_error_and_one_without_numbers_is_not():
    (table,) = claims.tables_of("page.md", "| speed |\n| --- |\n| 12 |\n")
    with pytest.raises(LookupError, match="no source for the table"):
        _ = table.sources
    (words,) = claims.tables_of("page.md", "| speed |\n| --- |\n| high |\n")
    assert not words.measures


def test_every_known_source_is_that_of_some_table():
    heads = [table.head for name, text in claims.pages() for table in claims.tables_of(name, text)]
    assert [words for words in claims.SOURCES if not any(words in head for head in heads)] == []


def test_the_page_says_which_rows_are_older(project, monkeypatch):
    monkeypatch.setattr(claims, "SOURCES", {"speed": (ROWS, "tests/test_x.py")})
    (project / "docs").mkdir()
    (project / "README.md").write_text("# Title\n\n| speed |\n| --- |\n| 12 |\n")
    release.record(ROWS, project)
    assert f"- `{ROWS}`: `python -m again`\n" in claims.claims(project)
    release.mark_older(ROWS, "no time", project)
    page = claims.claims(project)
    assert f"- `{ROWS}`: `python -m again`; **older than the code**: no time\n" in page
    assert "`python -m pytest tests/test_x.py`" in page
    assert "- numbers: 12\n" in page


def test_a_page_that_is_out_of_date_is_told_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    monkeypatch.setattr(claims, "claims", lambda: "new")
    (tmp_path / "docs").mkdir()
    assert claims.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().out
    assert claims.main([]) == 0
    assert claims.main(["--check"]) == 0


def test_ledgers_are_not_rows():
    assert all(Path(name).name != LEDGER for name in evidence.EVIDENCE)


# Numbers in running text


PROSE = """
Title
=====

The check takes 1.3 % of a fit, and Dask takes `9.5` 1.12 times as long,
for 18,846 rows.

Nothing is measured in 3 of 4 paragraphs.

.. code-block:: python

    print(0.95)

```
0.95
```

| a1 |
| --- |
| 0.95 |

It needs Python 3.11 or later.
"""


def test_paragraphs_with_measured_numbers_are_found_and_the_rest_is_left_out():
    first, second = passages_of("page.md", PROSE)
    assert (first.heading, first.numbers) == ("Title", ("1.3", "1.12", "18,846"))
    assert first.head == "The check takes 1.3 % of a fit, and Dask takes 9.5 ..."
    assert first.measures
    assert first.sources == ("benchmarks/results/cluster.csv",)
    assert not second.measures


def test_a_paragraph_of_unknown_source_is_an_error_that_names_it():
    (found,) = passages_of("page.md", "We measured 0.95 here.\n")
    with pytest.raises(LookupError, match=r"page\.md, .*'We measured 0\.95 here\.'; name it"):
        _ = found.sources


def test_every_source_of_paragraphs_is_that_of_some_paragraph():
    wholes = [
        f"{one.page} {one.text}" for name, text in claims.pages() for one in passages_of(name, text)
    ]
    for known in (BEHIND, PLAIN):
        assert [words for words in known if not any(words in whole for whole in wholes)] == []
    for files in BEHIND.values():
        assert all(name in EVIDENCE or (ROOT / name).is_file() for name in files)
