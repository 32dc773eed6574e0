#include "matrix/matvec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

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

void DeviceOperator::perform_op(const Buffer<float>& in, Buffer<float>& out) {
  bind(plain_, in, out);
  launch(plain_, in);
  ++products_;
}

void DeviceOperator::perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                        float beta, float gamma) {
  const cl_uint next = bind(recurrence_, in, out);
  set_arguments_from(recurrence_, next, alpha, beta, gamma);
  launch(recurrence_, in);
  ++products_;
}

DiaOperator::DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind)
    : context_(&context), rows_(matrix.shape.rows), kind_(kind) {
  make(matrix);
}

void DiaOperator::make(const DiaMatrix& matrix) {
  switch (kind_) {
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
      return make_unrolled(matrix);
    case MatvecKind::kSymmetric:
      throw ConfigError(
          "the product 'symmetric' is of a compressed matrix, not of one in DIA form");
    case MatvecKind::kAuto:
      break;
  }
  throw ConfigError("the product 'auto' is a choice still to be made, not a kernel");
}

void DiaOperator::make_unrolled(const DiaMatrix& matrix) {
  const std::string options =
      compiled_offsets(matrix.shape.offsets, matrix.shape.pitch, kBlockTerms);
  // A row an item on GPUs; on CPUs, which make vectors of an item's own work only, a run of rows.
  // The sums of 512 rows take 2 KiB of the first cache.
  build(context_->info().kind == DeviceKind::kCpu
            ? File{"matrix/matvec_unrolled_runs.cl", "-DROWS=512 " + options, 1, 512}
            : File{"matrix/matvec_unrolled.cl", options, 256, 1});
  bind_first(matrix.values, rows_);
}

void DiaOperator::make_looped(const DiaMatrix& matrix, const File& file) {
  build(file);
  const DiaShape& shape = matrix.shape;
  offsets_ = context_->allocate<std::int64_t>(shape.diagonals(), "the matrix's offsets");
  offsets_.upload(shape.offsets);
  const auto [lowest, highest] = reach_of(shape.offsets);
  bind_first(matrix.values, offsets_, static_cast<int>(shape.diagonals()), shape.pitch, lowest,
             highest, rows_);
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
  bind_first(image_, size_.height * size_.row_floats());
}

void DiaOperator::build(const File& file) {
  group_ = std::min(file.group, context_->info().max_work_group);
  items_ = round_up((rows_ + file.rows_per_item - 1) / file.rows_per_item, group_);
  const std::string options = fmt::format("-DGROUP={} {}", group_, file.options);
  plain_ = context_->kernel(file.file, "matvec", options);
  recurrence_ = context_->kernel(file.file, "matvec", options + " -DRECURRENCE");
}

template <class... Arguments>
void DiaOperator::bind_first(const Arguments&... arguments) {
  set_arguments_from(plain_, bound_, arguments...);
  set_arguments_from(recurrence_, bound_, arguments...);
  bound_ += sizeof...(arguments);
}

cl_uint DiaOperator::bind(Kernel& kernel, const Buffer<float>& in, Buffer<float>& out) {
  set_arguments_from(kernel, bound_, in, out);
  return bound_ + 2;
}

void DiaOperator::launch(const Kernel& kernel, const Buffer<float>& in) {
  if (size_.height > 0) {
    set_arguments(copy_, in, image_);
    launch_rows(*context_, copy_, std::size_t{1} << size_.width_log2, size_.height);
  }
  context_->launch(kernel, cl::NDRange(items_), cl::NDRange(group_));
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
  return enum_named(kMatvecNames, name, "product");
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
    const FoundProfile<MatvecProfile> found = find_matvec_profile(device);
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
                        MainDiagonal::kScaled, &matrix.sqrt_degree()));
}

}  // namespace diacut
