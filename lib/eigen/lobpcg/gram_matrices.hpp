#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "eigen/lobpcg/tile_products.hpp"

namespace diacut {

/// The Gram matrices of one image's basis S = [X W P], both row-major, `side` by `side`.
struct GramMatrices {
  int side = 0;
  std::vector<double> self;     ///< S'S.
  std::vector<double> product;  ///< S'(M S); 0 between blocks of which neither's product is given.
};

/// Computes Gram matrices on the device, by TileProducts. The workspace has to outlive the object.
class GramKernels {
 public:
  explicit GramKernels(Workspace& workspace) : workspace_(&workspace), products_(workspace) {}

  /// S'S and S'(M S) of each active segment, for some symmetric M. `ms`: the products that are
  /// known. `width`: columns of W and P, a result of Workspace::narrow_columns(). Waits.
  std::vector<GramMatrices> compute(const BasisBlocks& s, const BasisBlocks& ms, int width,
                                    const Segments& segments);

 private:
  /// Which blocks there are, which products are known, and the width of W and P.
  struct Key {
    int blocks = 0;
    unsigned products = 0;
    int width = 0;
    auto operator<=>(const Key&) const = default;
  };
  const TileList& tiles(const Key& key);
  GramMatrices assembled(std::span<const double> sums, const TileList& list, const Key& key) const;

  Workspace* workspace_;
  TileProducts products_;
  std::map<Key, TileList> tiles_;
};

}  // namespace diacut
