// The steps of LOBPCG on blocks of vectors, and coarser grids: their matrices, and the transfer of
// blocks between them.
#include "known_answers.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "guarded.hpp"
#include "matrix/block.hpp"

namespace diacut::testing {

namespace {

/// Holds each number to be the one that is expected; none is NaN.
void expect_same(std::string_view what, std::span<const float> found,
                 std::span<const float> expected) {
  Trial::require(std::equal(found.begin(), found.end(), expected.begin(), expected.end()),
                 fmt::format("{}: numbers are not the ones that are expected", what));
}

Workspace workspace_for(Trial& trial, const BlockShape& shape) {
  return {trial.context(), shape.columns, std::max(shape.room, shape.rows)};
}

}  // namespace

void check_residual_norms(Trial& trial, const BlockShape& shape) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  const std::vector<float> x = trial.normal(shape.rows * wide);
  const std::vector<float> product = trial.normal(shape.rows * wide);
  const std::vector<float> theta = trial.normal(wide);
  const Guarded<float> x_in(trial.context(), x);
  const Guarded<float> product_in(trial.context(), product);
  const std::vector<double> norms = ritz_residual_norms(
      workspace, *x_in, *product_in, Uploaded(trial.context(), theta), {shape.rows, shape.rows});
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
  expect_same("block of which the residuals are", product_in.values(), product);
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
  TileProducts(workspace).project(*x_in, width, {shape.rows, shape.rows}, *block);
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
  expect_same("block that is projected on", x_in.values(), x);
}

void check_gram_matrices(Trial& trial, const BlockShape& shape, int used, int known) {
  Workspace workspace = workspace_for(trial, shape);
  TileProducts products(workspace);
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
      products
          .gram_matrices(
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
  update_basis(workspace, rotation, *blocks[0], used > 1 ? &*blocks[1] : nullptr,
               used > 2 ? &*blocks[2] : nullptr, static_cast<int>(width), {shape.rows, shape.rows},
               *next);
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
  expect_same("corrections", blocks[1].values(), host[1]);
}

namespace {

Grid coarse_grid(const Grid& fine) {
  const int width = (fine.width + 1) / 2;
  return {width, (fine.height + 1) / 2};
}

/// The gains of the interpolation (kernels/eigen/multilevel/coarsen.cl). `degrees`: of kept pixels.
std::vector<double> reference_gains(const MatrixProblem& problem, const std::vector<float>& degrees,
                                    NullSpace null_space) {
  const std::vector<double> roots(problem.sqrt_degree.begin(), problem.sqrt_degree.end());
  const std::vector<double> kept =
      null_space == NullSpace::kNone ? reference_matvec(problem.matrix, roots) : roots;
  const auto count = static_cast<Eigen::Index>(degrees.size());
  const Eigen::VectorXd sums =
      reference_interpolation(problem, std::vector<float>(roots.size(), 1)) *
      Eigen::Map<const Eigen::VectorXf>(degrees.data(), count).cast<double>();
  std::vector<double> gains;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double sum = sums(static_cast<Eigen::Index>(i));
    gains.push_back(roots[i] > 0 && sum > 0 ? kept[i] / sum : 0);
  }
  return gains;
}

/// The rows of kept pixels times the interpolation. Of hops beyond the disc, what leads between
/// kept pixels is taken over, and the rest goes to the main diagonal.
std::vector<double> reference_coarse_matrix(const MatrixProblem& problem, const Stencil& stencil,
                                            const std::vector<float>& gains,
                                            const DiaShape& shape) {
  const Grid coarse = coarse_grid(problem.grid);
  const auto& s = problem.sqrt_degree;
  std::vector<Eigen::Triplet<double>> within;
  std::vector<Eigen::Triplet<double>> beyond;
  for (int row = 0; row < static_cast<int>(coarse.rows()); ++row) {
    const int x = 2 * (row % coarse.width);
    const int y = 2 * (row / coarse.width);
    const std::size_t i = problem.element(x, y);
    for (std::size_t k = 0; k < problem.stencil.size(); ++k) {
      const StencilOffset& hop = problem.stencil.entries[k];
      if (!problem.contains(x + hop.dx, y + hop.dy)) continue;
      const std::size_t j = problem.element(x + hop.dx, y + hop.dy);
      const StencilOffset half = {hop.dx / 2, hop.dy / 2};
      if (problem.stencil.in_disc(hop)) {
        within.emplace_back(row, j, problem.entry(k, i));
      } else if (hop == StencilOffset{2 * half.dx, 2 * half.dy} &&
                 stencil.index(half) < stencil.size()) {
        beyond.emplace_back(row, row + half.dy * coarse.width + half.dx, problem.entry(k, i));
      } else {
        beyond.emplace_back(row, row, problem.entry(k, i) * s[j] / s[i]);
      }
    }
  }
  const auto rows = static_cast<Eigen::Index>(coarse.rows());
  Eigen::SparseMatrix<double> kept(rows, static_cast<Eigen::Index>(problem.rows()));
  Eigen::SparseMatrix<double> taken(rows, rows);
  kept.setFromTriplets(within.begin(), within.end());
  taken.setFromTriplets(beyond.begin(), beyond.end());
  const Eigen::SparseMatrix<double> sum =
      Eigen::SparseMatrix<double>(kept * reference_interpolation(problem, gains)) + taken;
  std::vector<double> expected(shape.stored(), 0.0);
  for (int row = 0; row < static_cast<int>(rows); ++row) {
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const int x = row % coarse.width + stencil.entries[d].dx;
      const int y = row / coarse.width + stencil.entries[d].dy;
      if (x < 0 || y < 0 || x >= coarse.width || y >= coarse.height) continue;
      expected[d * shape.pitch + at_size(row)] = sum.coeff(row, y * coarse.width + x);
    }
  }
  return expected;
}

}  // namespace

HostDiaMatrix check_coarse_matrix(Trial& trial, const MatrixProblem& problem,
                                  const NormalizedMatrix& matrix, NullSpace null_space) {
  Coarsen coarsen(trial.context(), problem.stencil, 1, null_space);
  const Grid coarse = coarse_grid(problem.grid);
  Guarded<float> gain(trial.context(), problem.rows());
  Guarded<float> kept(trial.context(), coarse.rows());
  coarsen.gains(matrix, *gain, *kept, 0);
  const std::vector<float> gains = gain.values();
  std::vector<float> degrees;
  for (int y = 0; y < problem.grid.height; y += 2) {
    for (int x = 0; x < problem.grid.width; x += 2) {
      degrees.push_back(problem.sqrt_degree[problem.element(x, y)]);
    }
  }
  const std::vector<double> expected_gains = reference_gains(problem, degrees, null_space);
  const double terms = static_cast<double>(problem.stencil.size());
  // One rounding a term of one sum or two, positive all, and a division.
  trial.expect("gain", gains, expected_gains, expected_gains,
               null_space == NullSpace::kNone ? 2 * terms + 4 : terms + 2);
  expect_same("degree of a kept pixel", kept.values(), degrees);
  Trial::require(coarsen.orphans().download() == std::vector<std::int32_t>{0},
                 "a pixel has no kept one near");
  if (matrix.form() == MatrixForm::kCompressed) return {};
  const Stencil stencil = Coarsen::coarse_stencil(problem.stencil);
  HostDiaMatrix found{dia_shape(coarse, stencil), {}};
  Guarded<float> made(trial.context(), found.shape.stored());
  coarsen.matrix(matrix, *gain, *made, found.shape.pitch);
  found.values = made.values();
  const std::vector<double> expected =
      reference_coarse_matrix(problem, stencil, gains, found.shape);
  trial.expect("coarse matrix", found.values, expected, expected, terms + 3);
  return found;
}

void check_transfer(Trial& trial, const BlockProblem& problem, const NormalizedMatrix& matrix,
                    int columns) {
  const std::size_t wide = at_size(columns);
  BlockTransfer transfer(trial.context(), problem.stencil, std::max(columns, 24), matrix.form());
  const std::vector<float> gain = trial.normal(problem.rows());
  const Eigen::SparseMatrix<double> p = reference_interpolation(problem, gain);
  const std::size_t coarse_rows = coarse_grid(problem.grid).rows();
  const std::vector<float> coarse = trial.normal(coarse_rows * wide);
  const std::vector<float> fine = trial.normal(problem.rows() * wide);
  const Buffer<float> gains = trial.uploaded(gain);
  const Guarded<float> coarse_in(trial.context(), coarse);
  const Guarded<float> fine_in(trial.context(), fine);
  Guarded<float> prolonged(trial.context(), fine.size());
  Guarded<float> added(trial.context(), fine);
  Guarded<float> restricted(trial.context(), coarse.size());
  transfer.prolong(matrix, gains, *coarse_in, false, *prolonged, columns);
  transfer.prolong(matrix, gains, *coarse_in, true, *added, columns);
  transfer.restrict_to(matrix, gains, *fine_in, 0.5F, *restricted, columns);
  TermSums up(fine.size());
  TermSums down(coarse.size());
  for (Eigen::Index column = 0; column < p.cols(); ++column) {
    for (Eigen::SparseMatrix<double>::InnerIterator at(p, column); at; ++at) {
      const auto i = static_cast<std::size_t>(at.row()) * wide;
      const auto j = static_cast<std::size_t>(column) * wide;
      for (std::size_t c = 0; c < wide; ++c) {
        up.add(i + c, at.value() * coarse[j + c]);
        down.add(j + c, 0.5 * at.value() * fine[i + c]);
      }
    }
  }
  const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
  trial.expect("prolongation", prolonged.values(), up, roundings);
  trial.expect("restriction", restricted.values(), down, roundings);
  for (std::size_t i = 0; i < fine.size(); ++i) up.add(i, fine[i]);
  trial.expect("prolongation that is added", added.values(), up, roundings);
}

}  // namespace diacut::testing
