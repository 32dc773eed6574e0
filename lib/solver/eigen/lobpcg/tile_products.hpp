#pragma once

#include <map>
#include <span>
#include <vector>

#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// Blocks of a basis S = [X W P], or of its products with a matrix: null from some block on, or
/// where there is no product. X has the workspace's columns, W and P fewer.
struct BasisBlocks {
  const Buffer<float>* x = nullptr;
  const Buffer<float>* w = nullptr;
  const Buffer<float>* p = nullptr;

  /// Blocks of a basis.
  int count() const { return 1 + (w != nullptr ? 1 : 0) + (p != nullptr ? 1 : 0); }
  const Buffer<float>* at(int block) const { return block == 0 ? x : block == 1 ? w : p; }
};

/// The dot products of tile() columns of one block, from tile() * `left_part` on, with tile()
/// columns of another. Blocks are X 0, W 1, P 2, M X 3, M W 4, M P 5.
struct Tile {
  int left = 0;
  int left_part = 0;
  int right = 0;
  int right_part = 0;
};

/// Tiles on the device.
struct TileList {
  std::vector<Tile> tiles;
  std::size_t parts = 0;  ///< Of a line that a work-group on a GPU reads for each element.
  Uploaded words;         ///< Four for each tile, and then the parts, two for each.
};

/// The Gram matrices of one image's basis S = [X W P], both row-major, `side` by `side`.
struct GramMatrices {
  int side = 0;
  std::vector<double> self;     ///< S'S.
  std::vector<double> product;  ///< S'(M S); 0 between blocks of which neither's product is given.
};

/// kernels/eigen/lobpcg/tile_products.cl: dot products of columns of blocks, in tiles, and what
/// LOBPCG makes of them. `width`, of W, P and their products, is a result of
/// Workspace::narrow_columns(). The workspace has to outlive the object.
class TileProducts {
 public:
  explicit TileProducts(Workspace& workspace);

  /// S'S and S'(M S) of each active segment, for some symmetric M. `ms`: the products that are
  /// known. Waits.
  std::vector<GramMatrices> gram_matrices(const BasisBlocks& s, const BasisBlocks& ms, int width,
                                          const Segments& segments);
  /// kernels/eigen/lobpcg/projection.cl: W -= X diag(X'X)^-1 X'W; columns of X that are 0 take
  /// nothing. Enqueues.
  void project(const Buffer<float>& x, int width, const Segments& segments, Buffer<float>& w);

 private:
  /// What tiles are for: a projection (no blocks), or Gram matrices of so many blocks and of the
  /// products that are known; and the width of W and P.
  struct Key {
    int blocks = 0;
    unsigned products = 0;
    int width = 0;
    auto operator<=>(const Key&) const = default;
  };
  const TileList& tiles(const Key& key);
  std::vector<Tile> tiles_of_gram_matrices(const Key& key) const;
  std::vector<Tile> tiles_of_projection(int width) const;
  TileList upload(std::vector<Tile> tiles, int width);
  /// Parts of tile() columns in a block.
  int parts_of(int block, int width) const;
  /// The dot products of all tiles, row-major, of each active segment, in the workspace's totals().
  /// Enqueues.
  const DeviceSums& launch(const BasisBlocks& s, const BasisBlocks& ms, const TileList& list,
                           int width, const Segments& segments);
  GramMatrices assembled(std::span<const double> sums, const TileList& list, const Key& key) const;

  Workspace* workspace_;
  std::size_t lines_;         ///< Elements that a work-group reads at a time.
  std::size_t total_values_;  ///< Of a work-group of tile_totals.
  std::size_t total_lanes_;
  KernelFile kernels_;
  std::map<Key, TileList> tiles_;
};

}  // namespace diacut
