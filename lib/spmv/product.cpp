#include "spmv/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "diacut/errors.hpp"
#include "spmv/diagonals.hpp"
#include "spmv/spmv_bdia.hpp"
#include "spmv/spmv_coo.hpp"
#include "spmv/spmv_csr.hpp"
#include "spmv/spmv_dia.hpp"
#include "spmv/spmv_ell.hpp"
#include "spmv/spmv_stream.hpp"

namespace diacut {

namespace {

/// The widest band of BDIA: the stretch of x that it needs fits any local memory.
constexpr std::uint32_t kWidestBand = 128;
/// The most offsets that are compiled in: programs with more are large and no faster.
constexpr std::size_t kMostCompiled = 160;
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

/// The number that a kernel's name ends with, or 1.
std::size_t number_of(const std::string& kernel) {
  const std::size_t at = kernel.find_first_of("0123456789");
  std::size_t number = 1;
  if (at != std::string::npos) {
    std::from_chars(kernel.data() + at, kernel.data() + kernel.size(), number);
  }
  return number;
}

template <class T>
Buffer<T> on_device(Context& context, const std::vector<T>& values, const char* what) {
  Buffer<T> buffer = context.allocate<T>(values.size(), what);
  buffer.upload(values);
  return buffer;
}

class DiagonalProduct final : public SparseProduct {
 public:
  DiagonalProduct(Context& context, const DiagonalMatrix& matrix, const std::string& kernel,
                  SpmvStore store)
      : SparseProduct(matrix.rows, matrix.cols),
        values_(on_device(context, matrix.values, "a matrix's diagonals")),
        offsets_(on_device(context, matrix.offsets, "a matrix's offsets")),
        launcher_(context,
                  {values_, offsets_, matrix.offsets, matrix.pitch, matrix.rows, matrix.cols},
                  form(kernel, matrix.offsets.size()), store) {
    matrix_bytes_ = sizeof(float) * matrix.offsets.size() * matrix.rows;
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  static SpmvDiaForm form(const std::string& kernel, std::size_t diagonals) {
    const bool run = kernel.ends_with("run");
    return {run ? std::size_t{1} : std::size_t{128}, run ? std::size_t{512} : std::size_t{1},
            kernel.starts_with("compiled") && diagonals <= kMostCompiled};
  }

  Buffer<float> values_;
  Buffer<std::int64_t> offsets_;
  SpmvDia launcher_;
};

class BandProduct final : public SparseProduct {
 public:
  BandProduct(Context& context, const DiagonalMatrix& matrix, const std::string& kernel,
              SpmvStore store)
      : BandProduct(context, matrix, diagonal_bands(matrix.offsets, kWidestBand), kernel, store) {}

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  BandProduct(Context& context, const DiagonalMatrix& matrix,
              const std::vector<DiagonalBand>& bands, const std::string& kernel, SpmvStore store)
      : SparseProduct(matrix.rows, matrix.cols),
        values_(on_device(context, matrix.values, "a matrix's diagonals")),
        firsts_(on_device(context, firsts(bands), "a matrix's bands")),
        widths_(on_device(context, widths(bands), "the widths of a matrix's bands")),
        launcher_(context,
                  {values_, firsts_, widths_, bands.size(), widest(bands), matrix.pitch,
                   matrix.rows, matrix.cols},
                  {128, number_of(kernel), kernel.starts_with("local")}, store) {
    matrix_bytes_ = sizeof(float) * matrix.offsets.size() * matrix.rows;
  }

  static std::vector<std::int64_t> firsts(const std::vector<DiagonalBand>& bands) {
    std::vector<std::int64_t> result;
    for (const DiagonalBand& band : bands) result.push_back(band.first);
    return result;
  }
  static std::vector<std::uint32_t> widths(const std::vector<DiagonalBand>& bands) {
    std::vector<std::uint32_t> result;
    for (const DiagonalBand& band : bands) result.push_back(band.width);
    return result;
  }
  static std::size_t widest(const std::vector<DiagonalBand>& bands) {
    std::size_t result = 1;
    for (const DiagonalBand& band : bands) result = std::max<std::size_t>(result, band.width);
    return result;
  }

  Buffer<float> values_;
  Buffer<std::int64_t> firsts_;
  Buffer<std::uint32_t> widths_;
  SpmvBdia launcher_;
};

class SlicedProduct final : public SparseProduct {
 public:
  SlicedProduct(Context& context, const SlicedMatrix& matrix, const std::string& kernel,
                SpmvStore store, bool wide)
      : SparseProduct(matrix.rows, matrix.cols),
        starts_(context, matrix.starts, "a matrix's slices", wide),
        columns_(on_device(context, matrix.columns, "a matrix's columns")),
        values_(on_device(context, matrix.values, "a matrix's elements")),
        order_(on_device(context, matrix.order, "the order of a matrix's rows")),
        launcher_(
            context,
            {starts_, columns_, values_, order_, matrix.height, matrix.sliced, matrix.block_rows(),
             matrix.block.height, matrix.block.width, matrix.rows, matrix.cols},
            number_of(kernel), store) {
    matrix_bytes_ = starts_.bytes() + columns_.bytes() + values_.bytes() + order_.bytes();
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  Positions starts_;
  Buffer<std::uint32_t> columns_;
  Buffer<float> values_;
  Buffer<std::uint32_t> order_;
  SpmvEll launcher_;
};

/// The arrays of CSR and BCSR on the device.
struct DeviceRows {
  DeviceRows(Context& context, const BlockView& matrix, bool wide)
      : starts(context, {matrix.starts.begin(), matrix.starts.end()}, "a matrix's rows", wide),
        columns(context.allocate<std::uint32_t>(matrix.columns.size(), "a matrix's columns")),
        values(context.allocate<float>(matrix.values.size(), "a matrix's elements")) {
    columns.upload(matrix.columns);
    values.upload(matrix.values);
  }
  std::size_t bytes() const { return starts.bytes() + columns.bytes() + values.bytes(); }

  Positions starts;
  Buffer<std::uint32_t> columns;
  Buffer<float> values;
};

class RowProduct final : public SparseProduct {
 public:
  RowProduct(Context& context, const BlockView& matrix, const std::string& kernel, SpmvStore store,
             bool wide)
      : SparseProduct(matrix.rows, matrix.cols),
        arrays_(context, matrix, wide),
        launcher_(context,
                  {arrays_.starts, arrays_.columns, arrays_.values, matrix.block_rows(),
                   matrix.block.height, matrix.block.width, matrix.rows, matrix.cols},
                  form(kernel), store) {
    matrix_bytes_ = arrays_.bytes();
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  static SpmvCsrForm form(const std::string& kernel) {
    if (kernel.starts_with("parts")) return {128, 1, number_of(kernel)};
    return {128, number_of(kernel), 1};
  }

  DeviceRows arrays_;
  SpmvCsr launcher_;
};

class StreamProduct final : public SparseProduct {
 public:
  StreamProduct(Context& context, const CsrMatrix& matrix, SpmvStore store, bool wide)
      : SparseProduct(matrix.rows, matrix.cols),
        form_(spmv_stream_form(context.info())),
        arrays_(context, matrix, wide),
        bounds_(on_device(context, spmv_stream_bounds(matrix.starts, form_),
                          "the rows of work-groups")),
        launcher_(context, {bounds_, arrays_.starts, arrays_.columns, arrays_.values}, form_,
                  store) {
    matrix_bytes_ = arrays_.bytes() + bounds_.bytes();
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  SpmvStreamForm form_;
  DeviceRows arrays_;
  Buffer<std::uint32_t> bounds_;
  SpmvStream launcher_;
};

class EntryProduct final : public SparseProduct {
 public:
  EntryProduct(Context& context, const CsrMatrix& matrix, const std::string& kernel,
               SpmvStore store)
      : SparseProduct(matrix.rows, matrix.cols),
        rows_of_(on_device(context, entry_rows(matrix), "the rows of a matrix's entries")),
        columns_(on_device(context, matrix.columns, "a matrix's columns")),
        values_(on_device(context, matrix.values, "a matrix's elements")),
        launcher_(context, {rows_of_, columns_, values_, matrix.rows}, form(context, kernel),
                  store) {
    matrix_bytes_ = rows_of_.bytes() + columns_.bytes() + values_.bytes();
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override { launcher_.product(in, out); }

 private:
  static SpmvCooForm form(Context& context, const std::string& kernel) {
    if (kernel == "run") {
      // Half of the local memory, up to what a CPU's first cache holds.
      return {1, std::clamp<std::size_t>(context.info().local_memory / 16, 7, 1023)};
    }
    return {};
  }

  Buffer<std::uint32_t> rows_of_;
  Buffer<std::uint32_t> columns_;
  Buffer<float> values_;
  SpmvCoo launcher_;
};

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
  const SpmvStore store = options.add ? SpmvStore::kAdd : SpmvStore::kReplace;
  const auto sliced = [&](const BlockView& view, bool slices) -> std::unique_ptr<SparseProduct> {
    const SliceForm form{slices ? kSlice : 0, kernel.starts_with("sorted") ? kSortWindow : 1};
    return std::make_unique<SlicedProduct>(context, sliced_matrix(view, form, options.limits),
                                           kernel, store, options.wide_positions);
  };
  switch (implementation.format) {
    case Format::kDia:
      return std::make_unique<DiagonalProduct>(context, diagonal_matrix(matrix, options.limits),
                                               kernel, store);
    case Format::kBdia:
      return std::make_unique<BandProduct>(context, diagonal_matrix(matrix, options.limits), kernel,
                                           store);
    case Format::kEll:
      return sliced(matrix, false);
    case Format::kSell:
      return sliced(matrix, true);
    case Format::kCsr:
      if (kernel == "stream") {
        return std::make_unique<StreamProduct>(context, matrix, store, options.wide_positions);
      }
      return std::make_unique<RowProduct>(context, matrix, kernel, store, options.wide_positions);
    case Format::kCoo:
      return std::make_unique<EntryProduct>(context, matrix, kernel, store);
    case Format::kBcsr:
      return std::make_unique<RowProduct>(
          context, block_matrix(matrix, implementation.block, options.limits), kernel, store,
          options.wide_positions);
    case Format::kBell:
      return sliced(block_matrix(matrix, implementation.block, options.limits), false);
    case Format::kSbell:
      return sliced(block_matrix(matrix, implementation.block, options.limits), true);
  }
  throw ConfigError("no such format");
}

std::unique_ptr<SparseProduct> make_diagonal_product(Context& context, const CsrMatrix& matrix,
                                                     const std::vector<std::int64_t>& offsets,
                                                     const Implementation& implementation,
                                                     const ProductOptions& options) {
  check_known(implementation);
  const SpmvStore store = options.add ? SpmvStore::kAdd : SpmvStore::kReplace;
  const DiagonalMatrix part = diagonal_part(matrix, offsets);
  if (implementation.format == Format::kDia) {
    return std::make_unique<DiagonalProduct>(context, part, implementation.kernel, store);
  }
  if (implementation.format == Format::kBdia) {
    return std::make_unique<BandProduct>(context, part, implementation.kernel, store);
  }
  throw ConfigError(fmt::format("'{}' holds no diagonals", to_string(implementation)));
}

}  // namespace diacut
