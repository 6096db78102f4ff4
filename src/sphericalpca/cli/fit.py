"""``sphericalpca fit``: a model from files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.console import COUNT, FILE, Names, common_options, examples, write_line
from sphericalpca.cli.outputs import check_apart, check_model_output, check_output_path
from sphericalpca.cli.reading import open_files, reading_options
from sphericalpca.registry.formats import joined, row_suffixes
from sphericalpca.registry.solvers import SOLVERS

__all__ = ["describe", "fit"]

# Seconds between two lines of progress, if stderr is not a terminal.
LINE_SECONDS = 10.0


def _dimension(text: str) -> float:
    """Parse a number of components, or a mean cosine."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if number >= 1 if kind is int else 0 < number < 1:
            return number
    rule = "must be a positive integer, or a mean cosine between 0 and 1"
    raise click.BadParameter(f"{text!r} {rule}.")


@click.command(
    help="Fit a model to the rows of one or several files.\n\n"
    f"Reads {joined(row_suffixes())} files, a block of rows at a time.  Several files, or all that "
    "match a quoted pattern, form one matrix.",
    epilog=examples(
        "sphericalpca fit vectors.npy -r 64 -o model.safetensors",
        "sphericalpca fit 'parts/*.parquet' --column embedding -r 128 -o model.safetensors",
        "sphericalpca fit vectors.npy -r 0.95 -o model.safetensors    # mean cosine to reach",
        "sphericalpca fit glove.hdf5 --key train -r 32 -o model.safetensors --checkpoint run.ckpt",
    ),
)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option(
    "-r",
    "--components",
    type=_dimension,
    metavar="R",
    required=True,
    help="Number of components, or a target mean cosine between 0 and 1.",
)
@console.output_option("Model file to write.")
@reading_options
@click.option(
    "--checkpoint",
    type=FILE,
    help="File to resume from if the fit is interrupted or --max-iter ends it.  Removed when the "
    "fit has converged and the model is written.",
)
@click.option("--max-iter", default=1000, type=COUNT, help="Maximum number of iterations.")
@click.option("--solver", type=Names(("auto", *SOLVERS)), default="auto", help="Solver.")
@click.option("--no-normalize", is_flag=True, help="Do not scale rows to unit length.")
@click.option("--center", is_flag=True, help="Subtract the mean first (not part of the method).")
@click.option(
    "--certify",
    is_flag=True,
    help="Bound the distance to the optimum, and save the bound with the model.",
)
@common_options("tol", "seed", "force", "json", "quiet")
def fit(
    files: tuple[str, ...], components: float, output: Path, checkpoint: Path | None, **options: Any
) -> None:
    """Fit a model to the rows of one or several files."""
    check_apart(output=output, checkpoint=checkpoint)
    if checkpoint is not None:
        check_output_path(checkpoint)
    check_model_output(output, force=options["force"], reads=files)
    model = sphericalpca.SphericalPCA(
        components,
        **{name: options[name] for name in ("solver", "tol", "max_iter", "center")},
        normalize=not options["no_normalize"],
        random_state=options["seed"],
    )
    source = open_files(files, options)
    quiet, certificate = options["quiet"], None
    with console.showing_status("Reading ...", quiet=quiet) as show:
        warned = _fit(model, source, checkpoint, _progress(show, quiet=quiet))
        model.save(output)
        if checkpoint is not None and model.stop_reason_ == "converged":
            checkpoint.unlink(missing_ok=True)  # the result is safe, and nothing is left to resume
            checkpoint = None
        if options["certify"]:
            certificate = _certify(model, source, output, _progress(show, quiet=quiet))
    console.warn(*warned)
    found = _facts(model, output, certificate, checkpoint)
    if options["as_json"]:
        click.echo(json.dumps(found))
    else:
        _print(found, model, certificate)


def _fit(model: Any, source: Any, checkpoint: Path | None, tell: Any) -> list[Warning]:
    try:
        with console.collecting_warnings() as found:
            model.fit(source, checkpoint=checkpoint, progress=tell)
    except KeyboardInterrupt:
        if checkpoint is None or not checkpoint.exists():
            raise
        line = f"Interrupted. Run the same command again to resume from {checkpoint}."
        raise KeyboardInterrupt(line) from None
    return found


def _certify(model: Any, source: Any, output: Path, tell: Any) -> Any:
    try:
        certificate = model.certify(source, progress=tell)
    except KeyboardInterrupt:
        line = f"Interrupted. {output} holds the model, without a certificate."
        raise KeyboardInterrupt(line) from None
    model.save(output, certificate=certificate)
    return certificate


def _progress(show: Callable[[str], None] | None, *, quiet: bool) -> Callable[[Any], None] | None:
    """A callback for `fit`: a spinner, or a line every `LINE_SECONDS` without a terminal."""
    due = LINE_SECONDS

    def write(progress: Any) -> None:
        nonlocal due
        if progress.seconds >= due:
            due = progress.seconds + LINE_SECONDS
            write_line(describe(progress), err=True)

    if show is not None:
        return lambda progress: show(describe(progress))
    return None if quiet else write


def describe(progress: Any) -> str:
    """Describe the progress of a fit in one line."""
    parts = [f"{progress.seconds:,.0f} s"]
    if progress.rows_per_second == progress.rows_per_second:
        parts.append(f"{progress.rows_per_second:,.0f} rows/s")
    if progress.n_samples is None:
        return "  ".join([*parts, f"first look: {progress.rows_read:,} rows"])
    parts.append(f"{progress.passes:g} passes")
    if progress.residual == progress.residual:
        parts.append(f"residual {progress.residual:.1e}")
    if progress.seconds_left == progress.seconds_left:
        parts.append(f"about {progress.seconds_left:,.0f} s left")
    return "  ".join(parts)


def _facts(
    model: Any, output: Path, certificate: sphericalpca.Certificate | None, checkpoint: Path | None
) -> dict[str, Any]:
    names = ("n_samples", "n_components", "mean_cosine", "residual", "stop_reason")
    found = {"model": str(output), "n_features": model.n_features_in_, "passes": model.n_passes_}
    found |= {name: getattr(model, f"{name}_") for name in names}
    found["solver"] = type(model.solver_).__name__
    found["svd_ratio"] = None if math.isnan(model.svd_ratio_) else model.svd_ratio_  # for JSON
    if certificate is not None:
        found |= {k: getattr(certificate, k) for k in ("gap", "kind", "probability", "rigorous")}
    if checkpoint is not None:
        found["checkpoint"] = str(checkpoint)
    return found


def _print(found: dict[str, Any], model: Any, certificate: Any) -> None:
    sizes = f"{found['n_samples']:,} x {found['n_features']:,}"
    reduced = console.counted(found["n_components"], "component")
    write_line(
        f"{found['model']}: {sizes} to {reduced}, mean cosine {model.mean_cosine_:.4f}, "
        f"residual {model.residual_:.1e}, {model.n_passes_:g} passes."
    )
    if (ratio := found["svd_ratio"]) is not None:
        what = "directions" if model.normalize else "lengths"  # as many as f adds up
        write_line(f"SVD ratio {ratio:.7f}: {console.against_svd(ratio, what)}")
    if certificate is not None:
        sure, risk = certificate.kind, certificate.probability
        sure += f", wrong with probability at most {risk:.0e}" if risk else ""
        write_line(
            f"No subspace is better by more than a fraction of {certificate.gap:.1e} ({sure})."
        )
    if "checkpoint" in found:
        write_line(
            f"{found['checkpoint']} is kept: to resume, run the same command with a larger "
            "--max-iter or --tol, and with --force."
        )
