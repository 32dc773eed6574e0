#!/usr/bin/env python3
"""Times the products of other libraries on the matrices of `diacut-bench spmv` or `diacut-bench formats`.

    product_peers.py FIGURES.json [--matrices FOLDER] [--repeats 9] [--json PEERS.json]

FIGURES.json is what one of them wrote with --json, FOLDER what formats wrote with --save. Each peer is compared
with diacut's fastest product of a matrix: SciPy's CSR, on one CPU core as SciPy always runs; ViennaCL's on OpenCL,
where libviennacl-dev is there; and cuSPARSE's by PyTorch, in a CUDA graph, where PyTorch and a GPU are there.
Values are float32, indices 32 bits; those of stencil matrices are random, and not the same as diacut's.
`plot.py FIGURES.json LADDER.svg --peers PEERS.json` draws them beside diacut's.
"""
import pathlib
import tempfile

import numpy as np

from peers import csr_products, disc, parser_of, read_json, viennacl_product, viennacl_program, write_json


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


def saved_csr(folder, figure):
    starts, columns = (np.load(folder / f"{name}.npy").astype(np.int32) for name in ("starts", "columns"))
    values = np.load(folder / "values.npy")
    if len(values) != figure["nonzeros"] or len(starts) != figure["rows"] + 1:
        raise SystemExit(f"{folder} is not the matrix of the figures: save it anew")
    return starts, columns, values


def matrices(figures, folder):
    """What distinguishes each matrix, diacut's products of it, and a function that gives it as CSR and its
    columns."""
    stencils = {}
    for result in figures["results"]:
        if "matrix" not in result:
            stencils.setdefault((result["width"], result["height"], result["radius"]), []).append(result)
            continue
        path = folder / result["matrix"]
        if not result["products"] or not path.is_dir():
            print(f"{result['matrix']} left out: no figures or no matrix of it")
            continue
        yield ({"matrix": result["matrix"]}, result["products"],
               lambda path=path, figure=result: (*saved_csr(path, figure), figure["cols"]))
    for size, products in stencils.items():
        yield (dict(zip(("width", "height", "radius"), size)), products,
               lambda size=size: (*stencil_csr(*size), size[0] * size[1]))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("figures")
    parser.add_argument("--matrices", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--repeats", type=int, default=9, help="batches to take the median of")
    parser.add_argument("--json", help="write the peers' figures to this file, too")
    options = parser.parse_args()
    figures = read_json(options.figures)
    print(f"diacut on {figures['device']['name']}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        compare(figures, options, viennacl_program(folder), results)
    for name in sorted({each["name"] for each in results}):
        ratios = [each["ratio"] for each in results if each["name"] == name]
        print(f"{name}: {np.exp(np.mean(np.log(ratios))):.2f} times diacut's time, the geometric mean of "
              f"{len(ratios)} matrices")
    write_json(options.json, {"device": figures["device"], "results": results})


def compare(figures, options, viennacl, results):
    """Times the peers on each matrix."""
    for which, products, load in matrices(figures, options.matrices):
        best = min(products, key=lambda each: each["milliseconds"])
        name = best.get("product") or best["name"]
        csr = load()
        print(f"{' '.join(map(str, which.values()))}: {len(csr[2])} non-zeros, diacut's {name} "
              f"{best['milliseconds']:.4f} ms, {best['gflops']:.1f} GFLOP/s")
        peers = list(csr_products(*csr, options.repeats))
        if viennacl and (ms := viennacl_product(viennacl, figures["device"]["kind"], *csr)):
            peers.append(("ViennaCL", ms))
        for peer, ms in peers:
            results.append({**which, "name": f"{peer} CSR", "milliseconds": ms, "gflops": 2e-6 * len(csr[2]) / ms,
                            "diacut": name, "ratio": ms / best["milliseconds"]})
            print(f"  {peer:<18}{ms:>10.4f} ms {results[-1]['ratio']:>8.2f} of diacut's time", flush=True)


if __name__ == "__main__":
    main()
