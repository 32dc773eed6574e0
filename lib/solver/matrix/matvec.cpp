#include "matrix/matvec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "matrix/device_profile.hpp"

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

void set_argument(cl::Kernel& kernel, cl_uint& index, const Recurrence* recurrence) {
  if (recurrence == nullptr) return;
  for (const float factor : {recurrence->alpha, recurrence->beta, recurrence->gamma}) {
    kernel.setArg(index++, factor);
  }
}

namespace {

/// A product kernel, how to build it and how it divides the rows.
struct MatvecFile {
  std::string file;
  std::string options;
  std::size_t group = 128;  ///< Work-items a group, at most; the kernel gets it as -DGROUP.
  std::size_t rows_per_item = 1;
};

std::string image_options(const MatvecImageSize& size) {
  return fmt::format("-DWIDTH_LOG2={}", size.width_log2);
}

/// `size`: that of the image with kImage.
MatvecFile file_of(const DeviceInfo& device, const DiaShape& shape, MatvecKind kind,
                   const MatvecImageSize& size) {
  switch (kind) {
    case MatvecKind::kNaive:
      return {"matrix/matvec_naive.cl", "", 128, 1};
    case MatvecKind::kAligned:
      return {"matrix/matvec_aligned.cl", "", 128, 1};
    case MatvecKind::kLocal:
      return {"matrix/matvec_local.cl", "", 256, 1};
    case MatvecKind::kVectorized:
      return {"matrix/matvec_vectorized.cl", "", 128, 4};
    case MatvecKind::kCoarsened:
      return {"matrix/matvec_coarsened.cl", "-DROWS=512", 1, 512};
    case MatvecKind::kImage:
      if (size.width_log2 > 0) return {"matrix/matvec_image.cl", image_options(size), 128, 4};
      throw DeviceError(
          fmt::format("{} has no images large enough for {} rows; choose another "
                      "product with --matvec",
                      device.name, shape.rows));
    case MatvecKind::kUnrolled: {
      // Offsets and pitch are compiled in: a program for each shape. A row an item on GPUs; on
      // CPUs, which make vectors of an item's own work only, a run of rows. The sums of 512 rows
      // take 2 KiB of the first cache.
      const std::string options = compiled_offsets(shape.offsets, shape.pitch, kBlockTerms);
      if (device.kind != DeviceKind::kCpu) return {"matrix/matvec_unrolled.cl", options, 256, 1};
      return {"matrix/matvec_unrolled_runs.cl", "-DROWS=512 " + options, 1, 512};
    }
    case MatvecKind::kSymmetric:
      throw ConfigError(
          "the product 'symmetric' is of a compressed matrix, not of one in DIA form");
    case MatvecKind::kAuto:
      break;
  }
  throw ConfigError("the product 'auto' is a choice still to be made, not a kernel");
}

}  // namespace

DiaOperator::DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind)
    : matrix_(&matrix), kind_(kind) {
  const DiaShape& shape = matrix.shape;
  if (kind == MatvecKind::kImage) size_ = matvec_image_size(context.info(), shape.rows);
  const MatvecFile file = file_of(context.info(), shape, kind, size_);
  group_ = std::min(file.group, context.info().max_work_group);
  items_ = round_up((shape.rows + file.rows_per_item - 1) / file.rows_per_item, group_);
  const std::string options = fmt::format("-DGROUP={} {}", group_, file.options);
  kernels_.emplace_back(context, file.file, options);
  kernels_.emplace_back(context, file.file, options + " -DRECURRENCE");
  if (kind == MatvecKind::kUnrolled) return;
  offsets_ = context.allocate<std::int64_t>(shape.diagonals(), "the matrix's offsets");
  offsets_.upload(shape.offsets);
  if (kind != MatvecKind::kImage) return;
  image_ = with_device_errors("making an image for the product", [&] {
    return cl::Image2D(context.cl(), CL_MEM_READ_WRITE, cl::ImageFormat(CL_RGBA, CL_FLOAT),
                       std::size_t{1} << size_.width_log2, std::max<std::size_t>(size_.height, 1));
  });
  kernels_.emplace_back(context, "matrix/matvec_image_copy.cl", image_options(size_));
}

void DiaOperator::launch(const Buffer<float>& in, Buffer<float>& out,
                         const Recurrence* recurrence) {
  const DiaShape& shape = matrix_->shape;
  const auto run = [&](const auto&... first) {
    kernels_[recurrence != nullptr ? 1 : 0].launch("matvec", cl::NDRange(items_),
                                                   cl::NDRange(group_), matrix_->values, first...,
                                                   in, out, recurrence);
  };
  if (kind_ == MatvecKind::kUnrolled) return run(shape.rows);
  const auto looped = [&](const auto&... last) {
    const auto [lowest, highest] = reach_of(shape.offsets);
    run(offsets_, static_cast<int>(shape.diagonals()), shape.pitch, lowest, highest, shape.rows,
        last...);
  };
  if (kind_ != MatvecKind::kImage) return looped();
  if (size_.height > 0) {
    kernels_[2].launch_rows("matvec_image_copy", std::size_t{1} << size_.width_log2, size_.height,
                            in, image_);
  }
  looped(image_, size_.height * size_.row_floats());
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

/// Why the product 'image' is not for a device and a matrix; empty: it is.
std::string without_image(const DeviceInfo& device, const DiaShape& shape) {
  if (!device.images) return "it has no images";
  if (device.kind == DeviceKind::kCpu) return "a CPU emulates images, slowly";
  if (matvec_image_size(device, shape.rows).width_log2 != 0) return "";
  return fmt::format("its images, at most {} x {}, do not hold {} rows", device.image_max_width,
                     device.image_max_height, shape.rows);
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
  if (choice.kind != MatvecKind::kImage) return choice;
  const std::string why = without_image(device, shape);
  if (why.empty()) return choice;
  choice.kind = MatvecKind::kUnrolled;
  choice.note += fmt::format("{}the product 'image' is not for {}: {}; 'unrolled' is used instead",
                             choice.note.empty() ? "" : "; ", device.name, why);
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
      context, std::make_unique<const SymmetricDia>(
                   compress(context, matrix.dia(), matrix.grid(), matrix.stencil(), choice.storage,
                            MainDiagonal::kScaled, &matrix.sqrt_degree())));
}

}  // namespace diacut
