#!/usr/bin/env python3
"""Times the products of other libraries on the matrices of `diacut-bench formats`.

    diacut-bench formats --save MATRICES --json FIGURES.json
    formats_peers.py MATRICES FIGURES.json [--repeats 5] [--json OUT.json]

Each peer is compared with diacut's fastest product of a matrix: SciPy's CSR, on one CPU core as SciPy
always runs; and CuPy's CSR, which is cuSPARSE, where CuPy and a GPU are there. Values are float32, indices 32 bits.
"""
import pathlib

import numpy as np

from peers import csr_products, parser_of, read_json, write_json


def load(folder, figure):
    """Starts, columns and values."""
    starts, columns = (np.load(folder / f"{name}.npy").astype(np.int32) for name in ("starts", "columns"))
    values = np.load(folder / "values.npy")
    if len(values) != figure["nonzeros"] or len(starts) != figure["rows"] + 1:
        raise SystemExit(f"{folder} is not the matrix of the figures: save it anew")
    return starts, columns, values


def main():
    parser = parser_of(__doc__)
    parser.add_argument("matrices", type=pathlib.Path)
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = read_json(options.figures)
    print(f"diacut on {figures['device']['name']}")
    results = []
    for figure in figures["results"]:
        folder = options.matrices / figure["matrix"]
        products = figure["products"]
        if not products or not folder.is_dir():
            print(f"{figure['matrix']} left out: no figures or no matrix of it")
            continue
        best = min(products, key=lambda each: each["milliseconds"])
        print(f"{figure['matrix']}: {figure['nonzeros']} non-zeros, diacut's {best['product']} "
              f"{best['milliseconds']:.4f} ms")
        for name, ms in csr_products(*load(folder, figure), figure["cols"], options.repeats):
            ratio = ms / best["milliseconds"]
            print(f"  {name:<18}{ms:>10.4f} ms {ratio:>8.2f} of diacut's time", flush=True)
            results.append({"matrix": figure["matrix"], "peer": name, "milliseconds": ms,
                            "diacut": best["product"], "ratio": ratio})
    for name in sorted({each["peer"] for each in results}):
        ratios = [each["ratio"] for each in results if each["peer"] == name]
        print(f"{name}: {np.exp(np.mean(np.log(ratios))):.2f} times diacut's time, the geometric mean of "
              f"{len(ratios)} matrices")
    write_json(options.json, {"device": figures["device"], "results": results})


if __name__ == "__main__":
    main()
