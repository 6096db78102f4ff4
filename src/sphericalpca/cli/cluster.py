"""``sphericalpca cluster``: from a file of texts to groups, a page and a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli import console, outputs, reading
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import (
    NoDirectionWarning,
    Parameter,
    ParameterError,
    import_extra,
    silently,
)

if TYPE_CHECKING:
    from sphericalpca.groups.texts import Texts

__all__ = ["cluster", "open_texts", "read_vectors", "tell_of_texts", "text_options"]

TABLE, PARQUET, SUMMARY = "groups.csv", "groups.parquet", "summary.json"
MODEL, PAGE = "model.safetensors", "index.html"
FILES = (TABLE, PARQUET, SUMMARY, MODEL, PAGE)
# Options that are on the page.
SHOWN = ("clusters", "text", "id", "encoding", "strip", "stop_words", "vectors", "merge", "seed")
# Texts between two signs of progress.
EVERY = 1000

Show = Callable[[str], None] | None

# They say where the texts are.
text_options = console.with_options(
    click.option("--text", help="Column of texts.  Default: the only one."),
    click.option("--id", help="Column of identifiers.  Default: number of the line."),
    click.option("--encoding", default="utf-8", help="Encoding of the file."),
    click.option("--strip", type=console.Names(["mail"]), help="Drop headers, quotes, signatures."),
    click.option("--vectors", is_flag=True, help="The file contains vectors."),
    click.option("--merge", type=console.COUNT, metavar="N", help="Merge near groups down to N."),
)


def _count(text: str) -> int | str:
    """A number of groups, or "auto"."""
    if text == "auto" or (text.isdecimal() and int(text) > 0):
        return text if text == "auto" else int(text)
    raise click.BadParameter(f"{text!r} is neither a positive integer nor 'auto'.")


@click.command(
    short_help="Group texts, and write a page that shows the groups.",
    epilog=console.examples(
        "sphericalpca cluster texts.csv -k 20 --out groups",
        "sphericalpca cluster mails.jsonl.gz --text body --strip mail -k auto --out groups",
        "sphericalpca cluster vectors.parquet --vectors --text title -k 12 --out groups",
    ),
)
@click.argument("texts", type=click.Path(path_type=Path))
@click.option("-k", "--clusters", type=_count, required=True, metavar="K", help="Number or 'auto'.")
@click.option("--out", type=console.FOLDER, required=True, help="Folder to write.")
@text_options
@click.option("--stop-words", default="english", help="Words to ignore: english, none, or a file.")
@click.option("--parquet", is_flag=True, help=f"Also write {PARQUET}.")
@reading.reading_options
@console.common_options("seed", "force", "json", "quiet")
def cluster(texts: Path, out: Path, **options: Any) -> None:
    """Group the texts of a file by similarity.

    Reads .csv, .tsv and .jsonl files (also .gz), .parquet, .arrow, .txt (one text per line) and
    folders of .txt files.  Every text gets a group, and every run returns the same groups.  Writes
    groups.csv, summary.json, model.safetensors for 'assign', and the page index.html.
    """
    from sphericalpca.files import replacing_folder  # noqa: PLC0415 - slow to import
    from sphericalpca.groups import page, report  # noqa: PLC0415
    from sphericalpca.modelfile import require_library  # noqa: PLC0415

    outputs.check_folder(out, FILES, force=options["force"])
    import_extra("jinja2", "The page", "jinja2", "pages")
    require_library()
    source = open_texts(texts, options)
    with console.showing_status("Reading ...", quiet=options["quiet"]) as show:
        model, ids, data = _grouped(texts, source, options, show)
        files = {PAGE: page.groups_page(data), SUMMARY: report.summary_of_page(data)}
        with replacing_folder(out, FILES) as folder:
            for name in (TABLE, PARQUET) if options["parquet"] else (TABLE,):
                with report.open_table(folder / name, Path(name).suffix) as add:
                    add(ids, model.nearest_)
            model.save(folder / MODEL)
            for name, content in files.items():
                (folder / name).write_text(content, encoding="utf-8")
    tell_of_texts(source, model.labels_)
    if options["as_json"]:
        click.echo(files[SUMMARY])
        return
    header, rows = ("group", "texts", "cosine", "words"), list[tuple[str, ...]]()
    for group in data.groups:
        numbers = str(group["label"]), f"{group['size']:,}", f"{group['mean_cosine']:.3f}"
        rows.append((*numbers, " ".join(word for word, _ in group["words"][:8])))
    print_table(header, rows, numbers=header[:3], spare=("cosine",))
    console.write_line(f"The page: {out / PAGE}")


def _grouped(path: Path, source: Texts | None, options: dict[str, Any], show: Show) -> Any:
    """The fitted groups, the names of the texts, and what the page shows."""
    from sphericalpca import TextClusters  # noqa: PLC0415 - slow to import
    from sphericalpca.groups.report import page_data  # noqa: PLC0415
    from sphericalpca.groups.words import WordVectorizer, distinctive, profiles  # noqa: PLC0415

    def tell(stage: str) -> None:
        if show is not None or not options["quiet"]:
            (show or partial(console.write_line, err=True))(f"{stage} ...")

    ids, excerpts = list[str](), list[str]()
    texts = _noted(source, ids, excerpts, show)
    vectors = read_vectors(path, options) if options["vectors"] else None
    vectorizer = WordVectorizer(stop_words=_stop_words(options["stop_words"]))
    how: Any = {"vectorizer": vectorizer if vectors is None else "passthrough"}
    model = TextClusters(options["clusters"], random_state=options["seed"], **how)
    with console.printing_warnings(), silently(NoDirectionWarning):  # such texts are counted
        model.fit(texts if vectors is None else vectors, progress=tell)
    if options["merge"] is not None:
        again = (text for _, text in source or ()) if vectors is None else vectors
        model = model.merge(options["merge"], again)
    words, n = model.words, len(model.labels_)
    if source is None:
        ids, excerpts = [str(row) for row in range(n)], [""] * n
    elif vectors is not None:
        found = profiles(vectorizer.fit_transform(texts), model.labels_)
        words = partial(distinctive, found, words=vectorizer.get_feature_names_out())
    shown = {
        "title": f"{model.merged_.max() + 1} groups in {path.name}",
        "source": path.name,
        "problems": source.problems if source else {},
        "settings": {k: v for k in SHOWN if (v := options[k]) is not None and v is not False},
    }
    return model, ids, page_data(model, ids, excerpts, words, **shown)


def _stop_words(given: str) -> Any:
    """A list of words, or what scikit-learn knows."""
    if given in ("english", "none"):
        return given if given == "english" else None
    if not Path(given).is_file():
        rule = "must be english, none, or a file of words"
        raise ParameterError(Parameter("stop_words", given), rule)
    return Path(given).read_text("utf-8").lower().split()


def _noted(source: Texts | None, ids: list[str], excerpts: list[str], show: Show) -> Iterator[str]:
    """Texts, of which names and beginnings are kept."""
    from sphericalpca.groups.page import clean  # noqa: PLC0415 - slow to import

    for name, text in source or ():
        ids.append(name)
        excerpts.append(clean(text))
        if show is not None and len(ids) % EVERY == 0:
            show(f"Reading: {len(ids):,} texts")
        yield text


def open_texts(path: Path, options: dict[str, Any]) -> Texts | None:
    """The texts named on the command line; None of vectors without texts."""
    from sphericalpca.groups.texts import Texts  # noqa: PLC0415 - slow to import

    text, name = options["text"], options["id"]
    if not options["vectors"] or text is not None:
        return Texts(path, text, name, options["encoding"], strip=options["strip"] == "mail")
    if name is not None:
        raise click.UsageError("--id of vectors needs --text.")
    return None


def read_vectors(path: Path, options: dict[str, Any]) -> Any:
    """The vectors of a file, in memory."""
    from sphericalpca.rows.reading import load_rows  # noqa: PLC0415 - slow to import

    source = reading.open_files([str(path)], options)
    return load_rows(source, source.shape[0])


def tell_of_texts(source: Texts | None, labels: Any) -> None:
    """Which column was read, what was wrong with which lines, and how many have no group."""
    if source is not None:
        if source.guessed:
            console.write_line(f"Texts were read from column {source.column!r}.", err=True)
        for kind, found in source.problems.items():
            count, lines = found["count"], found["lines"]
            first = ", ".join([*map(str, lines), *["..."] * (count > len(lines))])
            remedy = " Try --encoding latin-1, say." if "bytes" in kind else ""
            console.warn(f"{kind}: {count:,} ({source.unit} {first}).{remedy}")
    if missing := int((labels < 0).sum()):
        console.warn(f"texts without a known word, in group -1: {missing:,}.")
