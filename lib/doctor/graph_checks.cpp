// Products with the matrix of a graph, and its eigenvectors.
#include <cmath>
#include <utility>

#include "doctor/checks.hpp"
#include "graph/graph_product.hpp"

namespace diacut {

namespace {

constexpr int kColumns = 24;
constexpr std::size_t kWide = kColumns;
constexpr std::size_t kRows = 129;

/// Rows of no to six entries, and some so long that they are cut into pieces.
HostCsr drawn_matrix(Trial& trial) {
  HostCsr matrix;
  const std::vector<float> drawn = trial.uniform(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t wanted = row % 25 == 3 ? 1025 : static_cast<std::size_t>(7 * drawn[row]);
    for (const float value : trial.uniform(wanted)) {
      matrix.columns.push_back(static_cast<std::uint32_t>(value * (kRows - 1)));
      matrix.values.push_back(value);
    }
    matrix.starts.push_back(static_cast<std::uint32_t>(matrix.columns.size()));
  }
  return matrix;
}

/// Sums over rows of value * term(row, column, c), and of their magnitudes times the roundings of
/// such a row.
struct RowSums {
  std::vector<double> sums = std::vector<double>(kRows * kWide, 0.0);
  std::vector<double> errors = std::vector<double>(kRows * kWide, 0.0);

  template <class Term>
  RowSums(const HostCsr& matrix, const Term& term) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const double roundings = 6.0 + matrix.starts[row + 1] - matrix.starts[row];
      for (std::uint32_t at = matrix.starts[row]; at < matrix.starts[row + 1]; ++at) {
        for (std::size_t c = 0; c < kWide; ++c) {
          const double value =
              static_cast<double>(matrix.values[at]) * term(row, matrix.columns[at], c);
          sums[row * kWide + c] += value;
          errors[row * kWide + c] += roundings * Trial::kEps * std::abs(value);
        }
      }
    }
  }
};

void products_with_graphs(Trial& trial) {
  const HostCsr matrix = drawn_matrix(trial);
  const std::vector<float> x = trial.normal(kRows * kWide);
  const std::vector<float> own = trial.normal(kRows * kWide);
  const std::vector<float> factors = trial.uniform(kRows);
  const Buffer<float> x_in = trial.uploaded(x);
  const Buffer<float> own_in = trial.uploaded(own);
  const Buffer<float> factors_in = trial.uploaded(factors);
  const DeviceCsr on_device(trial.context(), matrix);
  GraphProduct product(trial.context(), kColumns);
  Buffer<float> out = trial.empty(x.size());
  product.launch(on_device,
                 {.x = &x_in,
                  .own = &own_in,
                  .other = nullptr,
                  .factors = &factors_in,
                  .keep = 0.5F,
                  .p = 2,
                  .q = -3,
                  .r = 0},
                 out, kColumns);
  const RowSums sums(matrix, [&](std::size_t, std::uint32_t column, std::size_t c) {
    return static_cast<double>(x[column * kWide + c]);
  });
  std::vector<double> expected(x.size());
  std::vector<double> allowed(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = factors[i / kWide];
    expected[i] = 0.5 * own[i] + f * (2 * sums.sums[i] - 3.0 * own[i]);
    allowed[i] = f * 2 * sums.errors[i] + 6 * Trial::kEps * (0.5 + 3 * f) * std::abs(own[i]);
  }
  trial.expect_within("product with a graph", out.download(), expected, allowed);
}

void energies_of_graphs(Trial& trial) {
  const HostCsr matrix = drawn_matrix(trial);
  const std::vector<float> y = trial.normal(kRows * kWide);
  const std::vector<float> factors = trial.uniform(kRows);
  Buffer<float> out = trial.empty(y.size());
  GraphProduct(trial.context(), kColumns)
      .energy(DeviceCsr(trial.context(), matrix), trial.uploaded(factors), trial.uploaded(y), out,
              kColumns);
  const RowSums sums(matrix, [&](std::size_t row, std::uint32_t column, std::size_t c) {
    const double difference = static_cast<double>(y[row * kWide + c]) - y[column * kWide + c];
    return static_cast<double>(factors[column]) * difference * difference;
  });
  std::vector<double> expected(y.size());
  std::vector<double> allowed(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    expected[i] = sums.sums[i] * factors[i / kWide] / 2;
    allowed[i] = sums.errors[i] * factors[i / kWide] / 2;
  }
  trial.expect_within("energy of a graph", out.download(), expected, allowed);
}

void scaled_blocks(Trial& trial) {
  const std::vector<float> a = trial.normal(kRows * kWide);
  const std::vector<float> factors = trial.uniform(kRows);
  Buffer<float> out = trial.empty(a.size());
  const Buffer<float> factors_in = trial.uploaded(factors);
  GraphProduct(trial.context(), kColumns)
      .scale(&factors_in, 0.5F, trial.uploaded(a), 0, out, kRows, kColumns);
  TermSums expected(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) expected.add(i, 0.5 * factors[i / kWide] * a[i]);
  trial.expect("scaled block", out.download(), expected, 2);
}

}  // namespace

std::vector<DeviceCheck> graph_checks() {
  return {{"products with graphs", products_with_graphs},
          {"energies of graphs", energies_of_graphs},
          {"scaled blocks", scaled_blocks}};
}

}  // namespace diacut
