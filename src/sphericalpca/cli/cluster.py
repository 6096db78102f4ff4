"""``sphericalpca cluster``: from a file of texts to groups, a page and a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.console import (
    COUNT,
    FOLDER,
    Names,
    collecting_warnings,
    common_options,
    examples,
    showing_status,
    warn,
    with_options,
    write_line,
)
from sphericalpca.cli.outputs import check_folder
from sphericalpca.cli.reading import open_files, reading_options
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import DataError, NoDirectionWarning, import_extra

if TYPE_CHECKING:
    from sphericalpca import TextClusters
    from sphericalpca.groups.report import Report
    from sphericalpca.groups.texts import Texts

__all__ = ["cluster", "open_texts", "read_vectors", "tell_of_texts", "text_options"]

TABLE, PARQUET, SUMMARY = "groups.csv", "groups.parquet", "summary.json"
MODEL, PAGE = "model.safetensors", "index.html"
FILES = (TABLE, PARQUET, SUMMARY, MODEL, PAGE)
# Options that are on the page.
SETTINGS = ("text", "id", "encoding", "strip", "stop_words", "vectors", "merge", "seed")
# Between two lines of progress, in texts.
EVERY = 1000

# They say where the texts are.
text_options = with_options(
    click.option("--text", help="Column of texts.  Default: the only one."),
    click.option("--id", help="Column of identifiers.  Default: the number of the line."),
    click.option("--encoding", default="utf-8", help="Encoding of the file."),
    click.option("--strip", type=Names(("mail",)), help="Drop headers, quotes and signatures."),
    click.option("--vectors", is_flag=True, help="The file holds vectors, as for 'fit'."),
)


def _count(text: str) -> int | str:
    """A number of groups, or "auto"."""
    if text == "auto" or (text.isdecimal() and int(text) > 0):
        return text if text == "auto" else int(text)
    raise click.BadParameter(f"{text!r} is neither a positive whole number nor 'auto'.")


@click.command(
    short_help="Sort texts into groups, with a page that shows them.",
    epilog=examples(
        "sphericalpca cluster texts.csv -k 20 --out groups",
        "sphericalpca cluster mails.jsonl.gz --text body --strip mail -k auto --out groups",
        "sphericalpca cluster vectors.parquet --vectors --text title -k 12 --out groups",
    ),
)
@click.argument("texts", type=click.Path(path_type=Path))
@click.option(
    "-k", "--clusters", type=_count, metavar="K", required=True, help="Number of groups, or 'auto'."
)
@click.option("--out", type=FOLDER, required=True, help="Folder to write.")
@text_options
@click.option(
    "--stop-words", default="english", help="Words to ignore: 'english', 'none' or a file of them."
)
@click.option("--merge", type=COUNT, metavar="N", help="Join the nearest groups until N are left.")
@click.option("--parquet", is_flag=True, help=f"Write {PARQUET}, too.")
@reading_options
@common_options("seed", "force", "json", "quiet")
def cluster(texts: Path, clusters: int | str, out: Path, **options: Any) -> None:
    """Sort the texts of a file into groups of similar ones.

    Reads .csv, .tsv and .jsonl files (also .gz), .parquet, .arrow, .txt (a text per line) and
    folders of .txt files.  Every text gets a group; the same command gives the same groups.  Writes
    groups.csv, summary.json, model.safetensors for 'assign', and index.html to look at.
    """
    from sphericalpca import TextClusters  # noqa: PLC0415 - slow to import
    from sphericalpca.modelfile import require_library  # noqa: PLC0415

    check_folder(out, FILES, force=options["force"])
    import_extra("jinja2", "The page", "jinja2", "pages")
    require_library()
    source = open_texts(texts, options)
    vectorizer = "passthrough" if options["vectors"] else _vectorizer(options["stop_words"])
    model = TextClusters(clusters, vectorizer=vectorizer, random_state=options["seed"])
    with showing_status("Reading ...", quiet=options["quiet"]) as show:
        report = _grouped(model, texts, source, options | {"clusters": clusters}, show)
        groups = report.groups()
        _write(report, groups, out, parquet=options["parquet"])
    tell_of_texts(source, report.clusters.labels_)
    if options["as_json"]:
        click.echo(json.dumps(report.summary(groups)))
        return
    rows = [
        (str(g.label), f"{g.size:,}", f"{g.mean_cosine:.3f}", " ".join(w for w, _ in g.words[:8]))
        for g in groups
    ]
    header = ("group", "texts", "cosine", "words")
    print_table(header, rows, numbers=header[:3], spare=("cosine",))
    write_line(f"The page: {out / PAGE}")


def open_texts(path: Path, options: dict[str, Any]) -> Texts | None:
    """The texts named on the command line; None of vectors without texts."""
    from sphericalpca.groups.texts import Texts  # noqa: PLC0415 - slow to import

    if options["vectors"] and options["text"] is None:
        if options["id"] is not None:
            raise click.UsageError("--id of vectors needs --text.")
        return None
    return Texts(
        path,
        text=options["text"],
        id=options["id"],
        encoding=options["encoding"],
        strip=options["strip"] == "mail",
    )


def read_vectors(path: Path, options: dict[str, Any]) -> Any:
    """The vectors of a file, in memory."""
    from sphericalpca.rows.reading import load_rows  # noqa: PLC0415 - slow to import

    source = open_files([str(path)], options)
    return load_rows(source, source.shape[0])


def _vectorizer(stop_words: str) -> Any:
    """That of words, without those that the user names."""
    from sphericalpca.groups.words import WordVectorizer  # noqa: PLC0415 - slow to import

    if stop_words in ("english", "none"):
        return WordVectorizer(stop_words=None if stop_words == "none" else stop_words)
    try:
        return WordVectorizer(stop_words=Path(stop_words).read_text("utf-8").lower().split())
    except UnicodeDecodeError as error:
        raise DataError(f"{stop_words} is not a text in UTF-8", remedy="convert it") from error


def _grouped(
    model: TextClusters,
    path: Path,
    source: Texts | None,
    options: dict[str, Any],
    show: Callable[[str], None] | None,
) -> Report:
    """Fit, and what is known about the texts."""
    from sphericalpca.groups.report import Report  # noqa: PLC0415 - slow to import
    from sphericalpca.groups.words import WordVectorizer, group_profiles  # noqa: PLC0415

    tell = show or (lambda text: None if options["quiet"] else write_line(f"{text} ...", err=True))
    ids: list[str] = []
    excerpts: list[str] = []
    X = read_vectors(path, options) if options["vectors"] else _noted(source, ids, excerpts, show)
    with collecting_warnings() as warned:
        model.fit(X, progress=tell)
    if options["merge"] is not None:
        again = X if options["vectors"] else (item.text for item in source or ())
        model = model.merge(options["merge"], again)
    words = model.words
    if options["vectors"] and source is not None:
        known = WordVectorizer()
        rows = known.fit_transform(_noted(source, ids, excerpts, show))
        words = group_profiles(rows, model.labels_, known.get_feature_names_out())
    for warning in warned:
        if not isinstance(warning, NoDirectionWarning):
            warn(warning)
    problems = {} if source is None else source.problems
    if len(model.labels_) != len(ids) and ids:
        raise DataError(f"{path} has {len(model.labels_)} vectors", f"has {len(ids)} texts")
    ids = ids or [str(k) for k in range(len(model.labels_))]
    settings = {"k": options["clusters"]} | {k: v for k, v in options.items() if k in SETTINGS}
    settings = {k: v for k, v in settings.items() if v is not None and v is not False}
    return Report(model, ids, excerpts, path.name, words, problems, settings)


def _noted(
    source: Texts | None, ids: list[str], excerpts: list[str], show: Callable[[str], None] | None
) -> Iterator[str]:
    """Texts, of which names and beginnings are kept."""
    from sphericalpca.groups.texts import excerpt  # noqa: PLC0415 - slow to import

    for item in source or ():
        ids.append(item.id)
        excerpts.append(excerpt(item.text))
        if show is not None and len(ids) % EVERY == 0:
            show(f"Reading: {len(ids):,} texts")
        yield item.text


def _write(report: Report, groups: Any, out: Path, *, parquet: bool) -> None:
    from sphericalpca.files import replacing_folder  # noqa: PLC0415 - slow to import
    from sphericalpca.groups.page import groups_page  # noqa: PLC0415
    from sphericalpca.groups.report import open_table  # noqa: PLC0415

    page = groups_page(report.page_data(groups))
    with replacing_folder(out, FILES) as folder:
        for name in (TABLE, PARQUET) if parquet else (TABLE,):
            with open_table(folder / name) as add:
                add(report.ids, report.nearest)
        summary = json.dumps(report.summary(groups), indent=1)
        (folder / SUMMARY).write_text(summary, encoding="utf-8")
        report.clusters.save(folder / MODEL)
        (folder / PAGE).write_text(page, encoding="utf-8")


def tell_of_texts(source: Texts | None, labels: Any) -> None:
    """Which column was read, and what was wrong with which lines."""
    for line in () if source is None else source.describe_problems():
        warn(line)
    missing = int((labels < 0).sum())
    if missing:
        have = "text has" if missing == 1 else "texts have"
        warn(f"{missing:,} {have} no known word: group -1.")
    if source is not None and source.guessed:
        write_line(f"Texts are read from column {source.column!r}.", err=True)
