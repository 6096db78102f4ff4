"""``sphericalpca assign``: new texts to the groups of an earlier run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sphericalpca
from sphericalpca.cli.cluster import read_vectors, reading_texts, tell_of_unknown, text_options
from sphericalpca.cli.console import FILE, common_options, examples, showing_status, write_line
from sphericalpca.cli.outputs import check_output
from sphericalpca.cli.reading import reading_options
from sphericalpca.exceptions import NoDirectionWarning, Parameter, ParameterError, silently

if TYPE_CHECKING:
    from sphericalpca.groups.texts import Texts

__all__ = ["assign"]

SENTENCE = """\
{output}: {n_texts:,} texts in {n_groups} groups.
Mean cosine {mean_cosine:.3f}, {first_mean_cosine:.3f} in the first run; {below:.1%} are below the \
5 % quantile of the first run; {unknown:.1%} have no known word ({first_unknown:.1%}); sizes of \
groups differ by {moved:.1%}."""


@click.command(
    short_help="Assign new texts to the groups of 'cluster'.",
    epilog=examples(
        "sphericalpca assign groups/model.safetensors new.csv -o new-groups.csv",
        "sphericalpca assign groups/model.safetensors new.jsonl --text body -o new.parquet --json",
    ),
)
@click.argument("model", type=FILE)
@click.argument("texts", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=FILE, required=True, help="Table to write: .csv or .parquet.")
@text_options
@reading_options
@common_options("force", "json", "quiet")
def assign(model: Path, texts: Path, output: Path, **options: Any) -> None:
    """Assign new texts to the groups found by 'cluster'.

    Texts are streamed, and texts of the first run keep their groups.  Also reports how well the
    new texts fit the groups, compared with the first run.
    """
    from sphericalpca.groups.partition import drift, joined  # noqa: PLC0415 - slow to import
    from sphericalpca.groups.storing import open_table  # noqa: PLC0415

    if output.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{output} is neither .csv nor .parquet", remedy="rename it")
    check_output(output, force=options["force"], reads=[model, texts])
    clusters = sphericalpca.TextClusters.load(model)
    if (clusters.vectorizer_ is None) != options["vectors"]:
        kind, do = (
            ("texts, not vectors", "leave out ") if options["vectors"] else ("vectors", "pass ")
        )
        remedy = (do, Parameter("vectors"))
        raise ParameterError(f"{model} has groups of {kind}", remedy=remedy)
    if options["merge"] is not None:
        clusters = clusters.merge(options["merge"])
    parts = list[Any]()
    with (
        reading_texts(texts, options) as source,
        silently(NoDirectionWarning),  # they are counted below
        showing_status("Reading ...", quiet=options["quiet"]) as show,
        sphericalpca.files.replacing(output) as temporary,
        open_table(temporary, output.suffix) as add,
    ):
        for ids, X in _portions(texts, source, options):
            parts.append(clusters.assign(X))
            add(ids, parts[-1])
            if show is not None:
                show(f"Assigned: {sum(len(part.labels) for part in parts):,} texts")
    found = {"output": str(output), **drift(joined(parts), clusters)}
    tell_of_unknown(joined(parts).labels)
    write_line(json.dumps(found) if options["as_json"] else SENTENCE.format(**found))


def _portions(path: Path, source: Texts | None, options: dict[str, Any]) -> Iterator[Any]:
    """Names and texts, as many at a time as the first run took; or all vectors."""
    if options["vectors"]:
        X = read_vectors(path, options)
        yield [name for name, _ in source] if source else list(map(str, range(X.shape[0]))), X
        return
    texts = iter(source or ())
    while chunk := list(itertools.islice(texts, sphericalpca.groups.partition.CHUNK)):
        yield tuple(zip(*chunk, strict=True))
