#!/usr/bin/env python3
"""Fits the score of `segment recut --score nuclei`, and writes configs/objects-nuclei.json.

Logistic regression: the probability that a node of a merge tree overlaps an object by more than a
half (intersection over union), from the features that the program itself computes (diacut-bench
nodes) and their products of two. The least probability of an object is chosen by validation.

Needs NumPy alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from fit_merging import MOST_DEVIATIONS, logistic, rounded

# In the order of ObjectFeature in lib/region/object_features.hpp, as diacut-bench nodes writes them.
FEATURES = [
    "contrast", "height", "solidity", "log_area", "above_sibling", "step", "above_surroundings",
    "deviation", "above_median", "above_surroundings_scaled", "surroundings_above_median",
    "roundness",
]


def expanded(scaled):
    """The features and their products of two, i <= j, by i, then by j."""
    first, second = np.triu_indices(scaled.shape[1])
    return np.hstack([scaled, scaled[:, first] * scaled[:, second]])


def fit(rows, ridge):
    """The mean, deviation, bias, weights and products as the file holds them."""
    x, target = rows[:, :-1].astype(np.float64), (rows[:, -1] > 0.5).astype(np.float64)
    mean, deviation = x.mean(0), x.std(0)
    wide = expanded(np.clip((x - mean) / deviation, -MOST_DEVIATIONS, MOST_DEVIATIONS))
    bias, beta = logistic(wide, target, np.ones(len(wide)), ridge)
    p = np.clip(1 / (1 + np.exp(-(wide @ beta + bias))), 1e-9, 1 - 1e-9)
    loss = -np.mean(target * np.log(p) + (1 - target) * np.log(1 - p))
    print(f"{len(rows)} nodes, of which {target.mean():.3f} are objects; mean loss {loss:.4f}")
    return {"bias": bias, "mean": mean.tolist(), "deviation": deviation.tolist(),
            "weights": beta[:len(FEATURES)].tolist(), "products": beta[len(FEATURES):].tolist()}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", required=True, help="folder of pictures")
    parser.add_argument("--trees", required=True, help="folder of their trees (segment --tree)")
    parser.add_argument("--truth", required=True, help="folder of their objects (.png)")
    parser.add_argument("--every", type=int, default=1, help="only each N-th picture")
    parser.add_argument("--bench", default="diacut-bench", help="the program diacut-bench")
    parser.add_argument("--ridge", type=float, default=1e-5, help="strength of the penalty")
    parser.add_argument("--least", type=float, default=0.4,
                        help="nodes of at most this probability are no objects")
    parser.add_argument("--trained-on", default="", help="what the trees are, for people")
    parser.add_argument("--out", required=True, help="the file of the score")
    return parser.parse_args()


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "rows.npy"
        subprocess.run([options.bench, "nodes", options.photos, "--trees", options.trees, "--truth",
                        options.truth, "--every", str(options.every), "--output", output],
                       check=True)
        rows = np.load(output)
    score = {"format": "diacut-objects", "version": 1,
             "command": " ".join(["fit_objects.py", *sys.argv[1:]]),
             "trained_on": options.trained_on, "least": options.least, "features": FEATURES,
             **fit(rows, options.ridge)}
    Path(options.out).write_text(json.dumps(rounded(score), indent=1) + "\n")


if __name__ == "__main__":
    main()
