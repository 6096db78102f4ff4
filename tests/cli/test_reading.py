"""What commands that read files share."""

from __future__ import annotations

from sphericalpca.cli.reading import named, split_names


def test_names():
    assert named(["folder/x.npy"]) == "x.npy"
    assert named(["folder/x.npy", "y.npy", "z.npy"]) == "x.npy and 2 more"
    assert split_names("a, b,,c ") == ["a", "b", "c"]
    assert split_names(None) is None
