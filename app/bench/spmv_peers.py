#!/usr/bin/env python3
"""Times the products of other libraries on the stencil matrices of `diacut-bench spmv`.

    spmv_peers.py FIGURES.json [--repeats 9] [--json PEERS.json]

FIGURES.json is what `diacut-bench spmv --json` wrote: its sizes and radius are measured here too,
and each peer is compared with diacut's fastest kernel at that size. `plot.py FIGURES.json
LADDER.svg --peers PEERS.json` draws the peers beside diacut's kernels. The peers: SciPy's CSR product,
on one CPU core as SciPy always runs; and CuPy's, which is cuSPARSE, where CuPy and a GPU are there.
Weights are float32, random, and not the same as diacut's; the pattern is: the pairs inside the image.
"""
import numpy as np

from peers import csr_products, disc, parser_of, read_json, write_json


def stencil_csr(width, height, radius):
    """Starts, columns and values of the stencil's pairs inside the image."""
    dx, dy = (np.array(v) for v in zip(*disc(radius)))
    counts, columns = [0], []
    for y in range(height):  # A line at a time, so that temporaries stay small.
        x = np.arange(width)[:, None] + dx
        row = np.broadcast_to(y + dy, x.shape)
        inside = (x >= 0) & (x < width) & (row >= 0) & (row < height)
        columns.append((row * width + x)[inside].astype(np.int32))
        counts.extend(inside.sum(axis=1))
    columns = np.concatenate(columns)
    values = np.random.RandomState(1).random_sample(columns.size).astype(np.float32)
    return np.cumsum(counts).astype(np.int32), columns, values


def main():
    parser = parser_of(__doc__)
    parser.add_argument("figures", help="what diacut-bench spmv --json wrote")
    parser.add_argument("--repeats", type=int, default=9, help="batches to take the median of")
    parser.add_argument("--json", help="write the peers' figures to this file, too")
    options = parser.parse_args()
    figures = read_json(options.figures)
    device = figures["device"]
    print(f"diacut's figures: {device['name']} ({device['platform']})")

    best = {}
    for result in figures["results"]:
        key = (result["width"], result["height"], result["radius"])
        if key not in best or result["milliseconds"] < best[key]["milliseconds"]:
            best[key] = result
    results = []
    for (width, height, radius), ours in best.items():
        print(f"\n{width}x{height}, radius {radius}: {ours['nonzeros']} non-zeros; diacut's "
              f"'{ours['name']}' {ours['milliseconds']:.4f} ms, {ours['gflops']:.1f} GFLOP/s")
        matrix = stencil_csr(width, height, radius)
        for name, ms in csr_products(*matrix, width * height, options.repeats):
            gflops = 2e-6 * ours["nonzeros"] / ms
            results.append({"name": f"{name} CSR", "width": width, "height": height, "radius": radius,
                            "milliseconds": ms, "gflops": gflops})
            print(f"  {name} CSR: {ms:.4f} ms, {gflops:.1f} GFLOP/s, "
                  f"{ms / ours['milliseconds']:.2f} times diacut's time", flush=True)
    write_json(options.json, {"results": results})


if __name__ == "__main__":
    main()
