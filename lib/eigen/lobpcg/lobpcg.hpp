#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "diacut/parameters.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/resolution.hpp"
#include "matrix/grid.hpp"

namespace diacut {

/// What LOBPCG iterates with on one grid. A is a normalized affinity matrix, L = I - A its
/// normalized Laplacian. Blocks are `columns` wide.
class LobpcgOperators {
 public:
  virtual ~LobpcgOperators() = default;

  virtual Segments segments() const = 0;
  /// lv = L v. Enqueues.
  virtual void laplacian(const Buffer<float>& v, int columns, Buffer<float>& lv) = 0;
  /// w = M r, M about the inverse of L on what is orthogonal to the trivial eigenvector; `scratch`,
  /// a block, is overwritten. Enqueues.
  virtual void precondition(const Buffer<float>& r, int columns, Buffer<float>& scratch,
                            Buffer<float>& w) = 0;
  /// Passes over the matrix of the finest grid so far.
  virtual std::int64_t passes() const = 0;
};

/// One image's Ritz pairs, whose vectors are in its segment of X, and how they were found.
struct LobpcgImage {
  /// Ritz values of A, one for each column of X, descending, the trivial one (1) first.
  std::vector<double> theta;
  std::vector<double> residual_norms;  ///< Of all columns, where they were asked for.
  /// The largest convergence measure (LobpcgGoal) of a wanted vector: 1 and less is converged.
  double convergence = INFINITY;
  int iterations = 0;         ///< On all grids.
  std::int64_t passes = 0;    ///< Over the matrix of the finest grid.
  std::int64_t products = 0;  ///< The same for each vector that the image had a use for.
};

/// When to stop. A vector's convergence measure is the change of its Ritz value in the last
/// iteration over what is allowed and, if there is a goal for residuals, the norm of its residual
/// over what that allows, whichever is larger.
struct LobpcgGoal {
  int iterations = 0;      ///< At most.
  double convergence = 1;  ///< An image is done when no wanted vector's measure is larger.
  std::optional<ResidualGoal> residuals;
};

/// Locally optimal block preconditioned conjugate gradients (A. Knyazev, "Toward the optimal
/// preconditioned eigensolver", SIAM J. Sci. Comput. 23, 2001) for the least eigenvalues of L, with
/// soft locking: Ritz vectors that have converged stay in the basis, and only the others get
/// corrections. X holds the wanted vectors and some more, the known trivial eigenvector first, to
/// which all others are kept orthogonal.
///
/// Images of a batch go through the same iterations, each with a Rayleigh-Ritz problem of its own,
/// until the last of them is done. An image that is done before is left as it is, so that it has
/// the same result as alone.
class Lobpcg {
 public:
  /// Allocates all blocks for the finest grid, `batch`. `active`: the images that are iterated; all
  /// of its kernels have to work on the same.
  Lobpcg(Context& context, const EigenParameters& parameters, const Batch& batch,
         std::shared_ptr<ActiveSegments> active);

  /// Columns of X.
  static int columns(const EigenParameters& parameters);
  /// Bytes that an object for blocks of so many columns holds on the device: blocks, and sums.
  static std::uint64_t memory(const Batch& batch, int columns);

  Workspace& workspace() { return workspace_; }
  /// Of blocks on the finest grid. While solve() runs, it needs all but the one of X.
  BlockPool& blocks() { return blocks_; }

  /// Iterates until all images are done. x: about the eigenvectors, and on return the better ones.
  /// `images`: of all images of the batch, with Ritz values of x; they are kept up. `observe` gets
  /// the largest convergence measure of the images that were iterated, after every iteration.
  /// Throws NumericalError if a product is not finite.
  void solve(LobpcgOperators& grid, Block& x, std::vector<LobpcgImage>& images,
             const LobpcgGoal& goal, const std::function<void(double)>& observe);

 private:
  class Run;

  EigenParameters parameters_;
  std::shared_ptr<ActiveSegments> active_;
  Workspace workspace_;
  BlockPool blocks_;
  GramKernels gram_;
  Projection projection_;
  Residuals residuals_;
  ColumnGather gather_;
  BasisUpdate update_;
};

}  // namespace diacut
