#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "graph/graph_levels.hpp"
#include "graph/graph_product.hpp"

namespace diacut {

/// The levels of a graph on a device, with A = D^-1/2 W D^-1/2 and L = I - A of each, and a
/// multilevel cycle that is about the inverse of L.
class GraphCycle : public LobpcgLevels {
 public:
  /// For blocks of at most `columns` columns. `inverse`: that of L on the last level
  /// (DenseGraph::inverse()); where it is empty, the smoother alone works there.
  GraphCycle(Context& context, const GraphLevels& graph, const std::vector<float>& inverse,
             int columns);

  /// Bytes of the buffers that the constructor allocates, beside the matrices.
  static std::uint64_t block_memory(const GraphLevels& graph, int columns);
  /// Bytes of the matrices.
  static std::uint64_t matrix_memory(const GraphLevels& graph);

  int count() const override { return static_cast<int>(levels_.size()); }
  Segments segments(int level) const override { return {rows(level), rows(level)}; }
  std::size_t rows(int level) const { return at(level).a.rows(); }
  /// D^1/2 of all nodes, to norm 1.
  const Buffer<float>& trivial(int level) const { return at(level).trivial; }
  /// Products with the matrix of the graph itself so far.
  std::int64_t passes() const override { return passes_; }

  /// out = L x. Enqueues, as all functions below do.
  void laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) override;
  /// x = about the inverse of L times b, on what is orthogonal to the eigenvectors to the
  /// eigenvalue 0. `t` is overwritten.
  void precondition(int level, const Buffer<float>& b, Buffer<float>& x, Buffer<float>& t,
                    int columns) override;
  /// fine = smoothed P coarse, from the level after `level`; `t` is overwritten.
  void prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine, Buffer<float>& t,
               int columns);
  /// out = the energies of which the sums over the columns are x'L x, x of the graph itself. `y` is
  /// overwritten.
  void energies(const Buffer<float>& x, Buffer<float>& y, Buffer<float>& out, int columns);

 private:
  struct Level {
    DeviceCsr a;
    DeviceCsr interpolation;         ///< From the next level.
    DeviceCsr restriction;           ///< To the next level.
    Buffer<float> inverse_diagonal;  ///< 1 / L_ii.
    Buffer<float> trivial;
    /// Blocks of levels below the first one: right-hand side and solution of the level's system,
    /// those of the second cycle, and memory for the smoother.
    Buffer<float> b, x, second_b, second_x, t;
  };
  Level& at(int level) { return levels_[static_cast<std::size_t>(level)]; }
  const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  void count_pass(int level) { passes_ += level == 0 ? 1 : 0; }
  void residual(int level, const Buffer<float>& x, const Buffer<float>& b, Buffer<float>& out,
                int columns);
  /// Smooths x for L x = b, or L x = 0 where b is null, by an even number of steps. `t` is
  /// overwritten.
  void smooth(int level, const Buffer<float>* b, Buffer<float>& x, Buffer<float>& t, bool from_zero,
              int columns);
  void solve(int level, int columns);

  Context* context_;
  GraphProduct product_;
  DenseProduct dense_;
  Buffer<float> inverse_;
  Buffer<float> sqrt_degree_;          ///< Of the graph itself.
  Buffer<float> inverse_sqrt_degree_;  ///< Of the graph itself.
  std::vector<Level> levels_;
  std::int64_t passes_ = 0;
};

}  // namespace diacut
