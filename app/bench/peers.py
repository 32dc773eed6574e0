"""What the scripts *_peers.py share: timing, checks, other programs and libraries, files of figures."""
import argparse
import json
import os
import subprocess
import time

import numpy as np


def parser_of(description):
    return argparse.ArgumentParser(description=description.split("\n")[0])


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, figures):
    """Writes figures to the file of --json, if there is one."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


def report_of(command, folder):
    """The report of a run of `segment`, which --json writes."""
    report = os.path.join(folder, "report.json")
    subprocess.run([*command, "--json", report], check=True, stdout=subprocess.DEVNULL)
    return read_json(report)


def timed(call, repeats=1, warm=False, choose=min):
    """The least time of `repeats` calls, or what `choose` makes of them, in seconds, with `warm` after a
    first one that is not counted; and the last result."""
    if warm:
        call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return float(choose(seconds)), result


def median_milliseconds(call, finish, repeats):
    """Of batches of calls that take about 50 ms together, after one uncounted batch."""

    def batch(calls):
        finish()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        finish()
        return 1e3 * (time.perf_counter() - start) / calls

    batch(1)
    calls = int(min(200, max(1, 50 / batch(1))))
    return float(np.median([batch(calls) for _ in range(repeats)]))


def check(name, result, expected):
    error = np.abs(result - expected).max() / np.abs(expected).max()
    if not error < 1e-5:
        raise SystemExit(f"{name}: its product differs from the definition by {error:.1e}")


def viennacl_program(folder):
    """The program peers/viennacl.cpp, compiled, or None and why ViennaCL is left out."""
    program = os.path.join(folder, "viennacl")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "viennacl.cpp")
    compiler = subprocess.run(["c++", "-O2", source, "-o", program, "-lOpenCL"], capture_output=True)
    if compiler.returncode == 0:
        return program
    print("  ViennaCL left out: it needs a C++ compiler, libviennacl-dev and ocl-icd-opencl-dev")
    return None


def viennacl_product(program, kind, starts, columns, values, width):
    """Milliseconds of ViennaCL's product on the first device of a kind, "cpu" or "gpu"."""
    path = program + ".matrix"
    with open(path, "wb") as file:
        np.array([len(starts) - 1, width, len(values)], np.uint64).tofile(file)
        for array, kind_of in (starts, np.uint32), (columns, np.uint32), (values, np.float32):
            np.ascontiguousarray(array, kind_of).tofile(file)
    found = subprocess.run([program, path, "1", kind], capture_output=True, text=True)
    os.remove(path)
    if found.returncode != 0:
        print(f"  ViennaCL left out: {found.stderr.strip().splitlines()[-1:] or found.returncode}")
        return None
    milliseconds, error = map(float, found.stdout.split())
    if not error < 1e-5:
        print(f"  ViennaCL: its product differs from the definition by {error:.1e}")
    return milliseconds


def csr_products(starts, columns, values, width, repeats):
    """The name and milliseconds of SciPy's product with a CSR matrix, and of cuSPARSE's by PyTorch. A peer
    that is missing or does not fit is named and left out."""
    import scipy.sparse

    shape = len(starts) - 1, width
    x = np.random.RandomState(2).random_sample(width).astype(np.float32)
    csr = scipy.sparse.csr_matrix((values, columns, starts), shape=shape)
    expected = csr.astype(np.float64) @ x
    check("SciPy", csr @ x, expected)
    yield "SciPy", median_milliseconds(lambda: csr @ x, lambda: None, repeats)
    try:
        import torch

        arrays = (torch.from_numpy(array).cuda() for array in (csr.indptr, csr.indices, csr.data))
        matrix, vector = torch.sparse_csr_tensor(*arrays, shape), torch.from_numpy(x).cuda()
        check("cuSPARSE", (matrix @ vector).cpu().numpy(), expected)
        calls, graph = 20, torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):  # Else the host's time for each call would count.
            for _ in range(calls):
                matrix @ vector
        yield "cuSPARSE", median_milliseconds(graph.replay, torch.cuda.synchronize, repeats) / calls
    except (ImportError, AssertionError, RuntimeError) as error:  # No PyTorch, no GPU, too little memory.
        print(f"  cuSPARSE left out: {str(error).splitlines()[0]}")


def cupy_or_none(what):
    """CuPy and its sparse matrices, or None and why `what` is left out."""
    try:
        import cupy
        import cupyx.scipy.sparse

        cupy.cuda.runtime.getDeviceCount()
        return cupy, cupyx.scipy.sparse
    except Exception as error:  # Not installed, or no driver: both come as many types.
        print(f"  {what} left out: CuPy does not work here ({type(error).__name__}: {error})")
        return None


def disc(radius):
    """Neighbours (dx, dy) within the radius, in diacut's order."""
    steps = range(-radius, radius + 1)
    return [(dx, dy) for dy in steps for dx in steps if dx * dx + dy * dy <= radius * radius]


def eigsh(matrix, vectors, tolerance, basis=None):
    """Seconds, and the largest eigenvalues and their vectors, by SciPy's eigsh as a user calls it: ARPACK."""
    import scipy.sparse.linalg

    return timed(lambda: scipy.sparse.linalg.eigsh(matrix, k=vectors, which="LA", tol=tolerance, ncv=basis))


def cupy_eigsh(matrix, vectors, tolerance, basis=None, **timing):
    """The same by CuPy's, after one call that is not counted."""
    import cupy
    import cupyx.scipy.sparse as csp
    import cupyx.scipy.sparse.linalg as cla

    device = csp.csr_matrix(matrix)

    def solve():
        result = cla.eigsh(device, k=vectors, which="LA", tol=tolerance, ncv=basis)
        cupy.cuda.Stream.null.synchronize()
        return result

    seconds, (values, found) = timed(solve, warm=True, **timing)
    return seconds, (cupy.asnumpy(values), cupy.asnumpy(found))


def rayleigh(matrix, vectors):
    """Rayleigh quotients of the columns, scaled to norm 1, and the largest norm of a residual, in float64."""
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    product = matrix.astype(np.float64) @ vectors
    values = np.einsum("ij,ij->j", vectors, product)
    return values, np.linalg.norm(product - vectors * values, axis=0).max()
