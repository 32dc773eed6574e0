// viennacl MATRIX SECONDS DEVICE_TYPE: milliseconds of ViennaCL's product with a CSR matrix on
// OpenCL, and its largest error in units of the largest element of the product. product_peers.py
// compiles and runs it where Debian's libviennacl-dev is there; no other program uses it. MATRIX
// holds three 64-bit counts (rows, columns, entries), then row starts (rows + 1, uint32), columns
// (uint32) and numbers (float).
#define VIENNACL_WITH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/vector.hpp>

namespace {

template <class T>
std::vector<T> read(std::ifstream& file, std::size_t count) {
  std::vector<T> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

/// The first device of a type in any platform becomes ViennaCL's.
void use(cl_device_type type) {
  for (const viennacl::ocl::platform& platform : viennacl::ocl::get_platforms()) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform.id(), type, 1, &device, nullptr) != CL_SUCCESS) continue;
    viennacl::ocl::setup_context(0, std::vector<cl_device_id>{device});
    viennacl::ocl::switch_context(0);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  use(std::string(argv[3]) == "gpu" ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU);
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<std::uint64_t> size = read<std::uint64_t>(file, 3);
  const auto starts = read<std::uint32_t>(file, size[0] + 1);
  const auto columns = read<std::uint32_t>(file, size[2]);
  const auto numbers = read<float>(file, size[2]);
  if (!file) return 3;
  std::vector<float> x(size[1]);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  viennacl::compressed_matrix<float> matrix(size[0], size[1]);
  matrix.set(starts.data(), columns.data(), numbers.data(), size[0], size[1], size[2]);
  viennacl::vector<float> in(size[1]);
  viennacl::vector<float> out(size[0]);
  viennacl::copy(x, in);
  const auto batch = [&](int calls) {
    viennacl::backend::finish();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) out = viennacl::linalg::prod(matrix, in);
    viennacl::backend::finish();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
               .count() /
           calls;
  };
  batch(2);
  double best = batch(3);
  const int calls = std::max(1, static_cast<int>(50 / best));
  for (double left = 1e3 * std::stod(argv[2]); left > 0; left -= best * calls)
    best = std::min(best, batch(calls));
  std::vector<float> y(size[0]);
  viennacl::copy(out, y);
  double error = 0;
  double largest = 0;
  for (std::size_t row = 0; row < size[0]; ++row) {
    double sum = 0;
    for (std::uint32_t e = starts[row]; e < starts[row + 1]; ++e)
      sum += double{numbers[e]} * x[columns[e]];
    error = std::max(error, std::abs(sum - y[row]));
    largest = std::max(largest, std::abs(sum));
  }
  std::printf("%.6f %.3e\n", best, largest > 0 ? error / largest : error);
}
