// The steps of LOBPCG on blocks of vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"

namespace diacut {

namespace {

constexpr int kLobpcgChecksColumns = 24;
constexpr std::size_t kLobpcgChecksWide = kLobpcgChecksColumns;
/// More than a work-group takes, and no multiple of it.
constexpr std::size_t kLobpcgChecksRows = 1259;

Workspace workspace_for(Trial& trial, const BlockShape& shape) {
  return {trial.context(), shape.columns, std::max(shape.room, shape.rows)};
}

void sums_of_columns(Trial& trial) {
  Workspace workspace(trial.context(), kLobpcgChecksColumns, kLobpcgChecksRows);
  const std::vector<float> x = trial.normal(kLobpcgChecksRows * kLobpcgChecksWide);
  ColumnSums sums(workspace);
  const std::vector<double> found =
      sums.compute(trial.uploaded(x), {kLobpcgChecksRows, kLobpcgChecksRows});
  TermSums expected(kLobpcgChecksWide);
  for (std::size_t at = 0; at < x.size(); ++at) expected.add(at % kLobpcgChecksWide, x[at]);
  for (std::size_t c = 0; c < kLobpcgChecksWide; ++c) {
    trial.expect_one("sum of a column", found[c], expected.values[c],
                     kFloatsSummed * Trial::kEps * expected.magnitudes[c]);
  }
}

}  // namespace

void check_peaks(Trial& trial, const BlockShape& shape) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  Peaks peaks(workspace);
  const std::vector<float> x = trial.normal(shape.rows * wide);
  const Guarded<float> x_in(trial.context(), x);
  Guarded<float> scratch(trial.context(), x.size());
  const std::vector<float> found = peaks.compute(*x_in, {shape.rows, shape.rows}, *scratch);
  std::vector<float> expected(wide, 0.0F);
  for (std::size_t at = 0; at < x.size(); ++at) {
    float& peak = expected[at % wide];
    if (std::abs(x[at]) > std::abs(peak)) peak = x[at];
  }
  trial.expect_same("largest entry of a column", found, expected);
  trial.expect_same("block of which the largest entries are", x_in.values(), x);
}

void check_block_columns(Trial& trial, const BlockShape& shape) {
  constexpr std::size_t kInserted = 5;
  const std::size_t wide = at_size(shape.columns);
  const std::size_t rows = shape.rows;
  BlockColumns columns(trial.context(), shape.columns);
  std::vector<float> block = trial.normal(rows * wide);
  const std::vector<float> vector = trial.normal(rows);
  Guarded<float> device_block(trial.context(), block);
  columns.insert(*Guarded<float>(trial.context(), vector), trial.uploaded(std::vector<float>{7, 2}),
                 1, 1, rows, kInserted, *device_block);
  for (std::size_t i = 0; i < rows; ++i) block[i * wide + kInserted] = 2 * vector[i];
  trial.expect_same("column put in", device_block.values(), block);
  const std::vector<std::int32_t> wanted = {1, 2, 3, 7, -5, 6, 4};
  const std::size_t pitch = round_up(rows, 32) + 32;
  Uploads uploads(trial.context());
  Guarded<float> basis(trial.context(), wanted.size() * pitch);
  const int count = static_cast<int>(wanted.size());
  columns.extract(*device_block, {0, rows, uploads.put(wanted), 0, count}, pitch, *basis);
  std::vector<float> expected(wanted.size() * pitch, 0.0F);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::size_t from = at_size(std::abs(wanted[k]) - 1);
    for (std::size_t i = 0; i < rows; ++i) {
      expected[k * pitch + i] = (wanted[k] < 0 ? -1.0F : 1.0F) * block[i * wide + from];
    }
  }
  trial.expect_same("column taken out", basis.values(), expected);
}

namespace {

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
  TermSums expected(kLobpcgChecksRows * width);
  for (std::size_t at = 0; at < expected.values.size(); ++at) {
    if (chosen[at % width] < 0) continue;
    const std::size_t column = at_size(chosen[at % width]);
    const std::size_t from = at / width * kLobpcgChecksWide + column;
    expected.add(at, product[from]);
    expected.add(at, -static_cast<double>(theta[column]) * x[from]);
  }
  trial.expect("residual", r.download(), expected, 2);
}

}  // namespace

void check_residual_norms(Trial& trial, const BlockShape& shape) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  Residuals residuals(workspace);
  const std::vector<float> x = trial.normal(shape.rows * wide);
  const std::vector<float> product = trial.normal(shape.rows * wide);
  const std::vector<float> theta = trial.normal(wide);
  const Guarded<float> x_in(trial.context(), x);
  const Guarded<float> product_in(trial.context(), product);
  const std::vector<double> norms = residuals.norms(
      *x_in, *product_in, upload_ritz_values(workspace, theta), {shape.rows, shape.rows});
  Trial::require(norms.size() == wide, "there is another number of norms");
  for (std::size_t c = 0; c < wide; ++c) {
    double squares = 0;
    double lost = 0;  // What of the norm the two roundings of an entry may make.
    for (std::size_t i = c; i < x.size(); i += wide) {
      const double part = static_cast<double>(theta[c]) * x[i];
      squares += (product[i] - part) * (product[i] - part);
      lost += std::pow(2 * Trial::kEps * (std::abs(part) + std::abs(product[i])), 2);
    }
    trial.expect_one("norm of a residual", norms[c], std::sqrt(squares),
                     34 * Trial::kEps * std::sqrt(squares) + std::sqrt(lost));
  }
  trial.expect_same("block of which the residuals are", product_in.values(), product);
}

void check_projection(Trial& trial, const BlockShape& shape) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  const int width = workspace.narrow_columns(shape.wanted);
  std::vector<float> x = trial.normal(shape.rows * wide);
  for (std::size_t at = 3; at < x.size(); at += wide) x[at] = 0;  // Takes nothing.
  const std::vector<float> w = trial.normal(shape.rows * at_size(width));
  const Guarded<float> x_in(trial.context(), x);
  Guarded<float> block(trial.context(), w);
  Projection(workspace).apply(*x_in, width, {shape.rows, shape.rows}, *block);
  TermSums expected(w);
  for (int c = 0; c < shape.columns; ++c) {
    const std::vector<double> from = column_of(x, shape.columns, c);
    const double norm = dot_product(from, from).first;
    if (norm == 0) continue;
    for (int k = 0; k < width; ++k) {
      const auto [dot, dot_magnitude] = dot_product(from, column_of(w, width, k));
      for (std::size_t row = 0; row < shape.rows; ++row) {
        const std::size_t at = row * at_size(width) + at_size(k);
        expected.values[at] -= dot / norm * from[row];
        expected.magnitudes[at] += dot_magnitude / norm * std::abs(from[row]);
      }
    }
  }
  // 34 roundings of a dot product and of a norm, each one more as they become floats, one of the
  // quotient, and a sum of 25 terms.
  trial.expect("projection", block.values(), expected, 2 * (34 + 1) + 1 + 25);
  trial.expect_same("block that is projected on", x_in.values(), x);
}

void check_gram_matrices(Trial& trial, const BlockShape& shape, int used, int known) {
  Workspace workspace = workspace_for(trial, shape);
  GramKernels kernels(workspace);
  const int width = workspace.narrow_columns(shape.wanted);
  const std::array<int, 3> wide = {shape.columns, width, width};
  std::vector<std::vector<float>> host;
  std::vector<Guarded<float>> blocks;
  for (std::size_t b = 0; b < 6; ++b) {
    host.push_back(trial.normal(shape.rows * at_size(wide[b % 3])));
    blocks.emplace_back(trial.context(), host.back());
  }
  const auto is_known = [known](int block) { return (known >> block & 1) != 0; };
  const auto product_of = [&](int b) { return is_known(b) ? &*blocks[at_size(3 + b)] : nullptr; };
  const GramMatrices found =
      kernels
          .compute(
              {&*blocks[0], used > 1 ? &*blocks[1] : nullptr, used > 2 ? &*blocks[2] : nullptr},
              {product_of(0), product_of(1), product_of(2)}, width, {shape.rows, shape.rows})
          .front();
  Trial::require(found.side == shape.columns + (used - 1) * width,
                 "the Gram matrix has another size");
  // place[i]: the block that holds column i of the basis, and its column in that block.
  std::vector<std::pair<int, int>> place;
  for (int b = 0; b < used; ++b) {
    for (int k = 0; k < wide[at_size(b)]; ++k) place.emplace_back(b, k);
  }
  const auto column = [&](int block, int at) {
    return column_of(host[at_size(block)], wide[at_size(block % 3)], at);
  };
  const auto expect_dot = [&](const std::vector<double>& gram, int i, int j, double expected,
                              double magnitude) {
    const double value = gram[at_size(i * found.side + j)];
    trial.expect_one("dot product", value, expected, 34 * Trial::kEps * magnitude);
    trial.expect_one("transposed dot product", gram[at_size(j * found.side + i)], value, 0);
  };
  for (int i = 0; i < found.side; ++i) {
    for (int j = i; j < found.side; ++j) {
      const auto [left_block, left] = place[at_size(i)];
      const auto [right_block, right] = place[at_size(j)];
      const auto [sum, magnitude] =
          dot_product(column(left_block, left), column(right_block, right));
      expect_dot(found.self, i, j, sum, magnitude);
      // Of a product that is not given, the other one.
      const bool turned = !is_known(right_block);
      const bool given = !turned || is_known(left_block);
      // In tiles on the diagonal both halves are computed, and the later one is kept.
      if (given && left_block == right_block && left / 8 == right / 8 && i != j) continue;
      std::pair<double, double> product{0, 0};
      if (given && turned) {
        product = dot_product(column(right_block, right), column(3 + left_block, left));
      } else if (given) {
        product = dot_product(column(left_block, left), column(3 + right_block, right));
      }
      expect_dot(found.product, i, j, product.first, product.second);
    }
  }
}

void check_basis_update(Trial& trial, const BlockShape& shape, int used) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  const auto width = at_size(workspace.narrow_columns(shape.wanted));
  // Every other column, as long as there is room for another one.
  std::vector<std::int32_t> places(wide + 1, -1);
  std::int32_t kept = 0;
  for (std::size_t c = 1; c < wide && at_size(kept) + 1 < width; c += 2) places[c] = kept++;
  places[wide] = kept;
  const std::array<std::size_t, 3> own = {wide, width, width};
  std::vector<std::vector<float>> host;
  std::vector<Guarded<float>> blocks;
  for (std::size_t b = 0; b < 3; ++b) {
    host.push_back(trial.normal(shape.rows * own[b]));
    // A block that is not used is not read.
    if (b < at_size(used)) {
      blocks.emplace_back(trial.context(), host.back());
    } else {
      blocks.emplace_back(trial.context(), host.back().size());
    }
  }
  const std::vector<float> q = trial.normal((wide + at_size(used - 1) * width) * wide);
  Guarded<float> next(trial.context(), shape.rows * width);
  const Rotation rotation = upload_rotation(workspace, std::vector<float>(wide, NAN), places, q);
  BasisUpdate(workspace).apply(rotation, *blocks[0], used > 1 ? &*blocks[1] : nullptr,
                               used > 2 ? &*blocks[2] : nullptr, static_cast<int>(width),
                               {shape.rows, shape.rows}, *next);
  TermSums sum(shape.rows * wide);
  TermSums direction(shape.rows * width);
  std::size_t before = 0;
  for (std::size_t b = 0; b < at_size(used); ++b) {
    for (std::size_t at = 0; at < sum.values.size(); ++at) {
      const std::size_t row = at / wide;
      const std::int32_t place = places[at % wide];
      for (std::size_t c = 0; c < own[b]; ++c) {
        const double term =
            static_cast<double>(host[b][row * own[b] + c]) * q[(before + c) * wide + at % wide];
        sum.add(at, term);
        if (b != 0 && place >= 0) direction.add(row * width + at_size(place), term);
      }
    }
    before += own[b];
  }
  const double roundings = 3.0 * shape.columns + 2;
  trial.expect("Ritz vectors", blocks[0].values(), sum, roundings);
  if (used == 1) return;
  trial.expect("directions", next.values(), direction, roundings);
  trial.expect_same("corrections", blocks[1].values(), host[1]);
}

std::vector<DeviceCheck> lobpcg_checks() {
  constexpr static BlockShape kShape{kLobpcgChecksColumns, 10, kLobpcgChecksRows};
  return {
      {"sums of columns", sums_of_columns},
      {"largest entries of columns", [](Trial& trial) { check_peaks(trial, kShape); }},
      {"columns into and out of a block", [](Trial& trial) { check_block_columns(trial, kShape); }},
      {"columns gathered", gathered_columns},
      {"residuals of Ritz pairs",
       [](Trial& trial) {
         residuals_of_columns(trial);
         check_residual_norms(trial, kShape);
       }},
      {"projection of columns", [](Trial& trial) { check_projection(trial, kShape); }},
      {"Gram matrices", [](Trial& trial) { check_gram_matrices(trial, kShape, 2, 2); }, true},
      {"Ritz vectors and directions", [](Trial& trial) {
         check_basis_update(trial, {kLobpcgChecksColumns, kLobpcgChecksColumns, kLobpcgChecksRows},
                            3);
       }}};
}

}  // namespace diacut
