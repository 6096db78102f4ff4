"""``sphericalpca fit``: a model from files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.console import (
    COUNT,
    FILE,
    Names,
    against_svd,
    collecting_warnings,
    common_options,
    counted,
    examples,
    showing_status,
    warn,
    write_line,
)
from sphericalpca.cli.outputs import check_apart, check_model_output, check_output_path
from sphericalpca.cli.reading import open_files, reading_options
from sphericalpca.registry.formats import joined, row_suffixes
from sphericalpca.registry.solvers import SOLVERS

if TYPE_CHECKING:
    from sphericalpca import Certificate, SphericalPCA
    from sphericalpca.estimators.monitoring import FitProgress

__all__ = ["describe", "fit"]

# Between two lines of progress, where there is no terminal.
LINE_SECONDS = 10.0


def _dimension(text: str) -> float:
    """A number of components, or a mean cosine."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if number >= 1 if kind is int else 0 < number < 1:
            return number
    rule = "neither a whole number of at least 1 nor a mean cosine between 0 and 1"
    raise click.BadParameter(f"{text!r} is {rule}.")


@click.command(
    help="Fit a model to the rows of one or several files.\n\n"
    f"Reads {joined(row_suffixes())} files, a block of rows at a time; several files, or a "
    "pattern in quotes, are one matrix.",
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
@click.option("-o", "--output", type=FILE, required=True, help="Model file to write.")
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
@click.option("--center", is_flag=True, help="Subtract the mean first; not part of the method.")
@click.option(
    "--certify",
    is_flag=True,
    help="Bound the distance to the optimum, and save the bound with the model (slow).",
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
    model = _model(components, options)
    source = open_files(files, options)
    with showing_status("Reading ...", quiet=options["quiet"]) as show:
        warned = _fit(model, source, checkpoint, _progress(show, quiet=options["quiet"]))
    model.save(output)
    if checkpoint is not None and model.stop_reason_ == "converged":
        checkpoint.unlink(missing_ok=True)  # the result is safe now, and nothing is left to do
        checkpoint = None
    certificate = model.certify(source) if options["certify"] else None
    if certificate is not None:
        model.save(output, certificate=certificate)
    for message in warned:
        warn(message)
    found = _facts(model, output, certificate, checkpoint)
    if options["as_json"]:
        click.echo(json.dumps(found))
    else:
        _print(found, model, certificate)


def _fit(model: SphericalPCA, source: Any, checkpoint: Path | None, tell: Any) -> list[Warning]:
    try:
        with collecting_warnings() as found:
            model.fit(source, checkpoint=checkpoint, progress=tell)
    except KeyboardInterrupt:
        if checkpoint is None or not checkpoint.exists():
            raise
        line = f"Interrupted. Run the same command again to resume from {checkpoint}."
        raise KeyboardInterrupt(line) from None
    return found


def _model(components: float, options: dict[str, Any]) -> SphericalPCA:
    from sphericalpca import SphericalPCA  # noqa: PLC0415 - slow to import

    return SphericalPCA(
        components,
        solver=options["solver"],
        tol=options["tol"],
        max_iter=options["max_iter"],
        normalize=not options["no_normalize"],
        center=options["center"],
        random_state=options["seed"],
    )


def _progress(
    show: Callable[[str], None] | None, *, quiet: bool
) -> Callable[[FitProgress], None] | None:
    """What shows the progress of a fit; without a terminal a line now and then."""
    if show is not None:
        return lambda progress: show(describe(progress))
    return None if quiet else _Lines()


class _Lines:
    """A line every `LINE_SECONDS` seconds."""

    def __init__(self) -> None:
        self._next = LINE_SECONDS

    def __call__(self, progress: FitProgress) -> None:
        if progress.seconds >= self._next:
            self._next = progress.seconds + LINE_SECONDS
            write_line(describe(progress), err=True)


def describe(progress: FitProgress) -> str:
    """One line about a fit."""
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
    model: SphericalPCA, output: Path, certificate: Certificate | None, checkpoint: Path | None
) -> dict[str, Any]:
    found = {
        "model": str(output),
        "n_samples": model.n_samples_,
        "n_features": model.n_features_in_,
        "n_components": model.n_components_,
        "mean_cosine": model.mean_cosine_,
        "svd_ratio": None if math.isnan(model.svd_ratio_) else model.svd_ratio_,  # for JSON
        "residual": model.residual_,
        "passes": model.n_passes_,
        "solver": type(model.solver_).__name__,
        "stop_reason": model.stop_reason_,
    }
    if certificate is not None:
        found |= {"gap": certificate.gap, "rigorous": certificate.rigorous}
    if checkpoint is not None:
        found["checkpoint"] = str(checkpoint)
    return found


def _print(found: dict[str, Any], model: SphericalPCA, certificate: Certificate | None) -> None:
    write_line(
        f"{found['model']}: {found['n_samples']:,} x {found['n_features']:,} to "
        f"{counted(found['n_components'], 'component')}, mean cosine {model.mean_cosine_:.4f}, "
        f"residual {model.residual_:.1e}, {model.n_passes_:g} passes."
    )
    if found["svd_ratio"] is not None:
        what = "directions" if model.normalize else "lengths"  # as many as f adds up
        write_line(f"SVD ratio {model.svd_ratio_:.7f}: {against_svd(model.svd_ratio_, what)}")
    if certificate is not None:
        sure = "proved" if certificate.rigorous else "an estimate"
        write_line(f"No subspace is better by more than a share of {certificate.gap:.1e} ({sure}).")
    if "checkpoint" in found:
        write_line(
            f"{found['checkpoint']} is kept: to resume, run the same command with a larger "
            "--max-iter or --tol, and with --force."
        )
