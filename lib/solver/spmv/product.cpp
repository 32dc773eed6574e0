#include "spmv/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include "diacut/errors.hpp"
#include "matrix/dia_matrix.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

namespace {

constexpr std::size_t kSlice = 32;
constexpr std::size_t kSortWindow = 1024;
/// Kernels that use local memory need at least this many bytes of it to be worth running.
constexpr std::size_t kLeastLocal = 16384;
constexpr std::array<BlockSize, 5> kBlockSizes = {{{1, 4}, {2, 2}, {3, 3}, {4, 4}, {8, 8}}};

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
      for (const BlockSize& block : kBlockSizes) result.push_back({entry.format, kernel, block});
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

namespace {

constexpr std::size_t kGroup = 128;  ///< The most work-items in a group of most kernels.
/// The widest band of BDIA: the stretch of x that it needs fits any local memory.
constexpr std::uint32_t kWidestBand = 128;
/// The most offsets that are compiled in: programs with more are large and no faster.
constexpr std::size_t kMostCompiled = 160;
/// Rows of a run of DIA, and the terms that the compiled-in run adds in one pass over them: as many
/// streams of memory as the prefetchers of a CPU follow.
constexpr std::size_t kRunRows = 512;
constexpr std::size_t kUnrolledTerms = 8;

/// The number that a kernel's name ends with, or 1.
std::size_t number_of(const std::string& kernel) {
  const std::size_t at = kernel.find_first_of("0123456789");
  std::size_t number = 1;
  if (at != std::string::npos) {
    std::from_chars(kernel.data() + at, kernel.data() + kernel.size(), number);
  }
  return number;
}

void check_local_memory(const DeviceInfo& device, std::size_t bytes) {
  if (bytes <= device.local_memory) return;
  throw DeviceError(
      fmt::format("{} has {} bytes of local memory, and the product needs {}; choose one without "
                  "local memory",
                  device.name, device.local_memory, bytes));
}

/// The size of work-groups: `group`, or less where the device's largest power of two is less.
std::size_t spmv_group(const DeviceInfo& device, std::size_t group) {
  return std::min(group, std::bit_floor(std::max<std::size_t>(device.max_work_group, 1)));
}

/// An array of a matrix on the device. Copies share it.
struct HeldArray {
  std::shared_ptr<const void> memory;
  cl::Buffer buffer;
  std::size_t bytes;
  const char* positions;  ///< The OpenCL type of positions in an array.
};

const cl::Buffer& kernel_argument(const HeldArray& array) { return array.buffer; }

std::size_t bytes_of(const HeldArray& array) { return array.bytes; }
template <class Number>
std::size_t bytes_of(Number /*number*/) {
  return 0;
}

template <class T>
HeldArray hold_array(Context& context, const std::vector<T>& values, const char* what) {
  const auto buffer = std::make_shared<Buffer<T>>(context, values.size(), what);
  buffer->upload(values);
  return {buffer, buffer->cl(), buffer->bytes(), sizeof(T) == 8 ? "ulong" : "uint"};
}

/// Positions in an array, in 32 bits if all of them fit, else in 64 bits. `wide` forces 64 bits.
HeldArray hold_positions(Context& context, const std::vector<std::uint64_t>& positions,
                         const char* what, bool wide) {
  const bool fits = std::all_of(positions.begin(), positions.end(), [](std::uint64_t each) {
    return each <= std::numeric_limits<std::uint32_t>::max();
  });
  if (wide || !fits) return hold_array(context, positions, what);
  return hold_array(context, std::vector<std::uint32_t>(positions.begin(), positions.end()), what);
}

/// The numbers of a matrix on the device.
struct HeldWeights {
  HeldArray array;
  float scale = 1;  ///< What kernels multiply by what is held.
  const char* option = "";
};

const cl::Buffer& kernel_argument(const HeldWeights& weights) { return weights.array.buffer; }
std::size_t bytes_of(const HeldWeights& weights) { return weights.array.bytes; }

HeldWeights hold_weights(Context& context, const std::vector<float>& values,
                         const ProductOptions& how) {
  constexpr const char* kWhat = "the numbers of a matrix";
  if (!how.half) return {hold_array(context, values, kWhat)};
  const float scale = half_scale(values);
  std::vector<std::uint16_t> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(),
                 [&](float value) { return half_bits(value / scale); });
  return {hold_array(context, halves, kWhat), scale, " -DHALF"};
}

/// Work-items, which are rounded up to whole groups of `group` (0: the driver chooses).
struct SpmvRange {
  std::size_t items;
  std::size_t group;
};

/// The product of a matrix by the kernel of a file; the vectors follow the arguments, whose arrays
/// a product reads whole.
template <class Matrix, class... Arguments>
SparseProduct kernel_product(Context& context, const Matrix& matrix, const char* file,
                             const std::string& options, const HeldWeights& weights,
                             const SpmvRange& range, const Arguments&... arguments) {
  const KernelFile kernels(context, file, options + weights.option + " -DRECURRENCE");
  const bool free = range.group == 0;
  const cl::NDRange global(round_up(range.items, free ? 1 : range.group));
  const cl::NDRange local = free ? cl::NullRange : cl::NDRange(range.group);
  return {matrix.rows, matrix.cols, (std::size_t{0} + ... + bytes_of(arguments)),
          [=, scale = weights.scale](const Buffer<float>& in, Buffer<float>& out,
                                     const Recurrence& step) {
            const Recurrence scaled{scale * step.alpha, step.beta, step.gamma};
            kernels.launch("spmv", global, local, arguments..., in, out, &scaled);
          }};
}

/// A product that reads the diagonals' rows alone of what is held.
SparseProduct diagonals_alone(const MatrixDiagonals& matrix, const ProductOptions& how,
                              SparseProduct product) {
  product.matrix_bytes = (how.half ? 2 : 4) * matrix.offsets.size() * matrix.rows;
  return product;
}

}  // namespace

SpmvStreamForm spmv_stream_form(const DeviceInfo& device) {
  SpmvStreamForm form;
  form.group = spmv_group(device, form.group);
  while (form.tile > form.group && (form.tile + form.group) * sizeof(float) > device.local_memory) {
    form.tile /= 2;
  }
  check_local_memory(device, (form.tile + form.group) * sizeof(float));
  return form;
}

std::vector<std::uint32_t> spmv_stream_bounds(const std::vector<std::uint64_t>& starts,
                                              const SpmvStreamForm& form) {
  const std::size_t rows = starts.size() - 1;
  std::vector<std::uint32_t> bounds = {0};
  for (std::size_t row = 0; row < rows;) {
    std::size_t next = row + 1;
    while (next < rows && next - row < form.group && starts[next + 1] - starts[row] <= form.tile) {
      ++next;
    }
    bounds.push_back(static_cast<std::uint32_t>(next));
    row = next;
  }
  return bounds;
}

namespace {

// The product of each format with the kernel that Implementation::kernel names, one of
// kernels/spmv/spmv_*.cl, which reads and writes nothing beyond columns and rows. Each throws
// DeviceError, also where local memory does not hold what the kernel needs.

SparseProduct diagonal_product(Context& context, const MatrixDiagonals& matrix,
                               const std::string& kernel, const ProductOptions& how) {
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const HeldArray offsets = hold_array(context, matrix.offsets, "a matrix's offsets");
  const std::size_t diagonals = matrix.offsets.size();
  const bool run = kernel.ends_with("run");
  // A matrix without diagonals has no offsets to compile in.
  const bool compiled =
      kernel.starts_with("compiled") && diagonals > 0 && diagonals <= kMostCompiled;
  const std::size_t group = spmv_group(context.info(), run ? 1 : kGroup);
  const std::size_t rows = run ? kRunRows : 1;
  std::string options = fmt::format("-DGROUP={}", group);
  if (run) options += fmt::format(" -DROWS={}", rows);
  if (compiled)
    options += fmt::format(" {}", compiled_offsets(matrix.offsets, matrix.pitch, kUnrolledTerms));
  const char* file = run ? "spmv/spmv_dia_run.cl" : "spmv/spmv_dia_row.cl";
  return diagonals_alone(
      matrix, how,
      kernel_product(context, matrix, file, options, values,
                     {round_up(matrix.rows, rows) / rows, group}, values, offsets,
                     static_cast<int>(diagonals), matrix.pitch, matrix.rows, matrix.cols));
}

SparseProduct band_product(Context& context, const MatrixDiagonals& matrix,
                           const std::string& kernel, const ProductOptions& how) {
  std::vector<std::int64_t> firsts;
  std::vector<std::uint32_t> widths;
  std::uint32_t widest = 1;
  for (const DiagonalBand& band : diagonal_bands(matrix.offsets, kWidestBand)) {
    firsts.push_back(band.first);
    widths.push_back(band.width);
    widest = std::max(widest, band.width);
  }
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const HeldArray first_of = hold_array(context, firsts, "a matrix's bands");
  const HeldArray width_of = hold_array(context, widths, "the widths of a matrix's bands");
  const bool local = kernel.starts_with("local");
  const std::size_t rows = number_of(kernel);
  const std::size_t group = spmv_group(context.info(), kGroup);
  std::string options = fmt::format("-DGROUP={} -DROWS={}", group, rows);
  if (local) {
    check_local_memory(context.info(), (group * rows + widest) * sizeof(float));
    options += fmt::format(" -DWIDEST={}", widest);
  }
  return diagonals_alone(
      matrix, how,
      kernel_product(context, matrix, "spmv/spmv_bdia.cl", options, values,
                     {round_up(matrix.rows, rows) / rows, group}, values, first_of, width_of,
                     static_cast<int>(firsts.size()), matrix.pitch, matrix.rows, matrix.cols));
}

SparseProduct sliced_product(Context& context, const SlicedMatrix& matrix,
                             const std::string& kernel, const ProductOptions& how) {
  const HeldArray starts =
      hold_positions(context, matrix.starts, "a matrix's slices", how.wide_positions);
  const HeldArray columns = hold_array(context, matrix.columns, "a matrix's columns");
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const HeldArray order = hold_array(context, matrix.order, "the order of a matrix's rows");
  const std::size_t lanes = number_of(kernel);
  std::string options = fmt::format("-DLANES={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}", lanes,
                                    starts.positions, matrix.block.height, matrix.block.width);
  if (matrix.sliced) options += fmt::format(" -DSLICE={}", matrix.height);
  if (!matrix.order.empty()) options += " -DSORTED";
  return kernel_product(context, matrix, "spmv/spmv_ell.cl", options, values,
                        {matrix.block_rows() / lanes, 0}, starts, columns, values, order,
                        matrix.height, matrix.block_rows(), matrix.rows, matrix.cols);
}

SparseProduct row_product(Context& context, const CsrMatrix& matrix, const BlockSize& block,
                          const std::string& kernel, const ProductOptions& how) {
  const HeldArray starts =
      hold_positions(context, matrix.starts, "a matrix's rows", how.wide_positions);
  const HeldArray columns = hold_array(context, matrix.columns, "a matrix's columns");
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const std::size_t group = spmv_group(context.info(), kGroup);
  std::string options = fmt::format("-DGROUP={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}", group,
                                    starts.positions, block.height, block.width);
  const bool parts = kernel.starts_with("parts");
  // Work-items for a block row: one for "scalar".
  const std::size_t items = parts ? 1 : std::min(number_of(kernel), group);
  options += fmt::format(" -DITEMS={}", items);
  if (parts) options += fmt::format(" -DPARTS={}", number_of(kernel));
  return kernel_product(context, matrix, "spmv/spmv_csr.cl", options, values,
                        {block_rows(matrix) * items, group}, starts, columns, values,
                        block_rows(matrix), matrix.rows, matrix.cols);
}

SparseProduct stream_product(Context& context, const CsrMatrix& matrix, const ProductOptions& how) {
  const SpmvStreamForm form = spmv_stream_form(context.info());
  const std::vector<std::uint32_t> first_rows = spmv_stream_bounds(matrix.starts, form);
  const HeldArray starts =
      hold_positions(context, matrix.starts, "a matrix's rows", how.wide_positions);
  const HeldArray columns = hold_array(context, matrix.columns, "a matrix's columns");
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const HeldArray bounds = hold_array(context, first_rows, "the rows of work-groups");
  return kernel_product(
      context, matrix, "spmv/spmv_stream.cl",
      fmt::format("-DGROUP={} -DTILE={} -DSTART={}", form.group, form.tile, starts.positions),
      values, {(first_rows.size() - 1) * form.group, form.group}, bounds, starts, columns, values);
}

SparseProduct entry_product(Context& context, const CsrMatrix& matrix, const std::string& kernel,
                            const ProductOptions& how) {
  const HeldArray rows_of =
      hold_array(context, entry_rows(matrix), "the rows of a matrix's entries");
  const HeldArray columns = hold_array(context, matrix.columns, "a matrix's columns");
  const HeldWeights values = hold_weights(context, matrix.values, how);
  const std::size_t count = matrix.nonzeros();
  const bool run = kernel == "run";
  const std::size_t group = spmv_group(context.info(), run ? 1 : 256);
  // Of a run half of the local memory, up to what a CPU's first cache holds. Shares are odd, so
  // that work-items use different banks.
  const std::size_t share =
      run ? std::clamp<std::size_t>(context.info().local_memory / 16, 7, 1023) : 7;
  // A product and a row for each entry, a head and a flag for each work-item.
  check_local_memory(context.info(), group * (share * 8 + 5));
  const std::size_t groups = round_up(count, group * share) / (group * share);
  const KernelFile kernels(
      context, "spmv/spmv_coo.cl",
      fmt::format("-DGROUP={} -DSHARE={}{} -DRECURRENCE", group, share, values.option));
  const auto carries =
      std::make_shared<const Buffer<float>>(context, groups, "sums across work-groups");
  // The kernel always adds, because no work-item writes rows without entries.
  return {
      matrix.rows, matrix.cols, rows_of.bytes + columns.bytes + bytes_of(values),
      [=, rows = matrix.rows](const Buffer<float>& in, Buffer<float>& out, const Recurrence& step) {
        const Recurrence scaled{values.scale * step.alpha, step.beta, step.gamma};
        if (step.beta != 0 || step.gamma != 1) {
          kernels.launch("begin", cl::NDRange(rows), cl::NullRange, rows, in, out, &scaled);
        }
        kernels.launch("spmv", cl::NDRange(groups * group), cl::NDRange(group), rows_of, columns,
                       values, count, *carries, in, out, &scaled);
        if (groups < 2) return;
        kernels.launch("carry", cl::NDRange(groups - 1), cl::NullRange, rows_of, count, groups,
                       *carries, out, scaled.alpha);
      }};
}

}  // namespace

SparseProduct make_product(Context& context, const CsrMatrix& matrix,
                           const Implementation& implementation, const ProductOptions& options) {
  check_known(implementation);
  const std::string& kernel = implementation.kernel;
  const BlockSize& block = implementation.block;
  const auto blocks = [&] { return block_matrix(matrix, block, options.limits); };
  const auto sliced = [&](const CsrMatrix& rows, bool slices) {
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

SparseProduct make_diagonal_product(Context& context, const CsrMatrix& matrix,
                                    const std::vector<std::int64_t>& offsets,
                                    const Implementation& implementation,
                                    const ProductOptions& options) {
  check_known(implementation);
  const MatrixDiagonals part = diagonal_part(matrix, offsets);
  if (implementation.format == Format::kDia) {
    return diagonal_product(context, part, implementation.kernel, options);
  }
  if (implementation.format == Format::kBdia) {
    return band_product(context, part, implementation.kernel, options);
  }
  throw ConfigError(fmt::format("'{}' holds no diagonals", to_string(implementation)));
}

}  // namespace diacut
