// The steps of LOBPCG on blocks of vectors.
#include <algorithm>
#include <cmath>
#include <utility>

#include "doctor/block_problem.hpp"
#include "doctor/checks.hpp"
#include "eigen/lobpcg/basis_update.hpp"
#include "eigen/lobpcg/column_selection.hpp"
#include "eigen/lobpcg/column_sums.hpp"
#include "eigen/lobpcg/columns.hpp"
#include "eigen/lobpcg/gram_matrices.hpp"
#include "eigen/lobpcg/peaks.hpp"
#include "eigen/lobpcg/projection.hpp"
#include "eigen/lobpcg/residuals.hpp"
#include "eigen/lobpcg/rotation.hpp"

namespace diacut {

namespace {

constexpr int kLobpcgChecksColumns = 24;
constexpr std::size_t kLobpcgChecksWide = kLobpcgChecksColumns;
/// More than a work-group takes, and no multiple of it.
constexpr std::size_t kLobpcgChecksRows = 1259;

void sums_of_columns(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  ColumnSums sums(workspace);
  const std::vector<double> found =
      sums.compute(trial.uploaded(x), {kLobpcgChecksRows, kLobpcgChecksRows});
  for (std::size_t c = 0; c < kLobpcgChecksWide; ++c) {
    double expected = 0;
    double magnitude = 0;
    for (const double value : column_of(x, kLobpcgChecksColumns, static_cast<int>(c))) {
      expected += value;
      magnitude += std::abs(value);
    }
    trial.expect_one("sum of a column", found[c], expected,
                     kFloatsSummed * Trial::kEps * magnitude);
  }
}

void largest_entries(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  Peaks peaks(workspace);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  Buffer<float> scratch = trial.empty(x.size());
  const std::vector<float> found =
      peaks.compute(trial.uploaded(x), {kLobpcgChecksRows, kLobpcgChecksRows}, scratch);
  std::vector<float> expected(kLobpcgChecksWide, 0.0F);
  for (std::size_t at = 0; at < x.size(); ++at) {
    float& peak = expected[at % kLobpcgChecksWide];
    if (std::abs(x[at]) > std::abs(peak)) peak = x[at];
  }
  trial.expect_same("largest entry of a column", found, expected);
}

void columns_in_and_out(Trial& trial) {
  BlockColumns columns(trial.context(), kLobpcgChecksColumns);
  std::vector<float> block = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  const std::vector<float> vector = trial.normal(kLobpcgChecksRows);
  Buffer<float> device_block = trial.uploaded(block);
  columns.insert(trial.uploaded(vector), trial.uploaded(std::vector<float>{7, 2}), 1, 1,
                 kLobpcgChecksRows, 5, device_block);
  for (std::size_t i = 0; i < kLobpcgChecksRows; ++i)
    block[i * kLobpcgChecksWide + 5] = 2 * vector[i];
  trial.expect_same("column put in", device_block.download(), block);
  const std::vector<std::int32_t> wanted = {1, 6, -3};
  const std::size_t pitch = round_up(kLobpcgChecksRows, 32);
  Uploads uploads(trial.context());
  Buffer<float> basis = trial.empty(wanted.size() * pitch);
  columns.extract(device_block, {0, kLobpcgChecksRows, uploads.put(wanted), 0, 3}, pitch, basis);
  std::vector<float> expected(wanted.size() * pitch, 0.0F);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::size_t from = at_size(std::abs(wanted[k]) - 1);
    for (std::size_t i = 0; i < kLobpcgChecksRows; ++i) {
      expected[k * pitch + i] =
          (wanted[k] < 0 ? -1.0F : 1.0F) * block[i * kLobpcgChecksWide + from];
    }
  }
  trial.expect_same("column taken out", basis.download(), expected);
}

/// Columns 1, 4, 7, ... of a block, as many as there are.
std::vector<std::int32_t> every_third(std::size_t count) {
  std::vector<std::int32_t> columns(count, -1);
  for (std::size_t k = 0; 3 * k + 1 < kLobpcgChecksWide && k < count; ++k) {
    columns[k] = static_cast<std::int32_t>(3 * k + 1);
  }
  return columns;
}

void gathered_columns(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const auto width = at_size(workspace.narrow_columns(7));
  const std::vector<std::int32_t> chosen = every_third(width);
  const ColumnSelection selection = select_columns(workspace, chosen, chosen);
  const std::vector<float> p = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  Buffer<float> out = trial.empty(kLobpcgChecksRows * width);
  ColumnGather(workspace).apply(selection, trial.uploaded(p), kLobpcgChecksColumns,
                                {kLobpcgChecksRows, kLobpcgChecksRows}, out);
  std::vector<float> expected(kLobpcgChecksRows * width, 0.0F);
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const std::int32_t column = chosen[at % width];
    if (column >= 0) expected[at] = p[at / width * kLobpcgChecksWide + at_size(column)];
  }
  trial.expect_same("gathered columns", out.download(), expected);
}

void residuals_of_columns(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  Residuals residuals(workspace);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  const std::vector<float> product = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  const std::vector<float> theta = trial.normal(kLobpcgChecksWide);
  const Buffer<float> x_in = trial.uploaded(x);
  const Buffer<float> product_in = trial.uploaded(product);
  const RitzValues values = upload_ritz_values(workspace, theta);
  const auto width = at_size(workspace.narrow_columns(7));
  const std::vector<std::int32_t> chosen = every_third(width);
  Buffer<float> r = trial.empty(kLobpcgChecksRows * width);
  residuals.compute(x_in, product_in, values, select_columns(workspace, chosen, chosen),
                    {kLobpcgChecksRows, kLobpcgChecksRows}, r);
  std::vector<double> expected(kLobpcgChecksRows * width, 0.0);
  std::vector<double> magnitude(kLobpcgChecksRows * width, 0.0);
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (chosen[at % width] < 0) continue;
    const std::size_t column = at_size(chosen[at % width]);
    const std::size_t from = at / width * kLobpcgChecksWide + column;
    const double part = static_cast<double>(theta[column]) * x[from];
    expected[at] = product[from] - part;
    magnitude[at] = std::abs(part) + std::abs(product[from]);
  }
  trial.expect("residual", r.download(), expected, magnitude, 2);
  const std::vector<double> norms =
      residuals.norms(x_in, product_in, values, {kLobpcgChecksRows, kLobpcgChecksRows});
  for (std::size_t c = 0; c < kLobpcgChecksWide; ++c) {
    double squares = 0;
    double lost = 0;  // What of the norm the two roundings of an entry may make.
    for (std::size_t i = c; i < x.size(); i += kLobpcgChecksWide) {
      const double part = static_cast<double>(theta[c]) * x[i];
      squares += (product[i] - part) * (product[i] - part);
      lost += std::pow(2 * Trial::kEps * (std::abs(part) + std::abs(product[i])), 2);
    }
    trial.expect_one("norm of a residual", norms[c], std::sqrt(squares),
                     34 * Trial::kEps * std::sqrt(squares) + std::sqrt(lost));
  }
}

void projected_columns(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const int width = workspace.narrow_columns(10);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  const std::vector<float> w = trial.normal(kLobpcgChecksRows * at_size(width));
  Buffer<float> block = trial.uploaded(w);
  Projection(workspace).apply(trial.uploaded(x), width, {kLobpcgChecksRows, kLobpcgChecksRows},
                              block);
  std::vector<double> expected(w.begin(), w.end());
  std::vector<double> magnitude(w.size());
  for (std::size_t at = 0; at < w.size(); ++at) magnitude[at] = std::abs(w[at]);
  for (int c = 0; c < kLobpcgChecksColumns; ++c) {
    const std::vector<double> from = column_of(x, kLobpcgChecksColumns, c);
    double norm = 0;
    for (const double value : from) norm += value * value;
    for (int k = 0; k < width; ++k) {
      const std::vector<double> own = column_of(w, width, k);
      double dot = 0;
      double dot_magnitude = 0;
      for (std::size_t row = 0; row < kLobpcgChecksRows; ++row) {
        dot += from[row] * own[row];
        dot_magnitude += std::abs(from[row] * own[row]);
      }
      for (std::size_t row = 0; row < kLobpcgChecksRows; ++row) {
        const std::size_t at = row * at_size(width) + at_size(k);
        expected[at] -= dot / norm * from[row];
        magnitude[at] += dot_magnitude / norm * std::abs(from[row]);
      }
    }
  }
  // Roundings of a dot product, of a norm and of their quotient, and a sum of 25 terms.
  trial.expect("projection", block.download(), expected, magnitude, 2 * (34 + 1) + 1 + 25);
}

void gram_matrices(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const int width = workspace.narrow_columns(10);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  const std::vector<float> w = trial.normal(kLobpcgChecksRows * at_size(width));
  const std::vector<float> product = trial.normal(kLobpcgChecksRows * at_size(width));
  const Buffer<float> x_in = trial.uploaded(x);
  const Buffer<float> w_in = trial.uploaded(w);
  const Buffer<float> product_in = trial.uploaded(product);
  const GramMatrices found = GramKernels(workspace)
                                 .compute({&x_in, &w_in, nullptr}, {nullptr, &product_in, nullptr},
                                          width, {kLobpcgChecksRows, kLobpcgChecksRows})
                                 .front();
  const auto column = [&](int c) {
    return c < kLobpcgChecksColumns ? column_of(x, kLobpcgChecksColumns, c)
                                    : column_of(w, width, c - kLobpcgChecksColumns);
  };
  const auto expect_dot = [&](double value, const std::vector<double>& a,
                              const std::vector<double>& b) {
    double sum = 0;
    double magnitude = 0;
    for (std::size_t row = 0; row < kLobpcgChecksRows; ++row) {
      sum += a[row] * b[row];
      magnitude += std::abs(a[row] * b[row]);
    }
    trial.expect_one("dot product", value, sum, 34 * Trial::kEps * magnitude);
  };
  Trial::require(found.side == kLobpcgChecksColumns + width, "the Gram matrix has another size");
  for (int i = 0; i < found.side; ++i) {
    for (int j = i; j < found.side; ++j) {
      expect_dot(found.self[at_size(i * found.side + j)], column(i), column(j));
    }
    for (int j = 0; i < kLobpcgChecksColumns && j < width; ++j) {
      expect_dot(found.product[at_size(i * found.side + kLobpcgChecksColumns + j)], column(i),
                 column_of(product, width, j));
    }
  }
}

void updated_basis(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const auto width = at_size(workspace.narrow_columns(kLobpcgChecksColumns));
  std::vector<std::int32_t> places(kLobpcgChecksWide + 1, -1);
  std::int32_t kept = 0;
  for (std::size_t c = 1; c < kLobpcgChecksWide; c += 2) places[c] = kept++;
  places[kLobpcgChecksWide] = kept;
  const std::vector<float> blocks[] = {trial.normal(kLobpcgChecksRows * kLobpcgChecksWide),
                                       trial.normal(kLobpcgChecksRows * width),
                                       trial.normal(kLobpcgChecksRows * width)};
  const std::vector<float> q = trial.normal((kLobpcgChecksWide + 2 * width) * kLobpcgChecksWide);
  Buffer<float> x = trial.uploaded(blocks[0]);
  const Buffer<float> w = trial.uploaded(blocks[1]);
  const Buffer<float> p = trial.uploaded(blocks[2]);
  Buffer<float> next = trial.empty(kLobpcgChecksRows * width);
  const Rotation rotation =
      upload_rotation(workspace, std::vector<float>(kLobpcgChecksWide, 1.0F), places, q);
  BasisUpdate(workspace).apply(rotation, x, &w, &p, static_cast<int>(width),
                               {kLobpcgChecksRows, kLobpcgChecksRows}, next);
  std::vector<double> sum(kLobpcgChecksRows * kLobpcgChecksWide, 0.0);
  std::vector<double> sum_magnitude(kLobpcgChecksRows * kLobpcgChecksWide, 0.0);
  std::vector<double> direction(kLobpcgChecksRows * width, 0.0);
  std::vector<double> direction_magnitude(kLobpcgChecksRows * width, 0.0);
  std::size_t before = 0;
  for (std::size_t b = 0; b < 3; ++b) {
    const std::size_t own = b == 0 ? kLobpcgChecksWide : width;
    for (std::size_t at = 0; at < sum.size(); ++at) {
      const std::size_t row = at / kLobpcgChecksWide;
      const std::int32_t place = places[at % kLobpcgChecksWide];
      for (std::size_t c = 0; c < own; ++c) {
        const double term = static_cast<double>(blocks[b][row * own + c]) *
                            q[(before + c) * kLobpcgChecksWide + at % kLobpcgChecksWide];
        sum[at] += term;
        sum_magnitude[at] += std::abs(term);
        if (b == 0 || place < 0) continue;
        direction[row * width + at_size(place)] += term;
        direction_magnitude[row * width + at_size(place)] += std::abs(term);
      }
    }
    before += own;
  }
  trial.expect("Ritz vectors", x.download(), sum, sum_magnitude, 3.0 * kLobpcgChecksColumns + 2);
  trial.expect("directions", next.download(), direction, direction_magnitude,
               3.0 * kLobpcgChecksColumns + 2);
}

}  // namespace

std::vector<DeviceCheck> lobpcg_checks() {
  return {{"sums of columns", sums_of_columns},
          {"largest entries of columns", largest_entries},
          {"columns into and out of a block", columns_in_and_out},
          {"columns gathered", gathered_columns},
          {"residuals of Ritz pairs", residuals_of_columns},
          {"projection of columns", projected_columns},
          {"Gram matrices", gram_matrices, true},
          {"Ritz vectors and directions", updated_basis}};
}

}  // namespace diacut
