#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "diacut/errors.hpp"
#include "graph/graph_product.hpp"
#include "matrix/device_matrix.hpp"
#include "spmv/hybrid/hybrid.hpp"

namespace diacut {

namespace {

/// Matrices of fewer entries take no time worth the timing of formats.
constexpr std::size_t kFewEntries = std::size_t{1} << 14;

/// The fastest implementation that has this name, or is of a format of this name, as the profile
/// expects.
Implementation named(const std::string& name, const CsrMatrix& matrix, const DeviceInfo& device) {
  if (name.find('/') != std::string::npos) return implementation_named(name);
  std::vector<Implementation> all = implementations(device);
  std::erase_if(all, [&](const Implementation& each) {
    const std::string own = to_string(each);
    return name != to_string(each.format) && name != own.substr(0, own.find('/'));
  });
  if (all.empty()) {
    throw ConfigError(fmt::format(
        "there is no format '{}'; names are like csr, csr/stream, bcsr and bcsr-4x4/scalar", name));
  }
  const FormatProfile profile = profile_or_likeness(device);
  double best = std::numeric_limits<double>::infinity();
  Implementation fastest = all.front();
  for (const FormatProfile::Rates& rates : profile.rates) {
    if (std::find(all.begin(), all.end(), rates.implementation) == all.end()) continue;
    const double elements =
        static_cast<double>(rates.implementation.block == BlockSize{}
                                ? matrix.nonzeros()
                                : count_blocks(matrix, rates.implementation.block) *
                                      rates.implementation.block.elements());
    const double time =
        profile.expected_milliseconds(rates, static_cast<double>(matrix.rows), elements);
    if (time >= best) continue;
    best = time;
    fastest = rates.implementation;
  }
  return fastest;
}

class SparseState final : public DeviceMatrix::State {
 public:
  SparseState(const DeviceQueue& on, CsrMatrix matrix, const SparseOptions& options)
      : State(on), host_(std::move(matrix)), options_(options) {
    check_csr(host_);
    check_memory();
    if (options.half) {
      for (const float value : host_.values) {
        if (!std::isfinite(value)) {
          throw InputError(fmt::format("{} among numbers of 16 bits, expected finite ones", value));
        }
      }
      const float scale = half_scale(host_.values);
      for (float& value : host_.values) value = scale * half_value(half_bits(value / scale));
    }
    rows = host_.rows;
    cols = host_.cols;
    nonzeros = host_.nonzeros();
    std::tie(product_, format) = made(host_, options.format);
    matrix_bytes = product_.matrix_bytes;
  }

 private:
  std::pair<SparseProduct, std::string> made(const CsrMatrix& matrix, const std::string& name) {
    ProductOptions how;
    how.half = options_.half;
    if (name.empty() && matrix.nonzeros() >= kFewEntries) {
      HybridChoice choice = choose_hybrid(context(), matrix, profile_or_likeness(context().info()),
                                          AnalysisOptions{0, how.half});
      return {std::move(choice.product), to_string(choice.split)};
    }
    const Implementation chosen =
        name.empty() ? implementation_named("csr/scalar") : named(name, matrix, context().info());
    return {make_product(context(), matrix, chosen, how), to_string(chosen)};
  }

  /// So that nothing is converted for nothing.
  void check_memory() const {
    constexpr double kMiB = 1024.0 * 1024.0;
    const std::uint64_t limit =
        context().memory_limit() != 0 ? context().memory_limit() : context().info().global_memory;
    const std::uint64_t least = host_.nonzeros() * (options_.half ? 2 : 4) +
                                (host_.rows + host_.cols) * sizeof(float) +
                                context().memory_in_use();
    if (least <= limit) return;
    throw DeviceMemoryError(fmt::format(
        "a matrix of {} entries and its vectors take {:.1f} MiB or more, {:.1f} MiB more than {} "
        "has ({:.1f} MiB){}",
        host_.nonzeros(), static_cast<double>(least - context().memory_in_use()) / kMiB,
        static_cast<double>(least - limit) / kMiB, context().info().name,
        static_cast<double>(limit) / kMiB,
        options_.half ? "" : ": numbers of 16 bits take half of it"));
  }

  void prepare(const ProductForm& form) override {
    if (form.vectors > 1) {
      std::optional<DeviceCsr>& matrix = block_rows_[form.transposed ? 1 : 0];
      if (!matrix) matrix.emplace(context(), narrow(form.transposed ? transposed(host_) : host_));
      if (!blocks_) blocks_.emplace(context(), static_cast<int>(form.vectors));
    } else if (form.transposed && !transposed_) {
      const CsrMatrix other = transposed(host_);
      transposed_ = other == host_ ? product_ : made(other, options_.format).first;
    }
  }

  void launch(const Buffer<float>& from, Buffer<float>& to, const Recurrence& step,
              bool by_transposed) override {
    (by_transposed ? *transposed_ : product_).product(from, to, step);
  }

  void launch_block(const Buffer<float>& from, Buffer<float>& to,
                    const ProductForm& form) override {
    const int vectors = static_cast<int>(form.vectors);
    GraphProduct::Terms terms;
    terms.x = &from;
    terms.keep = form.beta;
    terms.p = form.alpha;
    blocks_->launch(*block_rows_[form.transposed ? 1 : 0], terms, to, vectors);
  }

  static HostCsr narrow(const CsrMatrix& matrix) {
    if (matrix.nonzeros() > std::numeric_limits<std::uint32_t>::max()) {
      throw InputError(
          fmt::format("a product with several vectors by {} entries, expected at most {}: multiply "
                      "by one vector at a time",
                      matrix.nonzeros(), std::numeric_limits<std::uint32_t>::max()));
    }
    return {{matrix.starts.begin(), matrix.starts.end()}, matrix.columns, matrix.values};
  }

  std::vector<float> diagonal() const override {
    std::vector<float> result(rows, 0.0F);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::uint64_t e = host_.starts[row]; e < host_.starts[row + 1]; ++e) {
        if (host_.columns[e] == row) result[row] = host_.values[e];
      }
    }
    return result;
  }

  void check_symmetric() const override {
    const CsrMatrix other = transposed(host_);
    for (std::size_t row = 0; row < rows; ++row) {
      std::uint64_t k = other.starts[row];
      for (std::uint64_t e = host_.starts[row]; e < host_.starts[row + 1]; ++e, ++k) {
        const bool there = k < other.starts[row + 1] && other.columns[k] == host_.columns[e];
        const float back = there ? other.values[k] : 0.0F;
        const float most = std::max(std::abs(back), std::abs(host_.values[e]));
        if (there && std::abs(back - host_.values[e]) <= 1e-6F * most) continue;
        throw InputError(
            fmt::format("the matrix is not symmetric: the entry at row {}, column {} is {}, the "
                        "opposite one {}",
                        row, host_.columns[e], host_.values[e], back));
      }
    }
  }

  CsrMatrix host_;
  SparseOptions options_;
  SparseProduct product_;
  std::optional<SparseProduct> transposed_;
  std::optional<DeviceCsr> block_rows_[2];  ///< For several vectors: the matrix and the transposed.
  std::optional<GraphProduct> blocks_;
};

std::unique_ptr<DeviceMatrix::State> made_state(const DeviceQueue& queue, CsrMatrix&& matrix,
                                                const SparseOptions& options) {
  const std::lock_guard lock(queue.state().turn);
  return std::make_unique<SparseState>(queue, std::move(matrix), options);
}

}  // namespace

SparseMatrix::SparseMatrix(const DeviceQueue& queue, CsrMatrix matrix, const SparseOptions& options)
    : DeviceMatrix(made_state(queue, std::move(matrix), options)) {}

}  // namespace diacut
