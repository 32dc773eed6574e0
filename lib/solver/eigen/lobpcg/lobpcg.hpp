#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "matrix/grid.hpp"

namespace diacut {

/// What LOBPCG iterates on: a matrix on ever coarser levels, the finest of which is level 0. A is a
/// normalized affinity matrix, L = I - A its normalized Laplacian. Blocks are `columns` wide.
class LobpcgLevels {
 public:
  virtual ~LobpcgLevels() = default;

  virtual int count() const = 0;
  virtual Segments segments(int level) const = 0;
  /// lv = L v. Enqueues.
  virtual void laplacian(int level, const Buffer<float>& v, Buffer<float>& lv, int columns) = 0;
  /// w = M r, M about the inverse of L on what is orthogonal to the trivial eigenvector; `scratch`,
  /// a block, is overwritten. Enqueues.
  virtual void precondition(int level, const Buffer<float>& r, Buffer<float>& w,
                            Buffer<float>& scratch, int columns) = 0;
  /// Passes over the matrix of the finest level so far.
  virtual std::int64_t passes() const = 0;
};

/// One image's Ritz pairs, whose vectors are in its segment of X, and how they were found.
struct LobpcgImage {
  /// Ritz values of A, one for each column of X, descending, the trivial one (1) first.
  std::vector<double> theta;
  std::vector<double> residual_norms;  ///< Of all columns, where they were asked for.
  /// The largest convergence measure (Lobpcg::solve()) of a wanted vector: 1 and less is converged.
  double convergence = INFINITY;
  int iterations = 0;         ///< On all levels.
  std::int64_t passes = 0;    ///< Over the matrix of the finest level.
  std::int64_t products = 0;  ///< The same for each vector that the image had a use for.

  /// Reports how the vectors were found.
  void describe(const LobpcgLevels& levels, EigenReport& report) const;
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
  /// Iterations that are enough on each level but the finest. Vectors that show only from some
  /// level on, those of small things, are found there, where it is cheaper; a more exact solution
  /// of a problem that is only about right is of no use.
  static constexpr int kCoarseIterations = 8;

  /// Allocates all blocks for the finest grid, `batch`. `active`: the images that are iterated; all
  /// of its kernels have to work on the same.
  Lobpcg(Context& context, const EigenParameters& parameters, const Batch& batch,
         std::shared_ptr<ActiveSegments> active);

  /// Columns of X.
  static int columns(const EigenParameters& parameters);

  Workspace& workspace() { return workspace_; }
  /// Of blocks on the finest grid. While solve() runs, it needs all but the one of X.
  BlockPool& blocks() { return blocks_; }

  /// Iterates on a level until all images are done, at most `iterations` times. x: about the
  /// eigenvectors, and on return the better ones. `images`: of all images of the batch, with Ritz
  /// values of x; they are kept up. Reports progress after every iteration. Throws NumericalError
  /// if a product is not finite.
  ///
  /// A vector's convergence measure is the change of its Ritz value in the last iteration over what
  /// is allowed and, on the finest level, the norm of its residual over what the parameters allow,
  /// whichever is larger.
  void solve(LobpcgLevels& levels, int level, Block& x, std::vector<LobpcgImage>& images,
             int iterations, const Watch& watch);

 private:
  class Run;

  void report(double share, const Watch& watch);

  EigenParameters parameters_;
  std::shared_ptr<ActiveSegments> active_;
  Workspace workspace_;
  BlockPool blocks_;
  TileProducts products_;
  double share_ = 0;  ///< Of the work, as it was reported.
};

}  // namespace diacut
