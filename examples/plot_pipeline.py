"""
In a pipeline, with a grid search
=================================

`SphericalPCA` is a scikit-learn transformer, so the rest of scikit-learn can choose its parameters.
Here a nearest-neighbour classifier names the topic of a text, and a grid search chooses the
dimension, the number of neighbours, and whether Spherical PCA is worth it at all: "SVD, then unit
rows" competes for the same place in the pipeline.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer

from sphericalpca import SphericalPCA
from sphericalpca.datasets import load_docstrings

corpus = load_docstrings()
vectorizer = TfidfVectorizer(min_df=10, stop_words="english", sublinear_tf=True)
X = vectorizer.fit_transform(corpus.texts)
X_train, X_test, y_train, y_test = train_test_split(
    X, corpus.labels, test_size=0.3, stratify=corpus.labels, random_state=0
)

# %%
# A step of a pipeline is a parameter like any other. Components are unit vectors, so the plain
# Euclidean distance of the classifier ranks neighbours by angle.

dimensions, neighbours = [2, 4, 8, 16, 32], [1, 15]
reducers = {
    "Spherical PCA": [SphericalPCA(r, tol=1e-3, random_state=0) for r in dimensions],
    "SVD + unit rows": [
        make_pipeline(TruncatedSVD(r, random_state=0), Normalizer(copy=False)) for r in dimensions
    ],
}
search = GridSearchCV(
    Pipeline([("reduce", SphericalPCA()), ("classify", KNeighborsClassifier())]),
    {
        "reduce": [reducer for kind in reducers.values() for reducer in kind],
        "classify__n_neighbors": neighbours,
    },
    cv=StratifiedKFold(3, shuffle=True, random_state=0),
)
search.fit(X_train, y_train)
for step, choice in search.best_params_.items():
    print(f"{step}: {choice}")
print(f"accuracy on new texts: {search.score(X_test, y_test):.1%}")

# %%
# The whole grid, with bars of one standard error over the folds. Spherical PCA is ahead in few
# dimensions, by less and less up to eight. From sixteen on both are level, and the choice of the
# grid search is a matter of luck.

scores = search.cv_results_["mean_test_score"].reshape(len(neighbours), 2, len(dimensions))
errors = search.cv_results_["std_test_score"].reshape(scores.shape) / np.sqrt(3)
figure, panels = plt.subplots(1, 2, figsize=(9, 3.7), sharey=True, layout="constrained")
for ax, k, score, error in zip(panels, neighbours, scores, errors, strict=True):
    for name, one, spread, color in zip(
        reducers, score, error, ("#0072B2", "#D55E00"), strict=True
    ):
        ax.errorbar(dimensions, one, spread, fmt="o-", ms=4.5, color=color, label=name)
    ax.set(xlabel="dimension r", title=f"{k} neighbour{'s' if k > 1 else ''}")
    ax.set_xscale("log", base=2)
    ax.set_xticks(dimensions, dimensions)
    ax.grid(axis="y")
panels[0].set_ylabel("accuracy, cross-validated")
panels[0].legend(loc="lower right")
plt.show()
