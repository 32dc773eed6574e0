#include "spmv/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "diacut/errors.hpp"
#include "spmv/format_products.hpp"

namespace diacut {

namespace {

constexpr std::size_t kSlice = 32;
constexpr std::size_t kSortWindow = 1024;
/// Kernels that use local memory need at least this many bytes of it to be worth running.
constexpr std::size_t kLeastLocal = 16384;
constexpr std::array<BlockSize, 5> kBlocks = {{{1, 4}, {2, 2}, {3, 3}, {4, 4}, {8, 8}}};

struct FormatKernels {
  Format format;
  const char* name;
  std::vector<std::string> kernels;
};

const std::vector<FormatKernels>& table() {
  static const std::vector<FormatKernels> formats = {
      {Format::kDia, "dia", {"row", "run", "compiled", "compiled-run"}},
      {Format::kBdia, "bdia", {"local", "local4", "cached", "cached4"}},
      {Format::kEll, "ell", {"lanes1", "lanes8"}},
      {Format::kSell, "sell", {"lanes1", "lanes8", "sorted1", "sorted8"}},
      {Format::kCsr,
       "csr",
       {"scalar", "parts8", "vector4", "vector8", "vector16", "vector32", "stream"}},
      {Format::kCoo, "coo", {"group", "run"}},
      {Format::kBcsr, "bcsr", {"scalar", "parts8", "vector4", "vector16"}},
      {Format::kBell, "bell", {"lanes1", "lanes8"}},
      {Format::kSbell, "sbell", {"lanes1", "lanes8", "sorted1", "sorted8"}}};
  return formats;
}

const FormatKernels& entry_of(Format format) { return table()[static_cast<std::size_t>(format)]; }

bool blocked(Format format) {
  return format == Format::kBcsr || format == Format::kBell || format == Format::kSbell;
}

void check_known(const Implementation& implementation) {
  const std::vector<Implementation> all = all_implementations();
  if (std::find(all.begin(), all.end(), implementation) == all.end()) {
    throw ConfigError(fmt::format("there is no product '{}'", to_string(implementation)));
  }
}

}  // namespace

const char* to_string(Format format) { return entry_of(format).name; }

const std::vector<Format>& all_formats() {
  static const std::vector<Format> formats = [] {
    std::vector<Format> result;
    for (const FormatKernels& entry : table()) result.push_back(entry.format);
    return result;
  }();
  return formats;
}

std::string to_string(const Implementation& implementation) {
  const std::string block =
      blocked(implementation.format) ? fmt::format("-{}", to_string(implementation.block)) : "";
  return fmt::format("{}{}/{}", to_string(implementation.format), block, implementation.kernel);
}

Implementation implementation_named(const std::string& name) {
  for (const Implementation& each : all_implementations()) {
    if (to_string(each) == name) return each;
  }
  throw ConfigError(
      fmt::format("there is no product '{}'; names are like csr/stream and bcsr-4x4/scalar", name));
}

std::vector<Implementation> all_implementations() {
  std::vector<Implementation> result;
  for (const FormatKernels& entry : table()) {
    for (const std::string& kernel : entry.kernels) {
      if (!blocked(entry.format)) {
        result.push_back({entry.format, kernel, {}});
        continue;
      }
      for (const BlockSize& block : kBlocks) result.push_back({entry.format, kernel, block});
    }
  }
  return result;
}

std::vector<Implementation> implementations(const DeviceInfo& device) {
  static const std::vector<std::string> cpu = {"run",    "compiled-run", "local4", "cached4",
                                               "lanes8", "sorted8",      "scalar", "parts8"};
  static const std::vector<std::string> gpu = {
      "row",    "compiled", "local",   "local4",   "cached",   "cached4", "lanes1", "sorted1",
      "scalar", "vector4",  "vector8", "vector16", "vector32", "stream",  "group"};
  const std::vector<std::string>& sensible = device.kind == DeviceKind::kCpu ? cpu : gpu;
  std::vector<Implementation> result;
  for (Implementation& each : all_implementations()) {
    if (std::find(sensible.begin(), sensible.end(), each.kernel) == sensible.end()) continue;
    const bool local = each.kernel.starts_with("local") || each.kernel.starts_with("vector") ||
                       each.kernel == "stream" || each.format == Format::kCoo;
    if (local && device.local_memory < kLeastLocal) continue;
    result.push_back(std::move(each));
  }
  return result;
}

std::unique_ptr<SparseProduct> make_product(Context& context, const CsrMatrix& matrix,
                                            const Implementation& implementation,
                                            const ProductOptions& options) {
  check_known(implementation);
  const std::string& kernel = implementation.kernel;
  const BlockSize& block = implementation.block;
  const auto blocks = [&] { return block_matrix(matrix, block, options.limits); };
  const auto sliced = [&](const CsrMatrix& rows, bool slices) -> std::unique_ptr<SparseProduct> {
    const SliceForm form{slices ? kSlice : 0, kernel.starts_with("sorted") ? kSortWindow : 1};
    return sliced_product(context,
                          sliced_matrix(rows, block, matrix.nonzeros(), form, options.limits),
                          kernel, options);
  };
  switch (implementation.format) {
    case Format::kDia:
      return diagonal_product(context, diagonal_matrix(matrix, options.limits), kernel, options);
    case Format::kBdia:
      return band_product(context, diagonal_matrix(matrix, options.limits), kernel, options);
    case Format::kEll:
      return sliced(matrix, false);
    case Format::kSell:
      return sliced(matrix, true);
    case Format::kCsr:
      if (kernel == "stream") return stream_product(context, matrix, options);
      return row_product(context, matrix, block, kernel, options);
    case Format::kCoo:
      return entry_product(context, matrix, kernel, options);
    case Format::kBcsr:
      return row_product(context, blocks(), block, kernel, options);
    case Format::kBell:
      return sliced(blocks(), false);
    case Format::kSbell:
      return sliced(blocks(), true);
  }
  throw ConfigError("no such format");
}

std::unique_ptr<SparseProduct> make_diagonal_product(Context& context, const CsrMatrix& matrix,
                                                     const std::vector<std::int64_t>& offsets,
                                                     const Implementation& implementation,
                                                     const ProductOptions& options) {
  check_known(implementation);
  const DiagonalMatrix part = diagonal_part(matrix, offsets);
  if (implementation.format == Format::kDia) {
    return diagonal_product(context, part, implementation.kernel, options);
  }
  if (implementation.format == Format::kBdia) {
    return band_product(context, part, implementation.kernel, options);
  }
  throw ConfigError(fmt::format("'{}' holds no diagonals", to_string(implementation)));
}

}  // namespace diacut
