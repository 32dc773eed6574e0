#include "spmv/format_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "diacut/errors.hpp"
#include "matrix/dia_matrix.hpp"
#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {

constexpr std::size_t kGroup = 128;  ///< The most work-items in a group of most kernels.
/// The widest band of BDIA: the stretch of x that it needs fits any local memory.
constexpr std::uint32_t kWidestBand = 128;
/// The most offsets that are compiled in: programs with more are large and no faster.
constexpr std::size_t kMostCompiled = 160;
/// Rows of a run of DIA, and the terms that the compiled-in run adds in one pass over them: as many
/// streams of memory as the prefetchers of a CPU follow.
constexpr std::size_t kRunRows = 512;
constexpr std::size_t kBlockTerms = 8;

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

/// Adds up entries, which the kernel always does, because no work-item writes rows without entries.
class EntryProduct final : public KernelProduct {
 public:
  EntryProduct(Context& context, const CsrMatrix& matrix, std::size_t group, std::size_t share,
               const ProductOptions& how)
      : KernelProduct(context, matrix.rows, matrix.cols), adds_(how.add) {
    const cl::Buffer rows_of = hold(entry_rows(matrix), "the rows of a matrix's entries");
    const cl::Buffer columns = hold(matrix.columns, "a matrix's columns");
    const cl::Buffer values = hold(matrix.values, "a matrix's elements");
    const std::size_t count = matrix.nonzeros();
    group = spmv_group(context.info(), group);
    // A product and a row for each entry, a head and a flag for each work-item.
    check_local_memory(context.info(), group * (share * 8 + 5));
    groups_ = round_up(count, group * share) / (group * share);
    const std::string file = "spmv/spmv_coo.cl";
    const std::string options = fmt::format("-DGROUP={} -DSHARE={}", group, share);
    set_kernel(file, options, false, {groups_ * group, group}, rows_of, columns, values, count);
    carries_ = Buffer<float>(context, groups_, "sums across work-groups");
    set_last(carries_);
    carry_ = kernel(file, "carry", options);
    set_arguments(carry_, rows_of, count, groups_, carries_);
    clear_ = kernel(file, "clear", options);
    set_arguments(clear_, rows());
  }

  void product(const Buffer<float>& in, Buffer<float>& out) override {
    if (!adds_) {
      set_arguments_from(clear_, 1, out);
      context().launch(clear_, cl::NDRange(rows()), cl::NullRange);
    }
    KernelProduct::product(in, out);
    if (groups_ < 2) return;
    set_arguments_from(carry_, 4, out);
    context().launch(carry_, cl::NDRange(groups_ - 1), cl::NullRange);
  }

 private:
  bool adds_;
  std::size_t groups_ = 0;
  Buffer<float> carries_;
  cl::Kernel carry_;
  cl::Kernel clear_;
};

}  // namespace

KernelProduct::Positions KernelProduct::hold_positions(const std::vector<std::uint64_t>& positions,
                                                       const char* what, bool wide) {
  const bool fits = std::all_of(positions.begin(), positions.end(), [](std::uint64_t each) {
    return each <= std::numeric_limits<std::uint32_t>::max();
  });
  if (wide || !fits) return {hold(positions, what), "ulong"};
  return {hold(std::vector<std::uint32_t>(positions.begin(), positions.end()), what), "uint"};
}

cl::Kernel KernelProduct::kernel(const std::string& file, const std::string& name,
                                 const std::string& options) {
  return context_->kernel(file, name, options, embedded_spmv_kernels());
}

void KernelProduct::product(const Buffer<float>& in, Buffer<float>& out) {
  set_arguments_from(kernel_, bound_, in, out);
  const bool free = range_.group == 0;
  const std::size_t items = round_up(range_.items, free ? 1 : range_.group);
  context_->launch(kernel_, cl::NDRange(items), free ? cl::NullRange : cl::NDRange(range_.group));
}

std::size_t spmv_group(const DeviceInfo& device, std::size_t group) {
  return std::min(group, std::bit_floor(std::max<std::size_t>(device.max_work_group, 1)));
}

std::unique_ptr<SparseProduct> diagonal_product(Context& context, const DiagonalMatrix& matrix,
                                                const std::string& kernel,
                                                const ProductOptions& how) {
  auto product = std::make_unique<KernelProduct>(context, matrix.rows, matrix.cols);
  const cl::Buffer values = product->hold(matrix.values, "a matrix's diagonals");
  const cl::Buffer offsets = product->hold(matrix.offsets, "a matrix's offsets");
  const std::size_t diagonals = matrix.offsets.size();
  product->count_bytes(sizeof(float) * diagonals * matrix.rows);
  const bool run = kernel.ends_with("run");
  // A matrix without diagonals has no offsets to compile in.
  const bool compiled =
      kernel.starts_with("compiled") && diagonals > 0 && diagonals <= kMostCompiled;
  const std::size_t group = spmv_group(context.info(), run ? 1 : kGroup);
  const std::size_t rows = run ? kRunRows : 1;
  std::string options = fmt::format("-DGROUP={}", group);
  if (run) options += fmt::format(" -DROWS={}", rows);
  if (compiled)
    options += fmt::format(" {}", compiled_offsets(matrix.offsets, matrix.pitch, kBlockTerms));
  const char* file = run ? "spmv/spmv_dia_run.cl" : "spmv/spmv_dia_row.cl";
  product->set_kernel(file, options, how.add, {round_up(matrix.rows, rows) / rows, group}, values,
                      offsets, static_cast<int>(diagonals), matrix.pitch, matrix.rows, matrix.cols);
  return product;
}

std::unique_ptr<SparseProduct> band_product(Context& context, const DiagonalMatrix& matrix,
                                            const std::string& kernel, const ProductOptions& how) {
  std::vector<std::int64_t> firsts;
  std::vector<std::uint32_t> widths;
  std::uint32_t widest = 1;
  for (const DiagonalBand& band : diagonal_bands(matrix.offsets, kWidestBand)) {
    firsts.push_back(band.first);
    widths.push_back(band.width);
    widest = std::max(widest, band.width);
  }
  auto product = std::make_unique<KernelProduct>(context, matrix.rows, matrix.cols);
  const cl::Buffer values = product->hold(matrix.values, "a matrix's diagonals");
  const cl::Buffer first_of = product->hold(firsts, "a matrix's bands");
  const cl::Buffer width_of = product->hold(widths, "the widths of a matrix's bands");
  product->count_bytes(sizeof(float) * matrix.offsets.size() * matrix.rows);
  const bool local = kernel.starts_with("local");
  const std::size_t rows = number_of(kernel);
  const std::size_t group = spmv_group(context.info(), kGroup);
  std::string options = fmt::format("-DGROUP={} -DROWS={}", group, rows);
  if (local) {
    check_local_memory(context.info(), (group * rows + widest) * sizeof(float));
    options += fmt::format(" -DWIDEST={}", widest);
  }
  product->set_kernel("spmv/spmv_bdia.cl", options, how.add,
                      {round_up(matrix.rows, rows) / rows, group}, values, first_of, width_of,
                      static_cast<int>(firsts.size()), matrix.pitch, matrix.rows, matrix.cols);
  return product;
}

std::unique_ptr<SparseProduct> sliced_product(Context& context, const SlicedMatrix& matrix,
                                              const std::string& kernel,
                                              const ProductOptions& how) {
  auto product = std::make_unique<KernelProduct>(context, matrix.rows, matrix.cols);
  const KernelProduct::Positions starts =
      product->hold_positions(matrix.starts, "a matrix's slices", how.wide_positions);
  const cl::Buffer columns = product->hold(matrix.columns, "a matrix's columns");
  const cl::Buffer values = product->hold(matrix.values, "a matrix's elements");
  const cl::Buffer order = product->hold(matrix.order, "the order of a matrix's rows");
  const std::size_t lanes = number_of(kernel);
  std::string options = fmt::format("-DLANES={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}", lanes,
                                    starts.type, matrix.block.height, matrix.block.width);
  if (matrix.sliced) options += fmt::format(" -DSLICE={}", matrix.height);
  if (!matrix.order.empty()) options += " -DSORTED";
  product->set_kernel("spmv/spmv_ell.cl", options, how.add, {matrix.block_rows() / lanes, 0},
                      starts.buffer, columns, values, order, matrix.height, matrix.block_rows(),
                      matrix.rows, matrix.cols);
  return product;
}

std::unique_ptr<SparseProduct> row_product(Context& context, const CsrMatrix& matrix,
                                           const BlockSize& block, const std::string& kernel,
                                           const ProductOptions& how) {
  auto product = std::make_unique<KernelProduct>(context, matrix.rows, matrix.cols);
  const KernelProduct::Positions starts =
      product->hold_positions(matrix.starts, "a matrix's rows", how.wide_positions);
  const cl::Buffer columns = product->hold(matrix.columns, "a matrix's columns");
  const cl::Buffer values = product->hold(matrix.values, "a matrix's elements");
  const std::size_t group = spmv_group(context.info(), kGroup);
  std::string options = fmt::format("-DGROUP={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}", group,
                                    starts.type, block.height, block.width);
  const bool parts = kernel.starts_with("parts");
  // Work-items for a block row: one for "scalar".
  const std::size_t items = parts ? 1 : std::min(number_of(kernel), group);
  options += fmt::format(" -DITEMS={}", items);
  if (parts) options += fmt::format(" -DPARTS={}", number_of(kernel));
  product->set_kernel("spmv/spmv_csr.cl", options, how.add, {matrix.block_rows() * items, group},
                      starts.buffer, columns, values, matrix.block_rows(), matrix.rows,
                      matrix.cols);
  return product;
}

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

std::unique_ptr<SparseProduct> stream_product(Context& context, const CsrMatrix& matrix,
                                              const ProductOptions& how) {
  const SpmvStreamForm form = spmv_stream_form(context.info());
  const std::vector<std::uint32_t> first_rows = spmv_stream_bounds(matrix.starts, form);
  auto product = std::make_unique<KernelProduct>(context, matrix.rows, matrix.cols);
  const KernelProduct::Positions starts =
      product->hold_positions(matrix.starts, "a matrix's rows", how.wide_positions);
  const cl::Buffer columns = product->hold(matrix.columns, "a matrix's columns");
  const cl::Buffer values = product->hold(matrix.values, "a matrix's elements");
  const cl::Buffer bounds = product->hold(first_rows, "the rows of work-groups");
  product->set_kernel(
      "spmv/spmv_stream.cl",
      fmt::format("-DGROUP={} -DTILE={} -DSTART={}", form.group, form.tile, starts.type), how.add,
      {(first_rows.size() - 1) * form.group, form.group}, bounds, starts.buffer, columns, values);
  return product;
}

std::unique_ptr<SparseProduct> entry_product(Context& context, const CsrMatrix& matrix,
                                             const std::string& kernel, const ProductOptions& how) {
  if (kernel == "run") {
    // Half of the local memory, up to what a CPU's first cache holds.
    const std::size_t share = std::clamp<std::size_t>(context.info().local_memory / 16, 7, 1023);
    return std::make_unique<EntryProduct>(context, matrix, 1, share, how);
  }
  // Shares are odd, so that work-items use different banks.
  return std::make_unique<EntryProduct>(context, matrix, 256, 7, how);
}

}  // namespace diacut
