#include "diacut/sparse.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "follower.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

using Described = nb::typed<nb::dict, std::string, nb::any>;

/// A DeviceQueue, which matrices share.
class SparseQueue {
 public:
  SparseQueue(const std::string& device, const nb::bytes& kernel_dir, std::uint64_t memory) {
    check_process();
    const std::string folder = name_of(kernel_dir);
    const Released release;
    queue_.emplace(device, folder);
    queue_->limit_memory(memory);
  }

  const DeviceQueue& get() const { return *queue_.operator->(); }

 private:
  OfOneProcess<DeviceQueue> queue_;
};

/// A SparseMatrix.
class SparseEngine {
 public:
  SparseEngine(const SparseQueue& queue, std::size_t rows, std::size_t cols,
               const Line<std::int64_t>& starts, const Line<std::int64_t>& columns,
               const Line<float>& values, const std::string& format, bool half, bool non_finite) {
    check_process();
    const Released release;
    matrix_.emplace(queue.get(),
                    csr_matrix(rows, cols, span_of(starts), span_of(columns), span_of(values),
                               non_finite ? NonFinite::kTaken : NonFinite::kRefused),
                    SparseOptions{format, half});
  }

  std::string format() const { return matrix_->format(); }
  std::size_t bytes() const { return matrix_->bytes(); }
  std::string device() const { return matrix_->queue().device().name; }
  std::uint64_t uploaded() const { return matrix_->queue().uploaded(); }

  /// The product with the columns of x.
  Array2<float> product(const Plane<float>& x, bool transposed) const {
    check_process();
    const std::size_t rows = transposed ? matrix_->cols() : matrix_->rows();
    const std::size_t vectors = x.shape(1);
    std::vector<float> y(rows * vectors);
    {
      const Released release;
      if (vectors > 0) {
        matrix_->multiply(span_of(x), y, {.transposed = transposed, .vectors = vectors});
      }
    }
    return array_of(std::move(y), static_cast<int>(rows), static_cast<int>(vectors));
  }

  Described rate(int repeats) const {
    check_process();
    ProductRate found;
    {
      const Released release;
      found = measure_product(*matrix_.operator->(), repeats);
    }
    Described result;
    result["milliseconds"] = found.milliseconds;
    result["gflops"] = found.gflops;
    result["gigabytes_per_second"] = found.gigabytes_per_second;
    result["copy_gigabytes_per_second"] = found.copy;
    result["share_of_copy"] = found.share_of_copy();
    return result;
  }

  Described pairs(int which, int count, double tolerance, int products, nb::object progress) const {
    check_process();
    const EigenpairOptions options{static_cast<Which>(which), count, tolerance, products};
    Eigenpairs found = follow(std::move(progress), [&](Follower& follower) {
      return eigenpairs(*matrix_.operator->(), options, follower.watch());
    });
    Described result;
    const int rows = static_cast<int>(found.vectors.size());
    const int length = static_cast<int>(matrix_->rows());
    result["values"] = array_of(std::move(found.values));
    result["vectors"] = array_of(joined(std::move(found.vectors)), rows, length);
    result["residuals"] = array_of(std::move(found.residuals));
    result["converged"] = found.converged;
    result["solver"] = found.solver;
    result["products"] = found.products;
    return result;
  }

  Described system(const Line<float>& b, const Line<float>& x, double tolerance, int iterations,
                   nb::object progress) const {
    check_process();
    std::vector<float> solution(x.data(), x.data() + x.size());
    const SystemReport report = follow(std::move(progress), [&](Follower& follower) {
      return conjugate_gradients(*matrix_.operator->(), span_of(b), solution, tolerance, iterations,
                                 follower.watch());
    });
    Described result;
    result["x"] = array_of(std::move(solution));
    result["iterations"] = report.iterations;
    result["residual"] = report.residual;
    result["converged"] = report.converged;
    return result;
  }

 private:
  OfOneProcess<SparseMatrix> matrix_;
};

}  // namespace

void bind_sparse(nb::module_& module) {
  nb::class_<SparseQueue>(module, "SparseQueue", "A device that matrices lie on.")
      .def(nb::init<const std::string&, const nb::bytes&, std::uint64_t>(), "device"_a,
           "kernel_dir"_a, "memory"_a);
  nb::class_<SparseEngine>(module, "SparseEngine", "A sparse matrix on a device.")
      .def(
          nb::init<const SparseQueue&, std::size_t, std::size_t, const Line<std::int64_t>&,
                   const Line<std::int64_t>&, const Line<float>&, const std::string&, bool, bool>(),
          "queue"_a, "rows"_a, "cols"_a, "starts"_a, "columns"_a, "values"_a, "format"_a, "half"_a,
          "non_finite"_a)
      .def_prop_ro("format", &SparseEngine::format)
      .def_prop_ro("bytes", &SparseEngine::bytes)
      .def_prop_ro("device", &SparseEngine::device)
      .def_prop_ro("uploaded", &SparseEngine::uploaded)
      .def("product", &SparseEngine::product, "x"_a, "transposed"_a)
      .def("rate", &SparseEngine::rate, "repeats"_a)
      .def("pairs", &SparseEngine::pairs, "which"_a, "count"_a, "tolerance"_a, "products"_a,
           "progress"_a.none())
      .def("system", &SparseEngine::system, "b"_a, "x"_a, "tolerance"_a, "iterations"_a,
           "progress"_a.none());
}

}  // namespace diacut::python
