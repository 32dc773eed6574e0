// Products of sparse matrices by rows with blocks of vectors: rows of all lengths, all terms.
#include "graph/graph_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

/// With the work divided as for CPUs and as for GPUs, whatever the device is.
class GraphProductTest : public BlockTest, public ::testing::WithParamInterface<DeviceKind> {};
class TinyGraphProductTest : public GraphProductTest {};

std::string kind_name(const ::testing::TestParamInfo<DeviceKind>& each) {
  return each.param == DeviceKind::kCpu ? "AsOnCpus" : "AsOnGpus";
}
const auto kKinds = ::testing::Values(DeviceKind::kCpu, DeviceKind::kGpu);
INSTANTIATE_TEST_SUITE_P(Kinds, GraphProductTest, kKinds, kind_name);
INSTANTIATE_TEST_SUITE_P(Kinds, TinyGraphProductTest, kKinds, kind_name);

/// Rows of 0 to 6 entries, and some of `longest`.
HostCsr random_matrix(std::size_t rows, std::size_t cols, std::size_t longest) {
  std::mt19937 random(7);
  HostCsr matrix;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t wanted = row % 5 == 3 && longest > 0 ? longest : random() % 7;
    for (std::size_t k = 0; k < wanted; ++k) {
      matrix.columns.push_back(static_cast<std::uint32_t>(random() % cols));
      matrix.values.push_back(static_cast<float>(random() % 2000) / 1000 - 1);
    }
    matrix.starts.push_back(static_cast<std::uint32_t>(matrix.columns.size()));
  }
  return matrix;
}

/// Sums over rows of value * term(row, column) in double, and of their magnitudes.
template <class Term>
std::pair<std::vector<double>, std::vector<double>> row_sums(const HostCsr& matrix, int columns,
                                                             const Term& term) {
  const auto wide = static_cast<std::size_t>(columns);
  std::vector<double> sums(matrix.rows() * wide, 0);
  std::vector<double> magnitudes(sums.size(), 0);
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::uint32_t at = matrix.starts[row]; at < matrix.starts[row + 1]; ++at) {
      for (std::size_t c = 0; c < wide; ++c) {
        const double value =
            static_cast<double>(matrix.values[at]) * term(row, matrix.columns[at], c);
        sums[row * wide + c] += value;
        magnitudes[row * wide + c] += std::abs(value);
      }
    }
  }
  return {sums, magnitudes};
}

void check_products(Context& context, DeviceKind kind, std::size_t rows, std::size_t longest,
                    int columns) {
  const auto wide = static_cast<std::size_t>(columns);
  const std::size_t cols = rows + 3;
  const HostCsr matrix = random_matrix(rows, cols, longest);
  const std::vector<float> x = random_values(cols * wide, 1);
  const std::vector<float> own = random_values(rows * wide, 2);
  const std::vector<float> other = random_values(rows * wide, 3);
  const std::vector<float> factors = random_values(rows, 4);
  Guarded<float> x_in(context, x);
  Guarded<float> own_in(context, own);
  Guarded<float> other_in(context, other);
  Guarded<float> factors_in(context, factors);
  Guarded<float> plain(context, rows * wide);
  Guarded<float> all(context, rows * wide);
  GraphProduct product(context, columns, kind);
  const DeviceCsr on_device(context, matrix);
  product.launch(on_device, {.x = &*x_in}, *plain, columns);
  product.launch(on_device,
                 {.x = &*x_in,
                  .own = &*own_in,
                  .other = &*other_in,
                  .factors = &*factors_in,
                  .keep = 0.5F,
                  .p = 2,
                  .q = -3,
                  .r = 0.25F},
                 *all, columns);
  const std::vector<float> found = plain.values();
  const std::vector<float> found_all = all.values();
  const auto [sums, magnitudes] =
      row_sums(matrix, columns, [&](std::size_t, std::uint32_t column, std::size_t c) {
        return static_cast<double>(x[column * wide + c]);
      });
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t row = i / wide;
    const auto length = static_cast<double>(matrix.starts[row + 1] - matrix.starts[row]);
    ASSERT_NEAR(found[i], sums[i], (length + 1) * kEps * magnitudes[i]) << i;
    const double f = static_cast<double>(factors[row]);
    const double o = static_cast<double>(own[i]);
    const double b = static_cast<double>(other[i]);
    const double expected = 0.5 * o + f * (2 * sums[i] - 3 * o + 0.25 * b);
    const double scale =
        std::abs(o) + std::abs(f) * (2 * magnitudes[i] + 3 * std::abs(o) + std::abs(b));
    ASSERT_NEAR(found_all[i], expected, (length + 6) * kEps * scale) << i;
  }
}

TEST_P(TinyGraphProductTest, SumsRows) {
  for (const std::size_t rows : {1U, 2U, 9U}) check_products(context_, GetParam(), rows, 0, 8);
}

TEST_P(GraphProductTest, SumsRowsOfAllLengths) {
  for (const std::size_t longest : {0U, 511U, 512U, 513U, 1025U, 3000U}) {
    for (const std::size_t rows : {1U, 63U, 64U, 65U, 257U}) {
      SCOPED_TRACE(::testing::Message() << longest << " in " << rows);
      check_products(context_, GetParam(), rows, longest, 24);
    }
  }
}

TEST_P(GraphProductTest, TakesBlocksOfAllWidths) {
  for (const int columns : widths(24)) check_products(context_, GetParam(), 100, 700, columns);
}

TEST_P(GraphProductTest, MaySendTheResultWhereItReadsItsOwnRows) {
  const HostCsr matrix = random_matrix(130, 130, 600);
  const std::vector<float> x = random_values(130 * 8, 1);
  const std::vector<float> own = random_values(130 * 8, 2);
  Guarded<float> x_in(context_, x);
  Guarded<float> apart(context_, own);
  Guarded<float> out(context_, own.size());
  GraphProduct product(context_, 8, GetParam());
  const DeviceCsr on_device(context_, matrix);
  product.launch(on_device, {.x = &*x_in, .own = &*apart, .keep = 1}, *out, 8);
  product.launch(on_device, {.x = &*x_in, .own = &*apart, .keep = 1}, *apart, 8);
  EXPECT_EQ(out.values(), apart.values());
}

TEST_P(GraphProductTest, SumsEnergies) {
  constexpr std::size_t kRows = 200;
  for (const std::size_t longest : {0U, 1500U}) {
    HostCsr matrix = random_matrix(kRows, kRows, longest);
    for (float& value : matrix.values) value = std::abs(value);
    std::vector<float> factors = random_values(kRows, 4);
    for (float& value : factors) value = std::abs(value);
    const std::vector<float> y = random_values(kRows * 24, 5);
    Guarded<float> y_in(context_, y);
    Guarded<float> factors_in(context_, factors);
    Guarded<float> out(context_, y.size());
    GraphProduct product(context_, 24, GetParam());
    product.energy(DeviceCsr(context_, matrix), *factors_in, *y_in, *out, 24);
    const auto [sums, magnitudes] =
        row_sums(matrix, 24, [&](std::size_t row, std::uint32_t column, std::size_t c) {
          const double difference =
              static_cast<double>(y[row * 24 + c]) - static_cast<double>(y[column * 24 + c]);
          return static_cast<double>(factors[column]) * difference * difference;
        });
    const std::vector<float> found = out.values();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t row = i / 24;
      const auto length = static_cast<double>(matrix.starts[row + 1] - matrix.starts[row]);
      const double factor = static_cast<double>(factors[row]) / 2;
      ASSERT_NEAR(found[i], factor * sums[i], (length + 6) * kEps * factor * sums[i]) << i;
    }
  }
}

TEST_P(GraphProductTest, ScalesBlocks) {
  for (const std::size_t rows : {1U, 65U, 1000U}) {
    const std::vector<float> a = random_values(rows * 8, 1);
    const std::vector<float> factors = random_values(rows, 2);
    Guarded<float> a_in(context_, a);
    Guarded<float> factors_in(context_, factors);
    Guarded<float> out(context_, a.size());
    GraphProduct product(context_, 8, GetParam());
    product.scale(&*factors_in, 0.5F, *a_in, 0, *out, rows, 8);
    const std::vector<float> once = out.values();
    product.scale(nullptr, 2, *a_in, 4, *out, rows, 8);
    const std::vector<float> twice = out.values();
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_FLOAT_EQ(once[i], 0.5F * factors[i / 8] * a[i]);
      ASSERT_NEAR(twice[i], 2 * a[i] + 4 * once[i],
                  kEps * (2 * std::abs(a[i]) + 4 * std::abs(once[i])));
    }
  }
}

}  // namespace
}  // namespace diacut::testing
