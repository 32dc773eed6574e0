#!/usr/bin/env python3
"""Clusters of points on three spirals, by diacut and by scikit-learn: the picture of docs/graphs.md.

    graph_picture.py graphs.png [--segment PROGRAM] [--points 120000]

Ties each point to its 10 nearest neighbours, divides the graph into three clusters by `segment graph` and by
scikit-learn's spectral_clustering, and prints times and the adjusted Rand index of the labels to the spirals
and to each other. scikit-learn's time leaves out the making of the graph; that of segment is the whole run
of the program, reading the graph included. Needs scikit-learn and Pillow.
"""
import os
import tempfile

import numpy as np
import scipy.sparse as sp
from panels import COLOURS, arguments, beside, in_turns, run
from sklearn.cluster import spectral_clustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph


def spirals(count, arms=3):
    """Points of spirals with noise, and which spiral each is of."""
    generator = np.random.default_rng(7)
    arm = np.arange(count) % arms
    turn = np.sqrt(generator.uniform(0.03, 1, count))
    angle = 2 * np.pi * (1.25 * turn + arm / arms)
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1)
    return points + generator.normal(0, 0.028, points.shape), arm


def drawn(points, labels, size=480):
    image = np.full((size, size, 3), 255, np.uint8)
    place = ((points / 1.12 + 1) / 2 * (size - 2)).astype(int).clip(0, size - 2)
    for dx in (0, 1):
        for dy in (0, 1):
            image[place[:, 1] + dy, place[:, 0] + dx] = COLOURS[labels]
    return image


def numbered(labels):
    """Labels numbered from 1 in the order of their first points, so that colours agree."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse] + 1


def main():
    parser = arguments(__doc__)
    parser.add_argument("--points", type=int, default=120000)
    options = parser.parse_args()
    points, arm = spirals(options.points)
    graph = kneighbors_graph(points, 10)
    graph = graph.maximum(graph.T).tocsr()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("w.npz", "labels.npy")]
        sp.save_npz(files[0], graph)

        def program():
            run(options.segment, "graph", files[0], "--clusters", 3, "--labels", files[1])
            found["segment"] = np.load(files[1])

        def peer():
            found["sklearn"] = spectral_clustering(graph, n_clusters=3, random_state=0)

        seconds = in_turns(options.rounds, segment=program, sklearn=peer)
    score = {name: adjusted_rand_score(arm, labels) for name, labels in found.items()}
    print(f"{options.points} nodes, {graph.nnz // 2} edges: seconds {seconds}, ratio "
          f"{seconds['sklearn'] / seconds['segment']:.1f}, adjusted Rand index to the spirals {score}, to each "
          f"other {adjusted_rand_score(found['segment'], found['sklearn']):.4f}")
    beside(options.output, [
        (drawn(points, numbered(found["segment"])),
         f"segment graph: {seconds['segment']:.2f} s\nadjusted Rand index {score['segment']:.3f}"),
        (drawn(points, numbered(found["sklearn"])),
         f"scikit-learn: {seconds['sklearn']:.2f} s\nadjusted Rand index {score['sklearn']:.3f}")], 380, 40)


if __name__ == "__main__":
    main()
