"""The part of Table 1 that the README shows is that of the whole protocol."""

from __future__ import annotations

from dataclasses import replace

from paper import named
from paper.journal import Journal
from paper.plan import ExperimentPlan


def test_trials_are_those_of_the_whole_plan_on_the_named_groups():
    found = named.trials()
    assert set(found) < set(ExperimentPlan().trials("newsgroups"))
    assert {trial.groups for trial in found} == {"5 named"}
    assert {trial.variant for trial in found} == {"main", "labels"}
    assert {trial.clusterings for trial in found} == {5}
    assert len({trial.repetitions for trial in found}) == 40


def test_committed_rows_are_all_there():
    journal = Journal(named.ROWS)
    wanted = {(t.variant, str(t.repetitions[0]), m) for t in named.trials() for m in t.methods}
    rows = journal.rows.values()
    assert {(row["variant"], row["repetition"], row["method"]) for row in rows} == wanted
    assert len(rows) == len(wanted)


def test_the_program_runs_what_is_missing_and_names_failures(tmp_path, monkeypatch, capsys):
    toy = list(replace(ExperimentPlan.quick(), toy_draws=1).trials("toy"))
    monkeypatch.setattr(named, "trials", lambda: toy)
    arguments = ["--out", str(tmp_path / "named.csv"), "--jobs", "1"]
    assert named.main(arguments) == 0
    assert f"{len(toy)} rows" in capsys.readouterr().out
    monkeypatch.setattr(named, "trials", lambda: [replace(toy[0], dataset="none")])
    assert named.main(arguments) == 1
    assert "none" in capsys.readouterr().out
