"""Plots of samples on the circle or on the sphere."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array
from sphericalpca.plotting.style import FAINT, INK, group_colors, new_axes, tidy

__all__ = ["SphereDisplay"]

# A longer legend would be larger than the picture.
LONGEST_LEGEND = 20


class SphereDisplay:
    """Unit-norm components, drawn on the circle (r = 2) or on the sphere (r = 3).

    Parameters
    ----------
    V : array-like of shape (n_samples, 2) or (n_samples, 3)
        Unit rows, such as ``model.transform(X)``.  Zero rows are not drawn.
    labels : array-like of shape (n_samples,), optional
        Groups to colour by.

    Attributes
    ----------
    V : ndarray of shape (n_samples, n_components)
    labels : ndarray of shape (n_samples,) or None
    ax_, figure_ : matplotlib Axes and Figure
        Three-dimensional for r = 3.
    points_ : matplotlib PathCollection
        The samples drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.plotting import SphereDisplay
    >>> X, digits = load_digits(return_X_y=True)
    >>> model = SphericalPCA(n_components=3).fit(X)
    >>> SphereDisplay.from_estimator(model, X, digits).ax_.name
    '3d'
    """

    def __init__(self, V: Any, *, labels: Any = None) -> None:
        self.V: Array = np.asarray(V)
        if self.V.ndim != 2:
            rule = "it must be (n_samples, n_components)"
            raise ParameterError(f"V has shape {self.V.shape}", rule)
        if (r := self.V.shape[1]) not in (2, 3):
            rule = "cannot be drawn, only r = 2 (a circle) and r = 3 (a sphere) can"
            remedy = f"{'draw model.truncate(3) or ' * (r > 3)}fit with n_components=2 or 3"
            raise ParameterError(Parameter("n_components", r), rule, remedy)
        self.labels: npt.NDArray[Any] | None = None if labels is None else np.asarray(labels)
        if self.labels is not None and self.labels.shape != self.V.shape[:1]:
            found = f"labels has shape {self.labels.shape}"
            rule = f"there are {len(self.V)} samples"
            raise ParameterError(found, rule, "pass one label for each")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        labels: Any = None,
        *,
        ax: Any = None,
        scatter_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the components of X under a fitted estimator with r = 2 or 3.

        Parameters
        ----------
        estimator : fitted SphericalPCA, or a fitted pipeline that ends with one
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        labels, ax, scatter_kwargs
            As in the class, and in `plot`.

        Returns
        -------
        display : SphereDisplay
        """
        return cls(estimator.transform(X), labels=labels).plot(ax=ax, scatter_kwargs=scatter_kwargs)

    def plot(self, ax: Any = None, *, scatter_kwargs: dict[str, Any] | None = None) -> Self:
        """Draw, on `ax` or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            For r = 3 it must have ``projection="3d"``.
        scatter_kwargs : dict, optional
            Passed to matplotlib's ``scatter``, for example ``{"s": 5}``.

        Returns
        -------
        self : SphereDisplay

        Raises
        ------
        ParameterError
            If r = 3 and `ax` is flat.
        """
        solid = self.V.shape[1] == 3
        if ax is None:
            ax = new_axes((5.6, 4.6), "3d" if solid else None)
        elif solid and ax.name != "3d":
            rule, remedy = "r = 3 needs three dimensions", "create it with projection='3d'"
            raise ParameterError(f"ax has projection {ax.name!r}", rule, remedy)
        self.ax_, self.figure_ = ax, ax.figure
        if solid:
            _draw_sphere(ax, self.V.sum(axis=0))
        else:
            _draw_circle(ax)
        drawn = self.V.any(axis=1)
        labels = np.zeros(len(self.V)) if self.labels is None else self.labels
        groups, group_of_sample = np.unique(labels, return_inverse=True)
        palette = group_colors(len(groups))
        # One call for all groups: samples are then sorted and shaded by depth together.
        style = {
            "s": float(np.clip(4000 / max(len(self.V), 1), 7, 22)),
            "c": [palette[group] for group in group_of_sample[drawn]],
            "alpha": 0.75,
            "linewidths": 0,
        }
        self.points_ = ax.scatter(*self.V[drawn].T, **(style | (scatter_kwargs or {})))
        if self.labels is not None and len(groups) <= LONGEST_LEGEND:
            _legend(ax, dict(zip(map(str, groups), palette, strict=True)))
        return self


def _draw_circle(ax: Any) -> None:
    angle = np.linspace(0, 2 * math.pi, 361)
    ax.plot(np.cos(angle), np.sin(angle), color=FAINT, linewidth=0.8, zorder=0)
    ax.plot(0, 0, "+", color=FAINT, markersize=8, zorder=0)
    ax.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    tidy(ax)
    ax.set(xlabel="component 1", ylabel="component 2")


def _draw_sphere(ax: Any, towards: Array) -> None:
    """A light wireframe with its axes, viewed from near the direction of `towards`."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - an optional package

    longitude, latitude = np.mgrid[0 : 2 * math.pi : 73j, -math.pi / 2 : math.pi / 2 : 37j]
    ring = np.cos(latitude)
    globe = (ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude))
    ax.plot_wireframe(*globe, rstride=6, cstride=6, color=FAINT, linewidth=0.4)
    azimuth = math.atan2(towards[1], towards[0])
    elevation = math.atan2(towards[2], math.hypot(towards[0], towards[1]))
    ax.view_init(azim=math.degrees(azimuth) + 15, elev=min(math.degrees(elevation) + 12, 80))
    ax.set_box_aspect((1, 1, 1), zoom=1.4)
    # The upper pole carries a label, so the sphere sits a little lower than its frame.
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-0.88, 1.12))
    # The box and its labels are hidden, but set, so that users can turn them on again.
    ax.set(xlabel="component 1", ylabel="component 2", zlabel="component 3")
    ax.set_axis_off()
    # Short pins where the axes leave the sphere, in front of the samples.
    halo = [withStroke(linewidth=3, foreground="white")]
    style = {"color": INK, "fontsize": 11, "ha": "center", "va": "center", "zorder": 10}
    for axis, tip in enumerate(np.eye(3)):
        ends = np.stack([tip, 1.17 * tip]).T
        ax.plot(*ends, color=INK, linewidth=0.9, zorder=10, path_effects=halo)
        ax.text(*(1.25 * tip), f"$v_{axis + 1}$", path_effects=halo, **style)


def _legend(ax: Any, colors: dict[str, Any]) -> None:
    style = {"linestyle": "none", "marker": "o", "markersize": 5, "markeredgewidth": 0}
    handles = [ax.plot([], [], color=color, **style)[0] for color in colors.values()]
    place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)}
    text = {"fontsize": 9, "labelcolor": INK, "handletextpad": 0.1}
    ax.legend(handles, colors.keys(), frameon=False, **place, **text)
