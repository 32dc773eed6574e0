// The steps of LOBPCG on blocks of vectors, and coarser grids: their matrices, and the transfer of
// blocks between them.
#include "known_answers.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "matrix/block.hpp"
#include "matrix/kept_rows.hpp"

namespace diacut::testing {

namespace {

Workspace workspace_for(Trial& trial, const BlockShape& shape) {
  return {trial.context(), shape.columns, std::max(shape.room, shape.rows)};
}

}  // namespace

void check_residual_norms(Trial& trial, const BlockShape& shape) {
  Workspace workspace = workspace_for(trial, shape);
  const DrawnBlock x(trial, shape.rows, shape.columns);
  const DrawnBlock product(trial, shape.rows, shape.columns);
  const std::vector<float> theta = trial.normal(at_size(shape.columns));
  const std::vector<double> norms =
      ritz_residual_norms(workspace, x.device, product.device, Uploaded(trial.context(), theta),
                          {shape.rows, shape.rows});
  Trial::require(norms.size() == theta.size(), "there is another number of norms");
  const Rows part = x.rows * rows_of(theta, 1).col(0).asDiagonal();
  const Eigen::RowVectorXd expected = (product.rows - part).colwise().norm();
  // What of the norm the two roundings of an entry may make.
  const Eigen::RowVectorXd lost =
      2 * kEps * (part.cwiseAbs() + product.rows.cwiseAbs()).colwise().norm();
  for (int c = 0; c < shape.columns; ++c) {
    trial.expect_one("norm of a residual", norms[at_size(c)], expected(c),
                     34 * kEps * expected(c) + lost(c));
  }
  product.require_unchanged();
}

void check_projection(Trial& trial, const BlockShape& shape) {
  Workspace workspace = workspace_for(trial, shape);
  const int width = workspace.narrow_columns(shape.wanted);
  std::vector<float> drawn = trial.normal(shape.rows * at_size(shape.columns));
  for (std::size_t at = 3; at < drawn.size(); at += at_size(shape.columns)) {
    drawn[at] = 0;  // Takes nothing.
  }
  const DrawnBlock x(trial, drawn, shape.columns);
  DrawnBlock w(trial, shape.rows, width);
  TileProducts(workspace).project(x.device, width, {shape.rows, shape.rows}, w.device);
  const Eigen::VectorXd norms = x.rows.colwise().squaredNorm();
  const Eigen::VectorXd inverse = (norms.array() > 0).select(norms.cwiseInverse(), 0);
  const auto projected = [&](const Rows& on, const Rows& of) -> Rows {
    return on * (inverse.asDiagonal() * (on.transpose() * of));
  };
  // 34 roundings of a dot product and of a norm, each one more as they become floats, one of the
  // quotient, and a sum of 25 terms.
  expect_block(trial, "projection", w.device, w.rows - projected(x.rows, w.rows),
               w.rows.cwiseAbs() + projected(x.rows.cwiseAbs(), w.rows.cwiseAbs()),
               2 * (34 + 1) + 1 + 25);
  x.require_unchanged();
}

void check_gram_matrices(Trial& trial, const BlockShape& shape, int used, int known) {
  Workspace workspace = workspace_for(trial, shape);
  TileProducts products(workspace);
  const int width = workspace.narrow_columns(shape.wanted);
  std::vector<DrawnBlock> blocks;
  for (int b = 0; b < 6; ++b) {
    blocks.emplace_back(trial, shape.rows, b % 3 == 0 ? shape.columns : width);
  }
  const auto is_known = [known](int block) { return (known >> block & 1) != 0; };
  const auto product_of = [&](int b) {
    return is_known(b) ? &blocks[at_size(3 + b)].device : nullptr;
  };
  const GramMatrices found =
      products
          .gram_matrices({&blocks[0].device, used > 1 ? &blocks[1].device : nullptr,
                          used > 2 ? &blocks[2].device : nullptr},
                         {product_of(0), product_of(1), product_of(2)}, width,
                         {shape.rows, shape.rows})
          .front();
  Trial::require(found.side == shape.columns + (used - 1) * width,
                 "the Gram matrix has another size");
  // The basis, and its products, 0 where they are not known.
  Rows s(blocks[0].rows.rows(), found.side);
  Rows ms = Rows::Zero(s.rows(), found.side);
  // place[i]: the block that holds column i of the basis, and its column in that block.
  std::vector<std::pair<int, int>> place;
  for (int b = 0; b < used; ++b) {
    const Rows& own = blocks[at_size(b)].rows;
    const auto first = static_cast<Eigen::Index>(place.size());
    s.middleCols(first, own.cols()) = own;
    if (is_known(b)) ms.middleCols(first, own.cols()) = blocks[at_size(3 + b)].rows;
    for (int k = 0; k < own.cols(); ++k) place.emplace_back(b, k);
  }
  const Rows self = s.transpose() * s;
  const Rows self_magnitudes = s.cwiseAbs().transpose() * s.cwiseAbs();
  const Rows product = s.transpose() * ms;
  const Rows magnitudes = s.cwiseAbs().transpose() * ms.cwiseAbs();
  const auto expect_dot = [&](const std::vector<double>& gram, int i, int j, double expected,
                              double magnitude) {
    const double value = gram[at_size(i * found.side + j)];
    trial.expect_one("dot product", value, expected, 34 * kEps * magnitude);
    trial.expect_one("transposed dot product", gram[at_size(j * found.side + i)], value, 0);
  };
  for (int i = 0; i < found.side; ++i) {
    for (int j = i; j < found.side; ++j) {
      const auto [left_block, left] = place[at_size(i)];
      const auto [right_block, right] = place[at_size(j)];
      expect_dot(found.self, i, j, self(i, j), self_magnitudes(i, j));
      const bool given = is_known(right_block);
      // In tiles on the diagonal both halves are computed, and the later one is kept.
      if (given && left_block == right_block && left / 8 == right / 8 && i != j) continue;
      // Of a product that is not given, the other one.
      const auto& [row, column] = given ? std::pair(i, j) : std::pair(j, i);
      expect_dot(found.product, i, j, product(row, column), magnitudes(row, column));
    }
  }
}

void check_basis_update(Trial& trial, const BlockShape& shape, int used) {
  const std::size_t wide = at_size(shape.columns);
  Workspace workspace = workspace_for(trial, shape);
  const int width = workspace.narrow_columns(shape.wanted);
  // Every other column, as long as there is room for another one.
  std::vector<std::int32_t> places(wide + 1, -1);
  std::int32_t kept = 0;
  for (std::size_t c = 1; c < wide && kept + 1 < width; c += 2) places[c] = kept++;
  places[wide] = kept;
  const int narrow = (used - 1) * width;
  std::vector<DrawnBlock> blocks;
  Rows s(static_cast<Eigen::Index>(shape.rows), shape.columns + narrow);
  for (int b = 0; b < 3; ++b) {
    blocks.emplace_back(trial, shape.rows, b == 0 ? shape.columns : width);
    const Rows& own = blocks.back().rows;
    if (b < used) s.middleCols(b == 0 ? 0 : shape.columns + (b - 1) * width, own.cols()) = own;
  }
  const std::vector<float> q = trial.normal(at_size(shape.columns + narrow) * wide);
  Buffer<float> next = trial.empty(shape.rows * at_size(width));
  const Rotation rotation = upload_rotation(workspace, std::vector<float>(wide, NAN), places, q);
  update_basis(workspace, rotation, blocks[0].device, used > 1 ? &blocks[1].device : nullptr,
               used > 2 ? &blocks[2].device : nullptr, width, {shape.rows, shape.rows}, next);
  const double roundings = 3.0 * shape.columns + 2;
  const Rows factors = rows_of(q, shape.columns);
  expect_block(trial, "Ritz vectors", blocks[0].device, s * factors,
               s.cwiseAbs() * factors.cwiseAbs(), roundings);
  if (used == 1) return;
  const auto directions = [&](const Rows& basis, const Rows& rotated) -> Rows {
    const Rows sums = basis.rightCols(narrow) * rotated.bottomRows(narrow);
    Rows placed = Rows::Zero(sums.rows(), width);
    for (std::size_t c = 0; c < wide; ++c) {
      if (places[c] >= 0) placed.col(places[c]) = sums.col(static_cast<Eigen::Index>(c));
    }
    return placed;
  };
  expect_block(trial, "directions", next, directions(s, factors),
               directions(s.cwiseAbs(), factors.cwiseAbs()), roundings);
  blocks[1].require_unchanged();
}

namespace {

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
  const Grid coarse = coarser(problem.grid).image;
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
  const Grid coarse = coarser(problem.grid).image;
  Buffer<float> gain = trial.empty(problem.rows());
  Buffer<float> kept = trial.empty(coarse.rows());
  coarsen.gains(matrix, gain, kept, 0);
  const std::vector<float> gains = gain.download();
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
  Trial::require(kept.download() == degrees, "a kept pixel has another degree");
  Trial::require(coarsen.orphans().download() == std::vector<std::int32_t>{0},
                 "a pixel has no kept one near");
  if (matrix.form() == MatrixForm::kCompressed) return {};
  const Stencil stencil = Coarsen::coarse_stencil(problem.stencil);
  HostDiaMatrix found{dia_shape(coarse, stencil), {}};
  Buffer<float> made = trial.empty(found.shape.stored());
  coarsen.matrix(matrix, gain, made, found.shape.pitch);
  found.values = made.download();
  const std::vector<double> expected =
      reference_coarse_matrix(problem, stencil, gains, found.shape);
  trial.expect("coarse matrix", found.values, expected, expected, terms + 3);
  return found;
}

void check_transfer(Trial& trial, const BlockProblem& problem, const NormalizedMatrix& matrix,
                    int columns) {
  BlockTransfer transfer(trial.context(), problem.stencil, std::max(columns, 24), matrix.form());
  const std::vector<float> gain = trial.normal(problem.rows());
  const Eigen::SparseMatrix<double> p = reference_interpolation(problem, gain);
  const DrawnBlock coarse(trial, static_cast<std::size_t>(p.cols()), columns);
  const DrawnBlock fine(trial, problem.rows(), columns);
  const Buffer<float> gains = trial.uploaded(gain);
  Buffer<float> prolonged = trial.empty(fine.values.size());
  Buffer<float> added = trial.uploaded(fine.values);
  Buffer<float> restricted = trial.empty(coarse.values.size());
  transfer.prolong(matrix, gains, coarse.device, false, prolonged, columns);
  transfer.prolong(matrix, gains, coarse.device, true, added, columns);
  transfer.restrict_to(matrix, gains, fine.device, 0.5F, restricted, columns);
  const Eigen::SparseMatrix<double> magnitudes = p.cwiseAbs();
  const Rows up = p * coarse.rows;
  const Rows up_magnitudes = magnitudes * coarse.rows.cwiseAbs();
  const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
  expect_block(trial, "prolongation", prolonged, up, up_magnitudes, roundings);
  expect_block(trial, "restriction", restricted, 0.5 * (p.transpose() * fine.rows),
               0.5 * (magnitudes.transpose() * fine.rows.cwiseAbs()), roundings);
  expect_block(trial, "prolongation that is added", added, up + fine.rows,
               up_magnitudes + fine.rows.cwiseAbs(), roundings);
}

}  // namespace diacut::testing
