#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spmv/product.hpp"
#include "spmv/profile.hpp"

namespace diacut {

/// A part of a matrix and how it is held. A plan's parts take from what those before them left:
/// diagonals, then dense blocks, then the first entries of each row, then the rest.
struct CocktailPart {
  enum class Take { kDiagonals, kBlocks, kRowStarts, kRest };

  Take take = Take::kRest;
  Implementation implementation;
  std::vector<std::int64_t> offsets;  ///< kDiagonals: which, ascending.
  double block_share = 0.0;           ///< kBlocks: blocks with more than this share of entries.
  std::size_t width = 0;              ///< kRowStarts: entries of a row, at most.
};

/// A matrix as several formats that add up (the cocktail of Su and Keutzer 2012), or as one.
struct CocktailPlan {
  std::vector<CocktailPart> parts;
  double expected_milliseconds = 0.0;
};
/// "dia/compiled + sell/lanes1".
std::string to_string(const CocktailPlan& plan);

/// What the analysis looks at: a sample, so that it costs a few products whatever the size.
struct AnalysisOptions {
  /// Looked at for diagonals and blocks, about, and rows whose lengths are, a quarter of that; 0:
  /// as many as the time of some five products allows, 600 to 4,000.
  std::size_t entries = 0;
};

/// Every plan that may be worth its while, the best by the device's profile first; but each set of
/// formats once before any comes again, and one of a single part among the first `count`. By the
/// criteria of the source, section 5: with g the rates that the profile expects,
///  - a diagonal of n_d places and e_d entries is dense if e_d > n_d g_flat / g_diagonals;
///  - a block of n_b elements likewise, with g_blocks;
///  - ELL takes the first w entries of each row, with w that minimises the time of both parts;
///  - the rest goes to CSR, or to COO where rows side by side differ too much in length.
/// Empty if the profile knows no implementation of CSR or COO.
std::vector<CocktailPlan> plan_cocktails(const CsrMatrix& matrix, const DeviceProfile& profile,
                                         std::size_t count, const AnalysisOptions& options = {});

/// The parts of a plan on a device. Throws as make_product() does.
std::unique_ptr<SparseProduct> make_cocktail(Context& context, const CsrMatrix& matrix,
                                             const CocktailPlan& plan,
                                             const ProductOptions& options = {});

/// A product chosen for a matrix, and what the choice cost.
struct CocktailChoice {
  CocktailPlan plan;
  std::unique_ptr<SparseProduct> product;
  double analysis_milliseconds = 0.0;  ///< Of the host, for plan_cocktails().
  /// Made on the device to choose among the plans: under 10, or as many as take a few milliseconds.
  int sampled_products = 0;
};

/// Makes the best plans and times one product of each, after one that is not counted; where that
/// takes but microseconds, also other kernels of the best plan's formats, and the best again.
/// Throws ConfigError when the profile knows nothing to choose from, and as make_product() does
/// when no plan can be made.
CocktailChoice choose_cocktail(Context& context, const CsrMatrix& matrix,
                               const DeviceProfile& profile, const AnalysisOptions& options = {});

/// What a plan makes of a matrix, on the host: parts[i] as plan.parts[i] takes it. They have the
/// matrix's shape, and each entry is in exactly one.
std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const CocktailPlan& plan);

}  // namespace diacut
