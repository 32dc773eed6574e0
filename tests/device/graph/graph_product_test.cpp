// Products of sparse matrices by rows with blocks of vectors: rows of all lengths, all terms.
#include "graph/graph_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"

namespace diacut::testing {
namespace {

/// A matrix whose rows have 0 to 6 entries, and some of them `longest`, of which several may be of
/// one column; and its twin in double.
struct DrawnMatrix {
  HostCsr host;
  Eigen::SparseMatrix<double, Eigen::RowMajor> values;
  Eigen::SparseMatrix<double, Eigen::RowMajor> magnitudes;
  Eigen::VectorXd lengths;  ///< Entries of a row.

  /// `least`: what values reach from, to 1.
  DrawnMatrix(std::size_t rows, std::size_t cols, std::size_t longest, double least = -1)
      : values(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols)),
        magnitudes(values),
        lengths(values.rows()) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> value(least, 1);
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t wanted = row % 5 == 3 && longest > 0 ? longest : random() % 7;
      lengths(static_cast<Eigen::Index>(row)) = static_cast<double>(wanted);
      for (std::size_t k = 0; k < wanted; ++k) {
        host.columns.push_back(static_cast<std::uint32_t>(random() % cols));
        host.values.push_back(static_cast<float>(value(random)));
        entries.emplace_back(row, host.columns.back(), host.values.back());
      }
      host.starts.push_back(static_cast<std::uint32_t>(host.columns.size()));
    }
    values.setFromTriplets(entries.begin(), entries.end());
    for (auto& each : entries) each = {each.row(), each.col(), std::abs(each.value())};
    magnitudes.setFromTriplets(entries.begin(), entries.end());
  }

  /// Magnitudes of rows' sums times as many roundings as a row has entries, and so many more.
  Rows allowed(double more, const Rows& sums) const {
    return (lengths.array() + more).matrix().asDiagonal() * sums;
  }
};

/// With the work divided as for CPUs and as for GPUs, whatever the device is.
class GraphProductTest : public BlockTest, public ::testing::WithParamInterface<DeviceKind> {
 protected:
  void expect_products(std::size_t rows, std::size_t longest, int columns) {
    SCOPED_TRACE(::testing::Message()
                 << longest << " in " << rows << ", " << columns << " columns");
    expect_right([&](Trial& trial) {
      const DrawnMatrix matrix(rows, rows + 3, longest);
      const DrawnBlock x(trial, rows + 3, columns);
      DrawnBlock own(trial, rows, columns);
      const DrawnBlock other(trial, rows, columns);
      const DrawnBlock factors(trial, rows, 1);
      Buffer<float> plain = trial.empty(own.values.size());
      Buffer<float> all = trial.empty(own.values.size());
      GraphProduct product(context_, columns, GetParam());
      const DeviceCsr on_device(context_, matrix.host);
      const GraphProduct::Terms terms{.x = &x.device,
                                      .own = &own.device,
                                      .other = &other.device,
                                      .factors = &factors.device,
                                      .keep = 0.5F,
                                      .p = 2,
                                      .q = -3,
                                      .r = 0.25F};
      product.launch(on_device, {.x = &x.device}, plain, columns);
      product.launch(on_device, terms, all, columns);
      product.launch(on_device, terms, own.device, columns);
      EXPECT_EQ(own.device.download(), all.download());  // Where it reads its own rows.
      const Rows sums = matrix.values * x.rows;
      const Rows magnitudes = matrix.magnitudes * x.rows.cwiseAbs();
      expect_block(trial, "product", plain, sums, matrix.allowed(1, magnitudes), 1);
      const auto f = factors.rows.col(0).asDiagonal();
      const Rows scale = own.rows.cwiseAbs() +
                         factors.rows.col(0).cwiseAbs().asDiagonal() *
                             Rows(2 * magnitudes + 3 * own.rows.cwiseAbs() + other.rows.cwiseAbs());
      expect_block(trial, "all terms", all,
                   0.5 * own.rows + f * Rows(2 * sums - 3 * own.rows + 0.25 * other.rows),
                   matrix.allowed(6, scale), 1);
    });
  }
};
class TinyGraphProductTest : public GraphProductTest {};

std::string kind_name(const ::testing::TestParamInfo<DeviceKind>& each) {
  return each.param == DeviceKind::kCpu ? "AsOnCpus" : "AsOnGpus";
}
const auto kKinds = ::testing::Values(DeviceKind::kCpu, DeviceKind::kGpu);
INSTANTIATE_TEST_SUITE_P(Kinds, GraphProductTest, kKinds, kind_name);
INSTANTIATE_TEST_SUITE_P(Kinds, TinyGraphProductTest, kKinds, kind_name);

TEST_P(TinyGraphProductTest, SumsRows) {
  for (const std::size_t rows : {1U, 2U, 9U}) expect_products(rows, 0, 8);
}

TEST_P(GraphProductTest, SumsRowsOfAllLengthsInBlocksOfAllWidths) {
  for (const std::size_t longest : {0U, 511U, 512U, 513U, 1025U, 3000U}) {
    for (const std::size_t rows : {1U, 63U, 64U, 65U, 257U}) expect_products(rows, longest, 24);
  }
  for (const int columns : widths(24)) expect_products(100, 700, columns);
}

TEST_P(GraphProductTest, SumsEnergies) {
  constexpr std::size_t kRows = 200;
  constexpr int kColumns = 24;
  for (const std::size_t longest : {0U, 1500U}) {
    const DrawnMatrix matrix(kRows, kRows, longest, 0);
    const DrawnBlock factors(trial_, trial_.uniform(kRows), 1);
    const DrawnBlock y(trial_, kRows, kColumns);
    Buffer<float> out = trial_.empty(y.values.size());
    GraphProduct product(context_, kColumns, GetParam());
    product.energy(DeviceCsr(context_, matrix.host), factors.device, y.device, out, kColumns);
    Rows energies = Rows::Zero(kRows, kColumns);
    for (Eigen::Index row = 0; row < energies.rows(); ++row) {
      for (decltype(matrix.values)::InnerIterator at(matrix.values, row); at; ++at) {
        energies.row(row) += factors.rows(row) / 2 * at.value() * factors.rows(at.col()) *
                             (y.rows.row(row) - y.rows.row(at.col())).cwiseAbs2();
      }
    }
    expect_block(trial_, "energy", out, energies, matrix.allowed(6, energies), 1);
  }
}

TEST_P(GraphProductTest, ScalesBlocks) {
  for (const std::size_t rows : {1U, 65U, 1000U}) {
    const DrawnBlock a(trial_, rows, 8);
    const DrawnBlock factors(trial_, rows, 1);
    Buffer<float> out = trial_.empty(a.values.size());
    GraphProduct product(context_, 8, GetParam());
    product.scale(&factors.device, 0.5F, a.device, 0, out, rows, 8);
    const Rows once = 0.5 * (factors.rows.col(0).asDiagonal() * a.rows);
    expect_block(trial_, "scaled", out, once, once.cwiseAbs(), 1);
    product.scale(nullptr, 2, a.device, 4, out, rows, 8);
    expect_block(trial_, "added", out, 2 * a.rows + 4 * once,
                 2 * a.rows.cwiseAbs() + 4 * once.cwiseAbs(), 2);
  }
}

}  // namespace
}  // namespace diacut::testing
