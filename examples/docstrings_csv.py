"""Write a CSV file of texts to try ``sphericalpca cluster`` on: docstrings of NumPy and friends.

``python examples/docstrings_csv.py texts.csv``
"""

import csv
import sys
from pathlib import Path

from sphericalpca.datasets import load_docstrings

corpus = load_docstrings()
with Path(sys.argv[1]).open("w", encoding="utf-8", newline="") as file:
    table = csv.writer(file)
    table.writerow(["name", "topic", "text"])
    topics = [corpus.group_names[label] for label in corpus.labels]
    table.writerows(zip(corpus.ids, topics, corpus.texts, strict=True))
