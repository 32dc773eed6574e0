#!/usr/bin/env python3
"""Draws the figures of `diacut-bench spmv --json`.

    plot.py FIGURES.json PICTURE.svg [--peers PEERS.json]

The throughput of each kernel, for each size, and its bounds by a copy's bandwidth; PEERS.json is what
product_peers.py --json wrote.
"""
import argparse
import json

import matplotlib
import matplotlib.pyplot as plt

matplotlib.rcParams["svg.fonttype"] = "none"
# The palette of Okabe and Ito.
COLOURS = {"symmetric": "#d55e00", "unrolled": "#009e73", "block": "#cc79a7", None: "#999999"}
KINDS = {"#0072b2": "the ladder of kernels, float32", "#009e73": "offsets compiled in",
         "#d55e00": "half of the entries stored", "#cc79a7": "16 vectors at once", "#999999": "other libraries"}


def draw_sizes(figures, peers):
    sizes = list(dict.fromkeys((r["width"], r["height"], r["radius"]) for r in figures["results"]))
    _, panels = plt.subplots(len(sizes), squeeze=False, figsize=(11, 5 * len(sizes)), layout="constrained")
    for size, panel in zip(sizes, panels[:, 0]):
        bars = [r for r in figures["results"] + peers if (r["width"], r["height"], r["radius"]) == size]
        copy = bars[0]["copy"]["gigabytes_per_second"]
        colours = [COLOURS.get(r.get("kernel"), "#0072b2") for r in bars]
        drawn = panel.bar(range(len(bars)), [r["gflops"] for r in bars], color=colours)
        panel.bar_label(drawn, fmt="%.3g")
        panel.set_xticks(range(len(bars)), [r["name"].replace(" ", "\n") for r in bars])
        for bytes_ in (12, 8, 4):
            panel.axhline(2 * copy / bytes_, color="#555555", linestyle="--")
            panel.annotate(f"{bytes_} bytes for 2 flop: {2 * copy / bytes_:.3g}", (1.01, 2 * copy / bytes_),
                           xycoords=("axes fraction", "data"))
        panel.set_ylabel("GFLOP/s")
        panel.set_title(f"{size[0]}x{size[1]} pixels, {bars[0]['nonzeros'] / 1e6:.3g} million non-zeros; "
                        f"a copy moves {copy:.4g} GB/s")
    panels[0, 0].legend([plt.Rectangle((0, 0), 1, 1, color=colour) for colour in KINDS], KINDS.values(),
                        ncols=5, loc="lower left", bbox_to_anchor=(0, 1.1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("figures", type=argparse.FileType())
    parser.add_argument("picture")
    parser.add_argument("--peers", type=argparse.FileType())
    options = parser.parse_args()
    figures = json.load(options.figures)
    draw_sizes(figures, json.load(options.peers)["results"] if options.peers else [])
    plt.savefig(options.picture)


if __name__ == "__main__":
    main()
