#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spmv/format_profile.hpp"
#include "spmv/product.hpp"

namespace diacut {

/// A part of a matrix and the format that holds it. Each part of a split takes entries from what
/// the parts before it have left: diagonals, then dense blocks, then the first entries of each row,
/// then the rest.
struct HybridPart {
  enum class Take { kDiagonals, kBlocks, kRowStarts, kRest };

  Take take = Take::kRest;
  Implementation implementation;
  std::vector<std::int64_t> offsets;  ///< kDiagonals: the diagonals, ascending.
  double block_share = 0.0;  ///< kBlocks: blocks with more than this share of their elements taken.
  std::size_t width = 0;     ///< kRowStarts: the most entries of a row.
};

/// A matrix as the sum of several formats (the "cocktail" of Su and Keutzer, clSpMV: A
/// cross-platform OpenCL SpMV framework on GPUs, ICS 2012), or as a single format.
struct HybridSplit {
  std::vector<HybridPart> parts;
  double expected_milliseconds = 0.0;
};
/// "dia/compiled[5] + sell/lanes1": with the number of diagonals, or the width of row starts.
std::string to_string(const HybridSplit& split);

std::vector<Format> formats_of(const HybridSplit& split);

/// The analysis looks at a sample of a matrix, so that it costs a few products whatever the size.
struct AnalysisOptions {
  /// The number of entries that are looked at for diagonals and blocks, about. The lengths of a
  /// quarter of that number of rows are looked at too. 0: 600 to 4,000 entries, the number that
  /// some five products' time allows.
  std::size_t entries = 0;
  bool half = false;  ///< ProductOptions::half of the products that are tried.
};

/// Every split that may be the fastest. Splits are ordered by the time that the profile expects,
/// but a set of formats comes a second time only after every set came once, and a split of a single
/// part is among the first `count`. By the criteria of clSpMV, section 5, with g the rates that the
/// profile expects:
///  - a diagonal with e_d entries in n_d places is dense if e_d > n_d g_scattered / g_diagonals;
///  - a block with e_b entries in n_b places is dense if e_b > n_b g_scattered / g_blocks;
///  - ELL takes the first w entries of each row, with the w that minimises the time of ELL and
///  rest;
///  - the rest goes to CSR, or to COO where the lengths of neighbouring rows differ too much.
/// Empty if the profile knows no implementation of CSR or COO.
std::vector<HybridSplit> hybrid_splits(const CsrMatrix& matrix, const FormatProfile& profile,
                                       std::size_t count, const AnalysisOptions& options = {});

/// The parts of a matrix on the host: result[i] has the entries that split.parts[i] takes. Each
/// part has the matrix's shape, and each entry of the matrix is in exactly one part.
std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const HybridSplit& split);

/// The parts of a split on a device, whose products add up. Throws ConfigError when the split does
/// not end with the rest, and as make_product() does.
SparseProduct make_hybrid(Context& context, const CsrMatrix& matrix, const HybridSplit& split,
                          const ProductOptions& options = {});

/// The product chosen for a matrix, and what the choice cost.
struct HybridChoice {
  HybridSplit split;
  SparseProduct product;
  double analysis_milliseconds = 0.0;  ///< Time that hybrid_splits() took on the host.
  /// Products computed on the device to choose among the splits: under 10, or more if all of them
  /// take only a few milliseconds.
  int sampled_products = 0;
};

/// Makes the best splits and times one product of each, after one product that is not counted.
/// Where products take but microseconds, other kernels of the best split's formats are timed too,
/// and the best splits again. Throws ConfigError when the profile knows no implementation to choose
/// from, and as make_product() does when no split can be made.
HybridChoice choose_hybrid(Context& context, const CsrMatrix& matrix, const FormatProfile& profile,
                           const AnalysisOptions& options = {});

}  // namespace diacut
