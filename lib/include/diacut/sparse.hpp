#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"

/// @file
/// Sparse matrices on an OpenCL device: products, eigenpairs, linear systems.

// OpenCL's handles, as CL/cl.h names what cl_context, cl_device_id, cl_mem and cl_event point to.
struct _cl_context;
struct _cl_device_id;
struct _cl_mem;
struct _cl_event;

namespace diacut {

/// A device and a queue of commands on it, for matrices that work together. Copies share it.
class DeviceQueue {
 public:
  /// Opens a device. Takes what choose_device() takes, and throws what it throws. `kernel_dir`: as
  /// Segmenter takes it.
  explicit DeviceQueue(const std::string& device = {}, const std::string& kernel_dir = {});
  /// A queue on a device of an OpenCL context that the program has made, whose buffers products
  /// then read and write. Throws InputError where the context has no such device, DeviceError.
  DeviceQueue(_cl_context* context, _cl_device_id* device);

  const DeviceInfo& device() const;  ///< The device that computes.
  _cl_context* context() const;      ///< The context whose buffers products take.
  /// Bytes that the host has written to the device by this queue so far.
  std::uint64_t uploaded() const;
  /// Limits the device memory that matrices take. `bytes`: the limit; 0: the device's own.
  void limit_memory(std::uint64_t bytes);
  /// Waits for all products.
  void finish();

  struct State;                             ///< For the library.
  State& state() const { return *state_; }  ///< For the library.

 private:
  std::shared_ptr<State> state_;
};

/// A sparse matrix by rows on the host: row r has the entries starts[r] to starts[r + 1] of
/// `columns` (ascending, each once) and `values`. Explicit zeros are entries. Rows may be empty,
/// and so may the matrix.
struct CsrMatrix {
  std::size_t rows = 0;                     ///< At most 2^31 - 1.
  std::size_t cols = 0;                     ///< At most 2^31 - 1.
  std::vector<std::uint64_t> starts = {0};  ///< rows + 1 positions.
  std::vector<std::uint32_t> columns;       ///< Column of each entry.
  std::vector<float> values;                ///< Value of each entry.

  /// Entries of the matrix.
  std::size_t nonzeros() const { return columns.size(); }
  /// Entries of a row.
  std::size_t row_length(std::size_t row) const { return starts[row + 1] - starts[row]; }
  bool operator==(const CsrMatrix&) const = default;  ///< Whether all members are equal.
};

/// Whether a matrix may have numbers that are NaN or infinite.
enum class NonFinite {
  kRefused,  ///< No.
  kTaken,    ///< Yes: products then have them too.
};

/// A matrix from the arrays of scipy.sparse.csr_array. Columns come in any order; entries of one
/// place are summed. Throws InputError, which names row and column: sizes that differ, starts that
/// descend, columns out of range, numbers that are not finite, too many rows or columns.
CsrMatrix csr_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> starts,
                     std::span<const std::int64_t> columns, std::span<const float> values,
                     NonFinite non_finite = NonFinite::kRefused);
/// As that, from the arrays of scipy.sparse.coo_array.
CsrMatrix coo_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> row_of,
                     std::span<const std::int64_t> column_of, std::span<const float> values,
                     NonFinite non_finite = NonFinite::kRefused);
/// As that, from the arrays of scipy.sparse.dia_array: values[d * length + column] is the entry of
/// that column on the diagonal offsets[d], which is column - row. Zeros are no entries. Offsets in
/// any order, each once.
CsrMatrix dia_matrix(std::size_t rows, std::size_t cols, std::span<const std::int64_t> offsets,
                     std::span<const float> values, NonFinite non_finite = NonFinite::kRefused);
/// A matrix from a Matrix Market file of the format `coordinate`. Throws InputError naming file and
/// line.
CsrMatrix read_matrix_market(const std::string& path);

/// Part of an OpenCL buffer. A first element of 0, or elsewhere than on PoCL at a multiple of
/// CL_DEVICE_MEM_BASE_ADDR_ALIGN, costs nothing; others are copied on the device.
struct DeviceVector {
  _cl_mem* buffer = nullptr;  ///< Of floats.
  std::size_t first = 0;      ///< Its first element, floats.
};

/// What multiply() computes: y = alpha A x + beta y.
struct ProductForm {
  float alpha = 1;          ///< Factor of the product.
  float beta = 0;           ///< Factor of the old y; with 0 it is not read.
  bool transposed = false;  ///< By the transposed matrix. The first such product makes it.
  /// Vectors at once, which lie side by side: element i of vector c is x[i * vectors + c]. For
  /// vectors on a device 1 or a multiple of 4.
  std::size_t vectors = 1;
};

/// A matrix on a device, and products with it. Any number of threads may multiply by matrices of a
/// queue at a time: they take turns. An object that was moved from is fit for destruction only.
class DeviceMatrix {
 public:
  virtual ~DeviceMatrix();
  DeviceMatrix(DeviceMatrix&& other) noexcept;             ///< Takes over the other's memory.
  DeviceMatrix& operator=(DeviceMatrix&& other) noexcept;  ///< As that constructor.

  const DeviceQueue& queue() const;   ///< Where it lies.
  std::size_t rows() const;           ///< Of the matrix.
  std::size_t cols() const;           ///< Of the matrix.
  std::size_t nonzeros() const;       ///< Entries; of a DiagonalMatrix all of its diagonals'.
  const std::string& format() const;  ///< Format and kernel: "csr/stream", "dia/compiled".
  /// Bytes that a product reads and writes at least: the stored matrix and both vectors once.
  std::size_t bytes() const;

  /// The product with vectors on the host. Waits. Throws InputError for vectors of another size,
  /// ConfigError for a form that this matrix has not, DeviceError.
  void multiply(std::span<const float> x, std::span<float> y, const ProductForm& form = {}) const;
  std::vector<float> multiply(std::span<const float> x) const;  ///< A x.
  /// The product with vectors on the device, which do not overlap. Enqueues, after the commands
  /// `after`, and returns. `done`: receives an event, which the caller releases. Throws as the
  /// other, and InputError for buffers of another context or too small.
  void multiply(const DeviceVector& x, const DeviceVector& y, const ProductForm& form = {},
                std::span<_cl_event* const> after = {}, _cl_event** done = nullptr) const;

  struct State;                             ///< For the library.
  State& state() const { return *state_; }  ///< For the library.

 protected:
  explicit DeviceMatrix(std::unique_ptr<State> state);  ///< For what derives.

 private:
  std::unique_ptr<State> state_;
};

/// How a matrix is stored.
struct SparseOptions {
  /// A format of docs/sparse.md ("csr"), or a format and a kernel ("csr/stream"). Empty: several
  /// formats and sums of them are timed, as the device's profile proposes, and the fastest stays.
  /// Sums then have an order that may change from run to run.
  std::string format;
  /// Numbers in 16 bits, relative to a power of two: they are rounded by at most 2^-11 where they
  /// are more than 2^-29 of the largest.
  bool half = false;
};

/// A sparse matrix of any shape, in the format that suits it and the device. The matrix by rows
/// stays in main memory too.
class SparseMatrix : public DeviceMatrix {
 public:
  /// Throws InputError for a matrix that is not as CsrMatrix says, or does not suit the format;
  /// ConfigError for a format that does not exist; DeviceMemoryError, which says by how much, where
  /// the matrix does not fit the device; DeviceError.
  SparseMatrix(const DeviceQueue& queue, CsrMatrix matrix, const SparseOptions& options = {});
};

/// A square matrix by its diagonals, as docs/matrix.md describes it, by one of the kernels there.
class DiagonalMatrix : public DeviceMatrix {
 public:
  /// values[d * rows + row] multiplies x[row + offsets[d]]; what would multiply something beyond
  /// the vector does not count. Throws InputError for arrays of wrong sizes, ConfigError where the
  /// kernel cannot be used, DeviceError.
  DiagonalMatrix(const DeviceQueue& queue, std::size_t rows, std::vector<std::int64_t> offsets,
                 std::span<const float> values, MatvecKind kernel = MatvecKind::kAuto);
  /// By diagonals on the device, pitch(rows) elements apart, which the matrix refers to where
  /// DeviceVector costs nothing. Elements beyond the rows are 0.
  DiagonalMatrix(const DeviceQueue& queue, std::size_t rows, std::vector<std::int64_t> offsets,
                 const DeviceVector& values, MatvecKind kernel = MatvecKind::kAuto);

  static std::size_t pitch(std::size_t rows);  ///< Elements from a diagonal to the next.
};

/// The measured speed of a product.
struct ProductRate {
  double milliseconds = 0;          ///< Median time of a product among many.
  double gflops = 0;                ///< Billions of operations a second, two for each entry.
  double gigabytes_per_second = 0;  ///< DeviceMatrix::bytes() by the time.
  double copy = 0;  ///< Gigabytes a second that a copy on the device reads and writes.
  /// The bandwidth as a share of that of a copy.
  double share_of_copy() const { return copy > 0 ? gigabytes_per_second / copy : 0; }
};

/// Measures products with one vector; the first call on a queue measures a copy too. `repeats`:
/// number of batches, whose median is returned.
ProductRate measure_product(const DeviceMatrix& matrix, int repeats = 9);

/// Which eigenvalues are wanted.
enum class Which {
  kLargest,    ///< "LA" of scipy.sparse.linalg.eigsh.
  kSmallest,   ///< "SA".
  kMagnitude,  ///< "LM": those of largest magnitude.
};

/// How eigenpairs() computes.
struct EigenpairOptions {
  Which which = Which::kLargest;  ///< The eigenvalues that are wanted.
  int count = 6;                  ///< Pairs, 1 to the number of rows.
  /// The norm |A x - lambda x| of a converged pair, in units of the matrix's norm. Below 5e-7
  /// float32 does not reach.
  double tolerance = 1e-5;
  int max_products = 100'000;  ///< Products after which the solver gives up.
};

/// Eigenpairs of a symmetric matrix.
struct Eigenpairs {
  std::vector<double> values;  ///< Eigenvalues, ascending.
  std::vector<std::vector<float>>
      vectors;                    ///< Unit vectors, the entry of largest magnitude positive.
  std::vector<double> residuals;  ///< |A x - lambda x|.
  bool converged = false;         ///< Whether all are within the tolerance.
  std::string solver;             ///< "lanczos" or, for small matrices, "dense".
  std::string format;             ///< As DeviceMatrix::format().
  std::int64_t products = 0;      ///< Products with the matrix.
};

/// Computes eigenpairs by thick-restart Lanczos on the device. The matrix is taken to be symmetric;
/// a SparseMatrix is checked. Throws InputError where it is not square or not symmetric (naming an
/// entry), ConfigError for options out of range, NumericalError, DeviceError, CancelledError.
Eigenpairs eigenpairs(const DeviceMatrix& matrix, const EigenpairOptions& options = {},
                      const Watch& watch = {});

/// How a linear system was solved.
struct SystemReport {
  int iterations = 0;      ///< Iterations, each with one product.
  double residual = 0;     ///< The relative residual |b - A x| / |b|.
  bool converged = false;  ///< Whether `residual` is within the tolerance.
};

/// Solves A x = b, A symmetric and positive definite, by conjugate gradients on the device with the
/// inverse of the main diagonal as the preconditioner. `x`: where the iteration starts, then the
/// solution. `tolerance`: of |b - A x| / |b|. Throws InputError for a matrix that is not square or
/// has a diagonal entry that is not positive, and vectors of another size; NumericalError where the
/// matrix is not positive definite; DeviceError; CancelledError.
SystemReport conjugate_gradients(const DeviceMatrix& matrix, std::span<const float> b,
                                 std::span<float> x, double tolerance = 1e-5,
                                 int max_iterations = 10'000, const Watch& watch = {});

}  // namespace diacut
