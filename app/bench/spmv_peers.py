#!/usr/bin/env python3
"""Times the products of other libraries on the stencil matrices of `diacut-bench spmv`.

    spmv_peers.py FIGURES.json [--repeats 9] [--json PEERS.json]

FIGURES.json is what `diacut-bench spmv --json` wrote: its sizes and radius are measured here too,
and each peer is compared with diacut's fastest kernel at that size. `plot.py FIGURES.json
LADDER.svg --peers PEERS.json` draws the peers beside diacut's kernels. The peers: SciPy's DIA and
CSR products, on one CPU core as SciPy always runs; and CuPy's CSR product, which is cuSPARSE, where
CuPy and a GPU are there. Weights are float32, random, and not the same as diacut's; the pattern is:
a CSR matrix stores exactly the pairs inside the image, DIA all diagonals. A peer that is missing or
does not fit is named and left out.
"""
import os

import numpy as np

from peers import check, cupy_or_none, disc, median_milliseconds, parser_of, read_json, write_json


def stencil_csr(xp, width, height, radius, seed=1):
    """Data, indices and row starts of the stencil's pairs inside the image, on numpy or cupy."""
    dx, dy = (xp.asarray(v) for v in zip(*disc(radius)))
    rows = width * height
    counts = xp.zeros(rows + 1, dtype=xp.int64)
    chunks = []
    lines = max(1, (1 << 20) // width)  # Of the image, so that temporaries stay small.
    for top in range(0, height, lines):
        row = xp.arange(top * width, min(height, top + lines) * width)
        x = (row % width)[:, None] + dx
        y = (row // width)[:, None] + dy
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        chunks.append((y * width + x)[inside].astype(xp.int32))
        counts[row + 1] = inside.sum(axis=1)
    indices = xp.concatenate(chunks)
    del chunks
    starts = xp.cumsum(counts)
    data = xp.random.RandomState(seed).random_sample(indices.size).astype(xp.float32)
    return data, indices, starts.astype(xp.int32), rows


def expected_rows(data, indices, starts, x, rows):
    """Some rows of the product in float64, from arrays of numpy or cupy."""
    ends = [(int(starts[r]), int(starts[r + 1])) for r in rows]
    return np.array([float((data[a:b].astype(np.float64) * x[indices[a:b]]).sum())
                     for a, b in ends])


def free_memory():
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def scipy_products(width, height, radius):
    """Yields (name, call, finish) for each of SciPy's products."""
    import scipy.sparse as sp

    stencil = disc(radius)
    # CSR, DIA, and the temporaries of making them.
    needed = width * height * len(stencil) * 24
    if needed > free_memory():
        print(f"  SciPy skipped: it needs about {needed >> 20} MiB, and {free_memory() >> 20} are free")
        return
    data, indices, starts, rows = stencil_csr(np, width, height, radius)
    x = np.random.RandomState(2).random_sample(rows).astype(np.float32)
    csr = sp.csr_matrix((data, indices, starts), shape=(rows, rows))
    sample = np.linspace(0, rows - 1, min(rows, 500)).astype(int)
    expected = expected_rows(data, indices, starts, x, sample)
    check("SciPy CSR", (csr @ x)[sample], expected)
    yield "SciPy CSR", lambda: csr @ x, lambda: None
    # SciPy keeps an element of a diagonal at its column, diacut at its row: the same bytes to move.
    offsets = sorted({dy * width + dx for dx, dy in stencil})
    dia = sp.dia_matrix((np.zeros((len(offsets), rows), dtype=np.float32), offsets),
                        shape=(rows, rows))
    row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(starts))
    dia.data[np.searchsorted(offsets, indices - row), indices] = data
    del row
    if len(offsets) == len(stencil):
        check("SciPy DIA", (dia @ x)[sample], expected)
        yield "SciPy DIA", lambda: dia @ x, lambda: None
    else:
        print("  SciPy DIA skipped: offsets repeat in so narrow an image")


def cupy_products(width, height, radius):
    found = cupy_or_none("cuSPARSE")
    if found is None:
        return
    cupy, sp = found
    try:
        data, indices, starts, rows = stencil_csr(cupy, width, height, radius)
        x = cupy.random.RandomState(2).random_sample(rows).astype(cupy.float32)
        csr = sp.csr_matrix((data, indices, starts), shape=(rows, rows))
        sample = np.linspace(0, rows - 1, min(rows, 500)).astype(int)
        expected = expected_rows(data, indices, starts, x, sample)
        check("cuSPARSE CSR", (csr @ x).get()[sample], expected)
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        print(f"  CuPy {cupy.__version__}, {properties['name'].decode()}")
        yield "cuSPARSE CSR", lambda: csr @ x, cupy.cuda.Stream.null.synchronize
    except cupy.cuda.memory.OutOfMemoryError as error:
        print(f"  cuSPARSE skipped: {error}")


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
        if not result["recurrence"] and (
                key not in best or result["milliseconds"] < best[key]["milliseconds"]):
            best[key] = result
    results = []
    for (width, height, radius), ours in best.items():
        print(f"\n{width}x{height}, radius {radius}: {ours['nonzeros']} non-zeros; diacut's "
              f"'{ours['name']}' {ours['milliseconds']:.4f} ms, {ours['gflops']:.1f} GFLOP/s")
        for source in (scipy_products, cupy_products):
            try:
                for name, call, finish in source(width, height, radius):
                    ms = median_milliseconds(call, finish, options.repeats)
                    gflops = 2e-6 * ours["nonzeros"] / ms
                    results.append({"name": name, "width": width, "height": height, "radius": radius,
                                    "milliseconds": ms, "gflops": gflops})
                    print(f"  {name}: {ms:.4f} ms, {gflops:.1f} GFLOP/s, "
                          f"{ms / ours['milliseconds']:.2f} times diacut's time", flush=True)
            except ImportError as error:
                print(f"  skipped: {error}")
    write_json(options.json, {"results": results})


if __name__ == "__main__":
    main()
