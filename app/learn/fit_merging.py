#!/usr/bin/env python3
"""Fits the weights of --merging learned to what people drew, and writes configs/merging.json.

Logistic regression: the probability that two neighbouring regions are different things, from the
features that the program itself computes (diacut-bench pairs). The target is the share of pairs of
pixels, one of each region, that lie in different segments, over all annotators; a pair of regions
counts as much as the smaller of them is of the picture. Then the logarithm of the odds is scaled
and shifted so that the heights of the merge trees, which are the largest probability up to each
merge, are probabilities too. The contours must come from networks that have not seen the
photographs.

Needs NumPy alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# In the order of PairFeature in lib/vision/region/tree/merging_weights.hpp, as diacut-bench pairs writes them.
FEATURES = [
    "mean", "least", "quantile_25", "quantile_50", "quantile_90", "length", "share_smaller",
    "share_larger", "area_smaller", "area_larger", "difference_a", "difference_b", "chi2_l",
    "chi2_a", "chi2_b", "embedding",
]
COLOURED = {"difference_a", "difference_b", "chi2_a", "chi2_b"}
# As MergingModel::kMostDeviations in lib/vision/region/tree/merging_weights.hpp.
MOST_DEVIATIONS = 4
# So that pairs of which one region has hardly a pixel count a little too.
LEAST_WEIGHT = 1e-5


def logistic(x, target, weight, ridge):
    """Bias and weights of logistic regression for targets in [0, 1], by Newton's method. `weight`
    has the mean 1; `ridge` times the square of each weight but the bias is added to the mean
    loss."""
    x = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.full(x.shape[1], ridge)
    penalty[-1] = 0
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ beta)))
        gradient = x.T @ (weight * (p - target)) / len(x) + penalty * beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x / len(x) + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:
            break
    return beta[-1], beta[:-1]


def weights_of(column):
    column = column + LEAST_WEIGHT
    return column / column.mean()


def fit(rows, names, ridge):
    """A model as the file holds it."""
    columns = [FEATURES.index(name) for name in names]
    x = rows[:, columns].astype(np.float64)
    target, weight = rows[:, -2].astype(np.float64), weights_of(rows[:, -1].astype(np.float64))
    mean, deviation = x.mean(0), x.std(0)
    scaled = np.clip((x - mean) / deviation, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    bias, beta = logistic(scaled, target, weight, ridge)
    p = np.clip(1 / (1 + np.exp(-(scaled @ beta + bias))), 1e-9, 1 - 1e-9)
    loss = -np.average(target * np.log(p) + (1 - target) * np.log(1 - p), weights=weight)
    print(f"  {len(rows)} pairs, weighted loss {loss:.4f}")
    return {
        "bias": bias,
        "terms": [
            {"feature": name, "weight": b, "mean": m, "deviation": d}
            for name, b, m, d in zip(names, beta, mean, deviation)
        ],
    }


def calibrated(model, rows):
    """The model with its odds scaled and shifted so that heights of its trees are probabilities."""
    height, target = rows[:, 0].astype(np.float64), rows[:, 1].astype(np.float64)
    shift, scale = logistic(height[:, None], target, weights_of(rows[:, 2].astype(np.float64)), 0)
    scale = float(scale[0])
    print(f"  odds calibrated: {scale:.3f} times their logarithm, and {shift:+.3f}")
    terms = [dict(term, weight=term["weight"] * scale) for term in model["terms"]]
    return {"bias": model["bias"] * scale + shift, "terms": terms}


def rounded(value):
    """Six digits are more than the fit knows."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


class Bench:
    """diacut-bench pairs on the photographs."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = Path(folder)

    def rows(self, *flags):
        options, output, rows = self.options, self.folder / "rows.npy", []
        for photos, network in zip(options.photos, options.networks or [None] * len(options.photos)):
            known = ["--network", network] if network else []
            subprocess.run([options.bench, "pairs", photos, "--contours", options.contours, "--truth",
                            options.truth, "--output", output, *known, *flags], check=True)
            rows.append(np.load(output))
        return np.concatenate(rows)

    def merges(self, weights, *options):
        path = self.folder / "weights.json"
        path.write_text(json.dumps(weights))
        return self.rows("--weights", path, *options)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", required=True, nargs="+", help="folders of photographs")
    parser.add_argument("--networks", nargs="+",
                        help="for each folder the network whose embedding is a feature; default: none")
    parser.add_argument("--contours", required=True,
                        help="folder of their contours (segment --contours)")
    parser.add_argument("--truth", required=True, help="folder of their ground truth (.mat)")
    parser.add_argument("--bench", default="diacut-bench", help="the program diacut-bench")
    parser.add_argument("--ridge", type=float, default=0.01, help="strength of the penalty")
    parser.add_argument("--threshold", type=float, default=0.5,
                        help="probability of the automatic cut")
    parser.add_argument("--trained-on", default="", help="what the contours are, for people")
    parser.add_argument("--out", required=True, help="the file of weights")
    options = parser.parse_args()
    if options.networks and len(options.networks) != len(options.photos):
        parser.error("--networks: expected as many as --photos")
    return options


def main():
    options = arguments()
    names = FEATURES if options.networks else [name for name in FEATURES if name != "embedding"]
    weights = {
        "format": "diacut-merging",
        "version": 1,
        "command": " ".join(["fit_merging.py", *sys.argv[1:]]),
        "trained_on": options.trained_on,
        "threshold": options.threshold,
    }
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        rows = bench.rows()
        for kind, chosen, flags in (
            ("colour", names, []),
            ("grey", [name for name in names if name not in COLOURED], ["--grey"]),
        ):
            print(kind)
            model = fit(rows, chosen, options.ridge)
            both = dict(weights, colour=model, grey=model if kind == "grey" else
                        {"bias": 0.0, "terms": []})
            weights[kind] = calibrated(model, bench.merges(both, *flags))
    Path(options.out).write_text(json.dumps(rounded(weights), indent=1) + "\n")


if __name__ == "__main__":
    main()
