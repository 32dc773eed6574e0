#include "matrix/matvec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "matrix/device_profile.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Terms between two loops over a run: as many streams of memory as prefetchers follow.
constexpr std::size_t kBlockTerms = 16;
constexpr std::size_t kLeastWidthLog2 = 8;  // 1,024 floats.

/// The least and the largest offset, or 0: how far a row reaches to either side.
std::pair<std::int64_t, std::int64_t> reach_of(const DiaShape& shape) {
  std::pair<std::int64_t, std::int64_t> result{0, 0};
  for (const std::int64_t offset : shape.offsets) {
    result.first = std::min(result.first, offset);
    result.second = std::max(result.second, offset);
  }
  return result;
}

}  // namespace

MatvecImageSize matvec_image_size(const DeviceInfo& device, std::size_t rows) {
  if (!device.images) return {};
  for (std::size_t log2 = kLeastWidthLog2; (std::size_t{1} << log2) <= device.image_max_width;
       ++log2) {
    const MatvecImageSize size{log2, rows / (std::size_t{4} << log2)};
    if (size.height <= device.image_max_height) return size;
  }
  return {};
}

DiaOperator::DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind)
    : context_(&context), rows_(matrix.shape.rows), kind_(kind) {
  make(matrix, kind);
}

DiaOperator::DiaOperator(Context& context, const DiaMatrix& matrix, const MatvecUnrolledForm& form)
    : context_(&context), rows_(matrix.shape.rows), kind_(MatvecKind::kUnrolled) {
  make_unrolled(matrix, form);
}

void DiaOperator::make(const DiaMatrix& matrix, MatvecKind kind) {
  switch (kind) {
    case MatvecKind::kNaive:
      return make_looped(matrix, {"matrix/matvec_naive.cl", "", 128, 1});
    case MatvecKind::kAligned:
      return make_looped(matrix, {"matrix/matvec_aligned.cl", "", 128, 1});
    case MatvecKind::kLocal:
      return make_looped(matrix, {"matrix/matvec_local.cl", "", 256, 1});
    case MatvecKind::kVectorized:
      return make_looped(matrix, {"matrix/matvec_vectorized.cl", "", 128, 4});
    case MatvecKind::kCoarsened:
      return make_looped(matrix, {"matrix/matvec_coarsened.cl", "-DROWS=512", 1, 512});
    case MatvecKind::kImage:
      return make_image(matrix);
    case MatvecKind::kUnrolled:
      // A row an item on GPUs; on CPUs, which make vectors of an item's own work only, a run of
      // rows. The sums of 512 rows take 2 KiB of the first cache.
      return make_unrolled(matrix, context_->info().kind == DeviceKind::kCpu
                                       ? MatvecUnrolledForm{1, 512, 16}
                                       : MatvecUnrolledForm{256, 1, 1});
    case MatvecKind::kSymmetric:
      throw ConfigError(
          "the product 'symmetric' is of a compressed matrix, not of one in DIA form");
    case MatvecKind::kAuto:
      break;
  }
  throw ConfigError("the product 'auto' is a choice still to be made, not a kernel");
}

void DiaOperator::make_unrolled(const DiaMatrix& matrix, const MatvecUnrolledForm& form) {
  // Without a space, which would end the definition.
  std::string terms;
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    if (d % kBlockTerms == 0) terms += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += fmt::format("TERM({},{})", d, matrix.shape.offsets[d]);
  }
  if (!terms.empty()) terms += ')';
  const auto [lowest, highest] = reach_of(matrix.shape);
  build({form.rows == 1 ? "matrix/matvec_unrolled.cl" : "matrix/matvec_unrolled_runs.cl",
         fmt::format("-DROWS={} -DLANES={} -DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}",
                     form.rows, form.lanes, matrix.shape.pitch, lowest, highest, terms),
         form.group, form.rows});
  bind(matrix.values, rows_);
}

void DiaOperator::make_looped(const DiaMatrix& matrix, const File& file) {
  build(file);
  const DiaShape& shape = matrix.shape;
  offsets_ = context_->allocate<std::int64_t>(shape.diagonals(), "the matrix's offsets");
  offsets_.upload(shape.offsets);
  const auto [lowest, highest] = reach_of(shape);
  bind(matrix.values, offsets_, static_cast<int>(shape.diagonals()), shape.pitch, lowest, highest,
       rows_);
}

void DiaOperator::make_image(const DiaMatrix& matrix) {
  size_ = matvec_image_size(context_->info(), rows_);
  if (size_.width_log2 == 0) {
    throw DeviceError(
        fmt::format("{} has no images large enough for {} rows; choose another "
                    "product with --matvec",
                    context_->info().name, rows_));
  }
  const std::string width = fmt::format("-DWIDTH_LOG2={}", size_.width_log2);
  make_looped(matrix, {"matrix/matvec_image.cl", width, 128, 4});
  image_ = with_device_errors("making an image for the product", [&] {
    return cl::Image2D(context_->cl(), CL_MEM_READ_WRITE, cl::ImageFormat(CL_RGBA, CL_FLOAT),
                       std::size_t{1} << size_.width_log2, std::max<std::size_t>(size_.height, 1));
  });
  copy_ = context_->kernel("matrix/matvec_image_copy.cl", "matvec_image_copy", width);
  bind(image_, size_.height * size_.row_floats());
}

void DiaOperator::build(const File& file) {
  group_ = std::min(file.group, context_->info().max_work_group);
  items_ = round_up((rows_ + file.rows_per_item - 1) / file.rows_per_item, group_);
  const std::string options = fmt::format("-DGROUP={} {}", group_, file.options);
  plain_ = context_->kernel(file.file, "matvec", options);
  recurrence_ = context_->kernel(file.file, "matvec", options + " -DRECURRENCE");
}

template <class... Arguments>
void DiaOperator::bind(const Arguments&... arguments) {
  set_arguments_from(plain_, bound_, arguments...);
  set_arguments_from(recurrence_, bound_, arguments...);
  bound_ += sizeof...(arguments);
}

void DiaOperator::perform_op(const Buffer<float>& in, Buffer<float>& out) {
  set_arguments_from(plain_, bound_, in, out);
  launch(plain_, in);
}

void DiaOperator::perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                     float beta, float gamma) {
  set_arguments_from(recurrence_, bound_, in, out, alpha, beta, gamma);
  launch(recurrence_, in);
}

void DiaOperator::launch(const cl::Kernel& kernel, const Buffer<float>& in) {
  if (size_.height > 0) {
    set_arguments(copy_, in, image_);
    launch_rows(*context_, copy_, std::size_t{1} << size_.width_log2, size_.height);
  }
  context_->launch(kernel, cl::NDRange(items_), cl::NDRange(group_));
  ++products_;
}

namespace {

/// Where a measurement found a kernel better than the rule in choose_matvec(). The first entry that
/// fits a device and a matrix holds. Figures: diacut-bench spmv, radius 5.
struct Measured {
  DeviceKind device;
  const char* vendor;  ///< Part of the device's vendor.
  std::size_t rows;    ///< At most.
  MatvecKind kind;
};
constexpr std::size_t kAnyRows = std::numeric_limits<std::size_t>::max();
constexpr std::array<Measured, 2> kMeasured = {{
    // H200, 0.15 million rows: 1281 GFLOP/s, where `image` reaches 468.
    {DeviceKind::kGpu, "NVIDIA", std::size_t{1} << 19, MatvecKind::kNaive},
    // H200, 4 and 16 million rows: 1992 and 2067, where `image` reaches 1584 and 1723.
    {DeviceKind::kGpu, "NVIDIA", kAnyRows, MatvecKind::kUnrolled},
}};

bool has_image_for(const DeviceInfo& device, const DiaShape& shape) {
  return matvec_image_size(device, shape.rows).width_log2 != 0;
}

/// The storage that a device without a profile takes of those allowed: the fewest bytes. On CPUs
/// and GPUs, at every size that was measured, the compressed form beats the whole matrix, of which
/// it reads a half to an eighth.
std::optional<MatvecStorage> smallest(std::span<const MatvecStorage> storages) {
  for (const MatvecStorage each :
       {MatvecStorage::kMinifloat, MatvecStorage::kHalf, MatvecStorage::kFloat32}) {
    if (std::find(storages.begin(), storages.end(), each) != storages.end()) return each;
  }
  return std::nullopt;
}

MatvecKind automatic(const DeviceInfo& device, std::size_t rows) {
  for (const Measured& entry : kMeasured) {
    if (entry.device == device.kind && rows <= entry.rows &&
        device.vendor.find(entry.vendor) != std::string::npos) {
      return entry.kind;
    }
  }
  return device.kind == DeviceKind::kGpu ? MatvecKind::kImage : MatvecKind::kUnrolled;
}

}  // namespace

const char* to_string(MatvecKind kind) {
  const std::string_view name = enum_name(kMatvecNames, kind);
  return name.empty() ? "unknown" : name.data();
}

MatvecKind matvec_kind(const std::string& name) {
  if (const auto found = enum_value(kMatvecNames, name)) return *found;
  std::string known;
  for (const EnumName<MatvecKind>& each : kMatvecNames) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  }
  throw ConfigError(fmt::format("'{}' is no product; it is one of {}", name, known));
}

std::string MatvecChoice::name() const {
  return kind == MatvecKind::kSymmetric ? fmt::format("{} {}", to_string(kind), to_string(storage))
                                        : std::string(to_string(kind));
}

MatvecChoice choose_matvec(const MatvecParameters& asked, const DeviceInfo& device,
                           const DiaShape& shape, std::span<const MatvecStorage> storages) {
  MatvecChoice choice{asked.kernel, MatvecStorage::kAuto, {}};
  if (asked.kernel == MatvecKind::kAuto) {
    // A profile of the device, then the rule.
    const MatvecProfileChoice found = find_matvec_profile(device);
    choice.note = found.origin.note;
    const std::optional<MatvecProfile::Rate> tuned =
        found.profile ? found.profile->fastest(shape.rows, storages) : std::nullopt;
    if (tuned) {
      choice.kind = tuned->kernel;
      choice.storage = tuned->storage;
    } else if (const auto storage = smallest(storages)) {
      choice.kind = MatvecKind::kSymmetric;
      choice.storage = *storage;
    } else {
      choice.kind = automatic(device, shape.rows);
    }
  } else if (asked.kernel == MatvecKind::kSymmetric) {
    choice.storage = choose_storage(asked.storage);
  }
  if (choice.kind != MatvecKind::kImage || has_image_for(device, shape)) return choice;
  const std::string why =
      device.images ? fmt::format("its images, at most {} x {}, do not hold {} rows",
                                  device.image_max_width, device.image_max_height, shape.rows)
                    : std::string("it has no images");
  // Whoever names a step of the ladder gets the step below it; `auto` the fastest.
  choice.kind =
      asked.kernel == MatvecKind::kImage ? MatvecKind::kVectorized : MatvecKind::kUnrolled;
  choice.note +=
      fmt::format("{}the product 'image' cannot run on {}: {}; '{}' is used instead",
                  choice.note.empty() ? "" : "; ", device.name, why, to_string(choice.kind));
  return choice;
}

std::unique_ptr<DeviceOperator> make_matvec(Context& context, const NormalizedMatrix& matrix,
                                            const MatvecChoice& choice) {
  if (matrix.form() == MatrixForm::kCompressed) {
    return std::make_unique<SymmetricOperator>(context, matrix.compressed());
  }
  if (choice.kind != MatvecKind::kSymmetric) {
    return std::make_unique<DiaOperator>(context, matrix.dia(), choice.kind);
  }
  return std::make_unique<SymmetricOperator>(
      context, compress(context, matrix.dia(), matrix.grid(), matrix.stencil(), choice.storage,
                        matrix.sqrt_degree()));
}

}  // namespace diacut
