"""
More rows than memory
=====================

A fit reads the data in blocks of rows, and keeps only a few matrices of the size of the components.
So rows can stay in files. This example writes a file and fits it from disk, with a callable that
reports the progress of the fit.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sphericalpca import SphericalPCA, open_rows

# %%
# A file of 128 MB: 125,000 rows of 256 numbers, written block by block.

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "vectors.npy"
n, m, r = 125_000, 256, 16

rng = np.random.default_rng(0)
mixing = rng.standard_normal((60, m), dtype=np.float32)
file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, m))
for first in range(0, n, 12_500):
    hidden = rng.laplace(size=(12_500, 60)).astype(np.float32)
    noise = rng.standard_normal((12_500, m), dtype=np.float32)
    file[first : first + 12_500] = hidden @ mixing + 4 * noise
file.flush()
del file, hidden, noise

# %%
# `open_rows` reads only the header; Parquet, Arrow, HDF5 and several files at once are opened in
# the same way. The fit reads blocks of rows ahead of the computation, within the memory budget.
# `progress` is called several times a second; here it records the peak memory that Python and
# numpy have used since the fit began.

reports = []


def note(progress):
    """Keep how often the file was read so far, and the peak of memory."""
    reports.append((progress.rows_read / n, tracemalloc.get_traced_memory()[1] / 1e6))


tracemalloc.start()
rows = open_rows(path, memory_budget="32MB")
model = SphericalPCA(r, init="random", solver="anderson", tol=1e-3, random_state=0)
model.fit(rows, progress=note)
tracemalloc.stop()
print(f"{model.n_passes_:.0f} passes, mean cosine {model.mean_cosine_:.4f}, {model.stop_reason_}")

# %%
# The residual falls with the passes, and the fit needs much less memory than the file has bytes: it
# holds the current blocks, the components and their history, and three numbers for each row.

reads, memory = np.transpose(reports)
size = path.stat().st_size / 1e6
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
left.plot(model.history_["passes"], model.history_["residual"], "o-", ms=4)
left.axhline(1e-3, color="#999999", lw=0.8)
left.set(xlabel="passes over the file", ylabel="residual", yscale="log", title="progress")
right.axhline(size, color="#D55E00", ls="--", lw=1.2)
right.fill_between(reads, 0, memory, alpha=0.25, lw=0)
right.plot(reads, memory)
place = {"ha": "right", "va": "bottom", "transform": right.get_yaxis_transform()}
right.text(0.98, size + 2, "size of the file", color="#D55E00", **place)
right.text(0.98, memory[-1] + 2, "taken by the fit, at most", color="#0072B2", **place)
right.set(xlabel="times the file was read", ylabel="megabytes", title="memory")
right.set(xlim=(0, None), ylim=(0, 1.2 * size))
for ax in (left, right):
    ax.grid(axis="y")
plt.show()

# %%
# Files larger than memory are fitted in the same way. :doc:`/scaling` says how fast that is.

folder.cleanup()
