#!/usr/bin/env python3
"""Times the products of other libraries on the matrices of `diacut-bench formats`.

    diacut-bench formats --save MATRICES --json FIGURES.json
    formats_peers.py MATRICES FIGURES.json [--repeats 5] [--json OUT.json]

FIGURES.json may also be what `diacut-bench cocktail --json` wrote of the same matrices. Each peer is
compared with diacut's fastest product of a matrix: SciPy's CSR, on one CPU core as SciPy always runs;
Eigen's row-major product, on one core and on all, compiled on the spot where a C++ compiler and Eigen
are there; and CuPy's CSR, which is cuSPARSE, where CuPy and a GPU are there. Values are float32,
indices 32 bits. A peer that is missing or does not fit is named and left out.
"""
import math
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

from peers import check, cupy_or_none, median_milliseconds, parser_of, read_json, write_json

EIGEN_INCLUDE = ("/usr/include/eigen3", "/usr/local/include/eigen3")
EIGEN_SOURCE = r"""
#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
using Clock = std::chrono::steady_clock;
template <class T> std::vector<T> load(const char* path, size_t count) {
  std::vector<T> values(count);
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr || std::fread(values.data(), sizeof(T), count, file) != count) std::exit(1);
  std::fclose(file);
  return values;
}
// ROWS COLS NONZEROS REPEATS STARTS COLUMNS VALUES X Y: prints milliseconds, writes y.
int main(int, char** argv) {
  const long rows = std::atol(argv[1]), cols = std::atol(argv[2]), nonzeros = std::atol(argv[3]);
  auto starts = load<int>(argv[5], rows + 1);
  auto columns = load<int>(argv[6], nonzeros);
  auto values = load<float>(argv[7], nonzeros);
  auto x = load<float>(argv[8], cols);
  const Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor>> a(
      rows, cols, nonzeros, starts.data(), columns.data(), values.data());
  const Eigen::Map<const Eigen::VectorXf> in(x.data(), cols);
  Eigen::VectorXf y(rows);
  auto batch = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) y.noalias() = a * in;
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / calls;
  };
  batch(1);
  const int calls = std::clamp(int(50 / batch(1)), 1, 200);
  std::vector<double> times;
  for (int i = 0; i < std::atoi(argv[4]); ++i) times.push_back(batch(calls));
  std::sort(times.begin(), times.end());
  std::printf("%.6f\n", times[times.size() / 2]);
  FILE* file = std::fopen(argv[9], "wb");
  std::fwrite(y.data(), sizeof(float), rows, file);
  std::fclose(file);
}
"""


def load(folder, cols):
    """Starts, columns, values, x and some rows of the product in float64."""
    starts = np.load(folder / "starts.npy").astype(np.int32)
    columns = np.load(folder / "columns.npy").astype(np.int32)
    values = np.load(folder / "values.npy")
    x = np.random.RandomState(2).random_sample(cols).astype(np.float32)
    return starts, columns, values, x


def expected_product(starts, columns, values, x):
    sums = np.concatenate([[0.0], np.cumsum(values.astype(np.float64) * x[columns])])
    return sums[starts[1:]] - sums[starts[:-1]]


class Eigen:
    """Eigen's product in a program of its own, with and without OpenMP; none if it does not compile."""

    def __init__(self, folder):
        self.folder = folder
        self.programs = {}
        compiler = next(filter(None, map(shutil.which, ("g++", "c++", "clang++"))), None)
        include = next((path for path in EIGEN_INCLUDE if pathlib.Path(path).is_dir()), None)
        if compiler is None or include is None:
            print("Eigen left out: no C++ compiler or no Eigen here")
            return
        source = folder / "eigen.cpp"
        source.write_text(EIGEN_SOURCE)
        for name, flags in (("Eigen", []), ("Eigen, all cores", ["-fopenmp"])):
            program = folder / f"eigen{len(self.programs)}"
            done = subprocess.run([compiler, "-O3", "-march=native", "-std=c++17", *flags, "-isystem",
                                   include, source, "-o", program], capture_output=True, text=True)
            if done.returncode == 0:
                self.programs[name] = program
            else:
                print(f"{name} left out: it does not compile: {done.stderr.splitlines()[:1]}")

    def products(self, matrix, shape, repeats):
        starts, columns, values, x = matrix
        paths = []
        for name, array in (("starts", starts), ("columns", columns), ("values", values), ("x", x)):
            paths.append(self.folder / name)
            array.tofile(paths[-1])
        for name, program in self.programs.items():
            done = subprocess.run([program, *map(str, (*shape, len(values), repeats)), *paths,
                                   self.folder / "y"], capture_output=True, text=True, check=True)
            yield name, float(done.stdout), np.fromfile(self.folder / "y", dtype=np.float32)


def scipy_product(matrix, shape, repeats):
    try:
        import scipy.sparse as sp
    except ImportError as error:
        print(f"  SciPy left out: {error}")
        return
    starts, columns, values, x = matrix
    csr = sp.csr_matrix((values, columns, starts), shape=shape)
    yield "SciPy", median_milliseconds(lambda: csr @ x, lambda: None, repeats), csr @ x


def cupy_product(matrix, shape, repeats):
    found = cupy_or_none("cuSPARSE")
    if found is None:
        return
    cupy, sp = found
    starts, columns, values, x = map(cupy.asarray, matrix)
    csr = sp.csr_matrix((values, columns, starts), shape=shape)
    finish = cupy.cuda.Device().synchronize
    yield "cuSPARSE", median_milliseconds(lambda: csr @ x, finish, repeats), (csr @ x).get()


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
    ratios = {}
    with tempfile.TemporaryDirectory() as work:
        eigen = Eigen(pathlib.Path(work))
        for figure in figures["results"]:
            folder = options.matrices / figure["matrix"]
            products = figure["products"] + ([figure["cocktail"]] if "cocktail" in figure else [])
            if not products or not folder.is_dir():
                print(f"{figure['matrix']} left out: no figures or no matrix of it")
                continue
            best = min(products, key=lambda each: each["milliseconds"])
            shape = figure["rows"], figure["cols"]
            matrix = load(folder, shape[1])
            if len(matrix[2]) != figure["nonzeros"] or len(matrix[0]) != shape[0] + 1:
                raise SystemExit(f"{folder} is not the matrix of {options.figures}: save it anew")
            expected = expected_product(*matrix)
            print(f"{figure['matrix']}: {figure['nonzeros']} non-zeros, diacut's {best['product']} "
                  f"{best['milliseconds']:.4f} ms")
            for source in (scipy_product(matrix, shape, options.repeats),
                           eigen.products(matrix, shape, options.repeats),
                           cupy_product(matrix, shape, options.repeats)):
                for name, milliseconds, product in source:
                    check(name, product, expected)
                    ratio = milliseconds / best["milliseconds"]
                    ratios.setdefault(name, []).append(ratio)
                    print(f"  {name:<18}{milliseconds:>10.4f} ms {ratio:>8.2f} of diacut's time",
                          flush=True)
                    results.append({"matrix": figure["matrix"], "peer": name,
                                    "milliseconds": milliseconds, "diacut": best["product"],
                                    "ratio": ratio})
    for name, each in ratios.items():
        mean = math.exp(sum(map(math.log, each)) / len(each))
        print(f"{name}: {mean:.2f} times diacut's time, the geometric mean of {len(each)} matrices")
    write_json(options.json, {"device": figures["device"], "results": results})


if __name__ == "__main__":
    main()
