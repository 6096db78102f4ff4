"""``sphericalpca cluster``: texts to groups, a page and a model; ``assign``: new texts to these."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console, outputs, reading
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import NoDirectionWarning, Parameter, ParameterError, counted, silently

__all__ = ["assign", "cluster"]

FILES = ("groups.csv", "groups.parquet", "summary.json", "model.safetensors", "index.html")
# Options that are on the page.
SHOWN = ("clusters", "text", "id", "encoding", "strip", "stop_words", "vectors", "merge", "seed")
UNKNOWN = ("texts without a known word", "zero vectors")
SENTENCE = """{output}: {count} in {n_groups} groups.
Mean cosine {mean_cosine:.3f} (first run {first_mean_cosine:.3f}); {below:.1%} fit poorly (first \
run 5.0%); {unknown:.1%} are in group -1 (first run {first_unknown:.1%}); shares of groups changed \
by {moved:.1%}."""

_text_options = console.with_options(
    click.option("--text", help="Column that holds the texts.  Default: the only one."),
    click.option("--id", help="Column that holds identifiers.  Default: line numbers."),
    click.option("--encoding", default="utf-8", help="Encoding of the file."),
    click.option("--strip", type=console.Names(["mail"]), help="Drop headers, quotes, signatures."),
    click.option("--vectors", is_flag=True, help="Read vectors instead of texts."),
    click.option("--merge", type=console.COUNT, metavar="N", help="Merge nearest groups into N."),
)


def _count(text: str) -> int | str:
    """A number of groups, or "auto"."""
    if text == "auto" or (text.isdecimal() and int(text) > 0):
        return text if text == "auto" else int(text)
    raise click.BadParameter(f"{text!r} is neither a positive integer nor 'auto'.")


@click.command(
    epilog=console.examples(
        "sphericalpca cluster texts.csv -k 20 --out groups",
        "sphericalpca cluster mails.jsonl.gz --text body --strip mail -k auto --out groups",
        "sphericalpca cluster vectors.parquet --vectors --text title -k 12 --out groups",
    ),
)
@click.argument("texts", type=click.Path(path_type=Path))
@click.option(
    "-k", "--clusters", type=_count, required=True, metavar="K", help="Number of groups, or auto."
)
@click.option("--out", type=console.FOLDER, required=True, help="Folder to write.")
@_text_options
@click.option("--stop-words", default="english", help="Words to ignore: english, none, or a file.")
@click.option("--parquet", is_flag=True, help="Also write groups.parquet.")
@reading.reading_options
@console.common_options("seed", "force", "json", "quiet")
def cluster(texts: Path, out: Path, **options: Any) -> None:
    """Group texts, and write a page that shows the groups.

    Reads .csv, .tsv and .jsonl files (also .gz), .parquet, .arrow, .txt (one text per line) and
    folders of .txt files.  Every text gets a group, and every run returns the same groups.  Writes
    groups.csv, summary.json, model.safetensors for 'assign', and the page index.html.
    """
    from sphericalpca.groups import page, storing  # noqa: PLC0415 - slow to import

    outputs.check_folder(out, FILES, force=options["force"])
    sphericalpca.exceptions.import_extra("jinja2", "The page", "jinja2", "pages")
    sphericalpca.modelfile.require_library()
    status = console.showing_status("Reading ...", quiet=options["quiet"])
    whole = sphericalpca.files.replacing_folder(out, FILES)  # refuses other files immediately
    with whole as folder, _opened(texts, options) as (source, vectors), status as show:
        model, notes, words = _grouped(source, vectors, options, show)
        settings = {k: v for k in SHOWN if (v := options[k]) is not None and v is not False}
        problems, unit = getattr(source, "problems", {}), getattr(source, "unit", "")
        about = {"source": texts.name, "settings": settings, "problems": problems, "unit": unit}
        data = page.page_data(model, notes, words, about)
        for suffix in (".csv", ".parquet") if options["parquet"] else (".csv",):
            with storing.open_table(folder / f"groups{suffix}", suffix) as add:
                add([note[0] for note in notes], model.nearest_)
        model.save(folder / "model.safetensors")
        (folder / "summary.json").write_text(data.summary, encoding="utf-8")
        (folder / "index.html").write_text(page.groups_page(data), encoding="utf-8")
    if missing := int((model.labels_ < 0).sum()):
        console.warn(f"{UNKNOWN[options['vectors']]}, in group -1: {missing:,}.")
    if options["as_json"]:
        click.echo(data.summary)
        return
    header, lines = ("group", "texts", "cosine", "words"), list[tuple[str, ...]]()
    for group in data.groups:
        numbers = str(group["label"]), f"{group['size']:,}", f"{group['mean_cosine']:.3f}"
        lines.append((*numbers, " ".join(word for word, _ in group["words"][:8])))
    print_table(header, lines, numbers=header[:3], spare=("cosine",))
    console.write_line(f"The page: {out / 'index.html'}")


def _grouped(source: Any, vectors: Any, options: dict[str, Any], show: Any) -> Any:
    """The fitted groups, ids and beginnings of the texts, and the model's words function."""
    from sphericalpca.groups import page, partition, texts  # noqa: PLC0415 - slow to import

    notes = list[tuple[str, str]]()

    def noted() -> Iterator[str]:
        for name, text in source:
            notes.append((name, page.clean(text)))
            if show is not None and len(notes) % 1000 == 0:
                show(f"Reading: {len(notes):,} texts")
            yield text

    say = show or partial(console.write_line, err=True)
    tell = None if options["quiet"] else lambda stage: say(f"{stage} ...")
    vectorizer = texts.WordVectorizer(stop_words=_stop_words(options["stop_words"], texts.WORD))
    how: Any = {"vectorizer": vectorizer if vectors is None else "passthrough"}
    model = sphericalpca.TextClusters(options["clusters"], random_state=options["seed"], **how)
    with console.printing_warnings(), silently(NoDirectionWarning):  # such texts are counted
        model.fit(noted() if vectors is None else vectors, progress=tell)
    if options["merge"] is not None:
        again = (text for _, text in source) if vectors is None else vectors
        model = model.merge(options["merge"], again)
    if vectors is None or options["text"] is None:
        return model, notes or source, model.words
    X = vectorizer.fit_transform(noted())
    found = partition.directions(X, model.labels_, int(model.merged_.max()) + 1)
    known = vectorizer.get_feature_names_out()
    return model, notes, partial(texts.distinctive, found, words=known)


def _stop_words(given: str, word: str) -> Any:
    """A list of what matches the pattern of a word, or a name that scikit-learn accepts."""
    if given in ("english", "none"):
        return given if given == "english" else None
    if not Path(given).is_file():
        raise ParameterError(Parameter("stop_words", given), "must be english, none, or a file")
    with sphericalpca.rows.sources.filesource.DataFile.at(Path(given)).being_read():
        return re.findall(word, Path(given).read_text("utf-8-sig").lower())  # as texts are split


@click.command(epilog=console.examples("sphericalpca assign model.safetensors new.csv -o out.csv"))
@click.argument("model", type=console.FILE)
@click.argument("texts", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=console.FILE, required=True, help="A .csv or .parquet file.")
@_text_options
@reading.reading_options
@console.common_options("force", "json", "quiet")
def assign(model: Path, texts: Path, output: Path, **options: Any) -> None:
    """Assign new texts to the groups found by 'cluster'.

    Texts are streamed, and texts of the first run keep their groups.  Also reports how well the
    new texts fit the groups, compared with the first run.
    """
    from sphericalpca.groups import partition, storing  # noqa: PLC0415 - slow to import

    if output.suffix.lower() not in (".csv", ".parquet"):
        raise ParameterError(f"{output} is neither .csv nor .parquet", remedy="rename it")
    outputs.check_output(output, force=options["force"], reads=[model, texts])
    clusters = sphericalpca.TextClusters.load(model)
    if (clusters.vectorizer_ is None) != options["vectors"]:
        kind, do = ("texts", "leave out ") if options["vectors"] else ("vectors", "pass ")
        raise ParameterError(f"{model} has groups of {kind}", remedy=(do, Parameter("vectors")))
    if options["merge"] is not None:
        clusters = clusters.merge(options["merge"])
    parts = list[Any]()
    with (
        _opened(texts, options) as (source, vectors),
        console.showing_status("Reading ...", quiet=options["quiet"]) as show,
        sphericalpca.files.replacing(output) as temporary,
        storing.open_table(temporary, output.suffix) as add,
    ):
        some, left = partition.CHUNK if vectors is None else None, iter(source)
        while chunk := list(itertools.islice(left, some)):
            ids, new = zip(*chunk, strict=True)
            parts.append(clusters.assign(new if vectors is None else vectors))
            add(ids, parts[-1])
            if show is not None:
                show(f"Assigned: {sum(len(part.labels) for part in parts):,} texts")
        if not parts:
            raise sphericalpca.DataError(f"{str(texts)!r} holds no texts", remedy="check the file")
    nearest = partition.joined(parts)
    found = {"output": str(output), **partition.drift(nearest, clusters)}
    if missing := int((nearest.labels < 0).sum()):
        console.warn(f"{UNKNOWN[options['vectors']]}, in group -1: {missing:,}.")
    count = counted(len(nearest.labels), "vector" if options["vectors"] else "text")
    sentence = SENTENCE.format(**found, count=count)
    console.write_line(json.dumps(found) if options["as_json"] else sentence)


@contextmanager
def _opened(path: Path, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Names and texts, and vectors if the file has them; prints problems at the end."""
    from sphericalpca.groups.texts import Texts  # noqa: PLC0415 - slow to import

    text, name = options["text"], options["id"]
    rows = reading.open_files([str(path)], options) if options["vectors"] else None
    vectors = rows and sphericalpca.rows.reading.load_rows(rows, rows.shape[0])
    if vectors is not None and text is None:
        if name is not None:
            raise click.UsageError("--id of vectors needs --text.")
        yield [(str(row), "") for row in range(vectors.shape[0])], vectors
        return
    source = Texts(path, text, name, options["encoding"], strip=options["strip"] == "mail")
    try:
        yield source, vectors
    finally:
        if source.guessed:
            console.write_line(f"Texts were read from column {source.column!r}.", err=True)
        for kind, found in source.problems.items():
            count, lines = found["count"], found["lines"]
            first = ", ".join([*map(str, lines), *["..."] * (count > len(lines))])
            remedy = " Try --encoding latin-1." if "bytes" in kind else ""
            unit = source.unit + "s" * (count > 1)
            console.warn(f"{kind}: {count:,} ({unit} {first}).{remedy}")
