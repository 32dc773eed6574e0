// The public classes of matrices on a device, against products in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/sparse.hpp"
#include "opencl/cl.hpp"
#include "refusal.hpp"
#include "shared_context.hpp"
#include "sparse_matrices.hpp"
#include "spmv/generators.hpp"
#include "spmv/matrix_market.hpp"

namespace diacut::testing {
namespace {

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number;
  std::vector<float> result(count);
  for (float& each : result) each = number(random);
  return result;
}

/// Holds y to alpha A x + beta before. A sum of n products is off by at most n u times the sum of
/// their magnitudes; factors and addition cost four more roundings.
void expect_form(const CsrMatrix& matrix, const ProductForm& form, const std::vector<float>& x,
                 const std::vector<float>& before, const std::vector<float>& y) {
  const CsrMatrix by = form.transposed ? transposed(matrix) : matrix;
  ASSERT_EQ(y.size(), by.rows * form.vectors);
  for (std::size_t c = 0; c < form.vectors; ++c) {
    std::vector<double> column;
    for (std::size_t i = 0; i < by.cols; ++i) column.push_back(x[i * form.vectors + c]);
    std::vector<double> magnitude;
    const std::vector<double> product = reference_product(by, column, &magnitude);
    for (std::size_t row = 0; row < by.rows; ++row) {
      const std::size_t at = row * form.vectors + c;
      const double there = form.beta == 0 ? 0 : double{form.beta} * before[at];
      const double allowed =
          (static_cast<double>(by.row_length(row)) + 4) *
          std::ldexp(std::abs(form.alpha) * magnitude[row] + std::abs(there), -24);
      ASSERT_NEAR(y[at], form.alpha * product[row] + there, allowed) << row << ", " << c;
    }
  }
}

const std::vector<ProductForm> kForms = {{},
                                         {.alpha = -2, .beta = 0.5F},
                                         {.transposed = true},
                                         {.vectors = 3},
                                         {.beta = 1, .vectors = 8},
                                         {.alpha = 3, .transposed = true, .vectors = 4}};

void check_forms(const SparseMatrix& on_device, const CsrMatrix& matrix) {
  for (const ProductForm& form : kForms) {
    const std::size_t in = (form.transposed ? matrix.rows : matrix.cols) * form.vectors;
    const std::size_t out = (form.transposed ? matrix.cols : matrix.rows) * form.vectors;
    const std::vector<float> x = drawn(in, 1);
    const std::vector<float> before = form.beta != 0 ? drawn(out, 2) : std::vector<float>(out, NAN);
    std::vector<float> y = before;
    on_device.multiply(x, y, form);
    expect_form(matrix, form, x, before, y);
  }
}

TEST(SparseMatrix, EveryFormOfProductIsRight) {
  for (const NamedMatrix& each : tiny_matrices()) {
    SCOPED_TRACE(each.name);
    check_forms(SparseMatrix(queue(), each.matrix), each.matrix);
  }
  const CsrMatrix large = random_sparse(1501, 1283, 0.02, 7);
  for (const char* format : {"", "csr/stream", "coo", "sell", "csr", "bcsr-2x2"}) {
    SCOPED_TRACE(format);
    const SparseMatrix matrix(queue(), large, {.format = format});
    EXPECT_THAT(matrix.format(), StartsWith(format));
    EXPECT_EQ(matrix.nonzeros(), large.nonzeros());
    check_forms(matrix, large);
  }
}

TEST(SparseMatrix, NumbersOf16BitsAreTheSameInEveryForm) {
  CsrMatrix matrix = random_sparse(203, 190, 0.05, 7);
  CsrMatrix rounded = matrix;
  const float scale = half_scale(matrix.values);
  for (float& value : rounded.values) value = scale * half_value(half_bits(value / scale));
  ASSERT_NE(rounded.values, matrix.values);
  const SparseMatrix half(queue(), matrix, {.format = "csr", .half = true});
  EXPECT_LT(half.bytes(), SparseMatrix(queue(), matrix, {.format = "csr"}).bytes());
  check_forms(half, rounded);
}

/// A buffer of floats in a context.
cl::Buffer buffer_of(cl_context context, const std::vector<float>& values) {
  return {cl::Context(context, true), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
          values.size() * sizeof(float), const_cast<float*>(values.data())};
}

std::vector<float> floats_of(const cl::Buffer& buffer) {
  const auto context = buffer.getInfo<CL_MEM_CONTEXT>();
  cl::CommandQueue commands(context, context.getInfo<CL_CONTEXT_DEVICES>().front());
  std::vector<float> values(buffer.getInfo<CL_MEM_SIZE>() / sizeof(float));
  commands.enqueueReadBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(float), values.data());
  return values;
}

TEST(SparseMatrix, ReadsAndWritesBuffersOfAProgramsOwnContext) {
  const CsrMatrix host = random_sparse(501, 383, 0.05, 7);
  const cl::Context own(cl::Context(queue().context(), true).getInfo<CL_CONTEXT_DEVICES>());
  const DeviceQueue mine(own(), own.getInfo<CL_CONTEXT_DEVICES>().front()());
  const SparseMatrix matrix(mine, host, {.format = "sell"});
  for (const ProductForm& form : {ProductForm{}, ProductForm{.alpha = 2, .beta = 3},
                                  ProductForm{.transposed = true}, ProductForm{.vectors = 4}}) {
    const std::size_t in = (form.transposed ? host.rows : host.cols) * form.vectors;
    const std::size_t out = (form.transposed ? host.cols : host.rows) * form.vectors;
    // At no multiple of what a device begins buffers at, and at one.
    for (const std::size_t first : {0, 7, 1024}) {
      const std::vector<float> x = drawn(in, 1);
      const std::vector<float> before = drawn(out, 2);
      std::vector<float> long_x(first, 9.0F);
      std::vector<float> long_y = long_x;
      long_x.insert(long_x.end(), x.begin(), x.end());
      long_y.insert(long_y.end(), before.begin(), before.end());
      long_y.push_back(5);
      const cl::Buffer x_buffer = buffer_of(own(), long_x);
      const cl::Buffer y_buffer = buffer_of(own(), long_y);
      cl::UserEvent ready(own);
      cl_event done = nullptr;
      const cl_event after = ready();
      matrix.multiply({x_buffer(), first}, {y_buffer(), first}, form, {&after, 1}, &done);
      ready.setStatus(CL_COMPLETE);
      cl::Event(done).wait();
      std::vector<float> found = floats_of(y_buffer);
      EXPECT_EQ(found.back(), 5);
      found.pop_back();
      EXPECT_EQ(std::vector<float>(found.begin(), found.begin() + static_cast<int>(first)),
                std::vector<float>(first, 9.0F));
      found.erase(found.begin(), found.begin() + static_cast<int>(first));
      expect_form(host, form, x, before, found);
      EXPECT_EQ(floats_of(x_buffer), long_x);
    }
  }
}

TEST(SparseMatrix, ASecondProductUploadsItsVectorAlone) {
  const CsrMatrix host = random_sparse(1001, 1203, 0.02, 7);
  const SparseMatrix matrix(queue(), host);
  const std::vector<float> x = drawn(host.cols, 1);
  std::vector<float> y(host.rows);
  matrix.multiply(x, y);
  const std::uint64_t before = queue().uploaded();
  matrix.multiply(x, y);
  EXPECT_EQ(queue().uploaded() - before, host.cols * sizeof(float));
  const cl::Buffer in = buffer_of(queue().context(), x);
  const cl::Buffer out = buffer_of(queue().context(), y);
  matrix.multiply({in()}, {out()});
  queue().finish();
  EXPECT_EQ(queue().uploaded() - before, host.cols * sizeof(float));
  EXPECT_EQ(floats_of(out), y);
}

TEST(SparseMatrix, ThreadsTakeTurns) {
  const CsrMatrix host = random_sparse(301, 301, 0.05, 7);
  const SparseMatrix one(queue(), host);
  const SparseMatrix other(queue(), host, {.format = "coo"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> x = drawn(301, static_cast<unsigned>(t));
      for (int k = 0; k < 20; ++k) {
        std::vector<float> y(301);
        (t % 2 == 0 ? one : other).multiply(x, y);
        expect_form(host, {}, x, y, y);
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(SparseMatrix, RefusesVectorsAndBuffersThatDoNotFit) {
  const SparseMatrix matrix(queue(), random_sparse(30, 20, 0.2, 7));
  std::vector<float> x(20);
  std::vector<float> y(29);
  expect_refused([&] { matrix.multiply(x, y); },
                 "y 29, expected 20 and 30: 1 vectors by a matrix of 30 x 20");
  EXPECT_THROW(matrix.multiply(x, y, {.vectors = 0}), ConfigError);
  const cl::Buffer in = buffer_of(queue().context(), x);
  const cl::Buffer out = buffer_of(queue().context(), std::vector<float>(60));
  const auto expect_message = [&](const DeviceVector& from, const DeviceVector& to,
                                  const char* message) {
    expect_refused([&] { matrix.multiply(from, to); }, message);
  };
  expect_message({in(), 1}, {out()}, "buffer of x holds 20 numbers, expected 20 from number 1");
  expect_message({nullptr}, {out()}, "x is null");
  expect_message({out()}, {out(), 10}, "overlap");
  const cl::Context other(cl::Context(queue().context(), true).getInfo<CL_CONTEXT_DEVICES>());
  const cl::Buffer foreign = buffer_of(other(), x);
  expect_message({foreign()}, {out()}, "x belongs to another OpenCL context");
  EXPECT_THROW(matrix.multiply({in()}, {out()}, {.vectors = 3}), ConfigError);
  EXPECT_THROW(SparseMatrix(queue(), {}, {.format = "csc"}), ConfigError);
  DeviceQueue small(test_device());
  small.limit_memory(std::uint64_t{1} << 20);
  const CsrMatrix large = random_sparse(2000, 2000, 0.1, 7);
  expect_refused<DeviceMemoryError>([&] { SparseMatrix(small, large); }, "0.5 MiB more than");
}

TEST(HostMatrix, ArraysInSciPysConventions) {
  // 1 2 .
  // . . 3
  const CsrMatrix expected{2, 3, {0, 2, 3}, {0, 1, 2}, {1, 2, 3}};
  const std::vector<float> values = {2, 1, 1.5F, 1.5F};
  const std::vector<std::int64_t> starts = {0, 2, 4};
  const std::vector<std::int64_t> columns = {1, 0, 2, 2};
  EXPECT_EQ(csr_matrix(2, 3, starts, columns, values), expected);
  EXPECT_EQ(coo_matrix(2, 3, std::vector<std::int64_t>{0, 0, 1, 1}, columns, values), expected);
  // scipy.sparse.dia_array(([[9, 2, 3], [1, 0, 9]], [1, 0]), shape=(2, 3))
  EXPECT_EQ(dia_matrix(2, 3, std::vector<std::int64_t>{1, 0}, std::vector<float>{9, 2, 3, 1, 0, 9}),
            expected);
  EXPECT_EQ(transposed(transposed(expected)), expected);
  EXPECT_EQ(dia_matrix(1, 1,
                       std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                                 std::numeric_limits<std::int64_t>::min()},
                       std::vector<float>{1, 2})
                .nonzeros(),
            0U);
}

TEST(HostMatrix, RefusesWhatIsNoMatrix) {
  using Indices = std::vector<std::int64_t>;
  const std::vector<float> one = {1};
  const std::vector<float> two = {1, 2};
  const std::vector<float> bad = {1, NAN};
  struct Case {
    std::size_t rows, cols;
    Indices starts, columns;
    std::vector<float> values;
    const char* message;
  };
  for (const Case& each :
       {Case{1, 2, {0, 2}, {0, 2}, two, "entry 1 has the column 2, expected 0 to 1"},
        {1, 2, {0, 2}, {-1, 1}, two, "the column -1"},
        {2, 2, {0, 2, 1}, {0, 1}, two, "row 1 ends at 1, before its start 2"},
        {2, 2, {0, 2}, {0, 1}, two, "2 row starts, expected 3"},
        {1, 2, {0, 3}, {0, 1}, two, "2 entries, expected 3"},
        {1, 2, {0, 2}, {0, 1}, one, "1 numbers, expected 2"},
        {std::size_t{1} << 31, 2, {0}, {}, {}, "2147483648 x 2, expected at most 2147483647"},
        {1, 8, {0, 2}, {0, 7}, bad, "row 0, column 7 is nan"}}) {
    expect_refused(
        [&] { csr_matrix(each.rows, each.cols, each.starts, each.columns, each.values); },
        each.message);
  }
  const Indices ends = {0, 2};
  const Indices same = {7, 7};
  EXPECT_TRUE(std::isnan(csr_matrix(1, 8, ends, same, bad, NonFinite::kTaken).values.at(0)));
  const Indices far = {0, 5};
  const Indices near = {0, 1};
  expect_refused([&] { coo_matrix(2, 2, far, near, two); }, "entry 1 has the row 5");
  expect_refused([&] { dia_matrix(2, 2, same, two); }, "offset 7 comes");
  expect_refused([&] { dia_matrix(2, 2, near, one); }, "equally long");
  const CsrMatrix unsorted{1, 2, {0, 2}, {1, 0}, {1, 1}};
  expect_refused([&] { SparseMatrix(queue(), unsorted); }, "column 0 follows column 1 in row 0");
  // No memory is taken on the word of a header.
  const char* header = "%%MatrixMarket matrix coordinate real general\n700000000 9 0\n";
  EXPECT_THAT(message_of<InputError>([&] { parse_matrix_market(header, "small.mtx"); }),
              AllOf(HasSubstr("small.mtx:2"), HasSubstr("700000000")));
}

TEST(DiagonalMatrix, EveryKernelAndTheTransposedAreRight) {
  constexpr std::size_t kRows = 1301;
  const std::vector<std::int64_t> offsets = {-1200, -37, -1, 0, 1, 2, 40, 1300};
  const std::vector<float> values = drawn(kRows * offsets.size(), 3);
  const DiaShape shape{kRows, kRows, offsets};
  const HostDiaMatrix diagonal_major{shape, values};
  const CsrMatrix host = csr_of(diagonal_major);
  const std::vector<float> x = drawn(kRows, 1);
  const std::vector<float> before = drawn(kRows, 2);
  for (const MatvecKind kind : {MatvecKind::kAuto, MatvecKind::kNaive, MatvecKind::kAligned,
                                MatvecKind::kLocal, MatvecKind::kVectorized, MatvecKind::kImage,
                                MatvecKind::kCoarsened, MatvecKind::kUnrolled}) {
    const DiagonalMatrix matrix(queue(), kRows, offsets, values, kind);
    SCOPED_TRACE(matrix.format());
    EXPECT_EQ(matrix.nonzeros(), host.nonzeros());
    for (const ProductForm& form :
         {ProductForm{}, ProductForm{.alpha = 2, .beta = -1}, ProductForm{.transposed = true}}) {
      std::vector<float> y = before;
      matrix.multiply(x, y, form);
      expect_form(host, form, x, before, y);
    }
  }
  // Diagonals that lie on the device already give the same product.
  const std::size_t pitch = DiagonalMatrix::pitch(kRows);
  std::vector<float> pitched(pitch * offsets.size(), 0.0F);
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    std::copy_n(values.begin() + static_cast<int>(d * kRows), kRows,
                pitched.begin() + static_cast<int>(d * pitch));
  }
  const cl::Buffer diagonals = buffer_of(queue().context(), pitched);
  const DiagonalMatrix matrix(queue(), kRows, offsets, DeviceVector{diagonals()});
  expect_form(host, {}, x, before, matrix.multiply(x));
  EXPECT_THROW(DiagonalMatrix(queue(), kRows, offsets, values, MatvecKind::kSymmetric),
               ConfigError);
  const std::vector<std::int64_t> two = {0, 1};
  expect_refused([&] { DiagonalMatrix(queue(), 5, two, values); },
                 "expected 10: 2 diagonals of 5 rows");
  EXPECT_THROW(matrix.multiply(x, std::span(pitched).first(kRows), {.vectors = 4}), Error);
}

}  // namespace
}  // namespace diacut::testing
