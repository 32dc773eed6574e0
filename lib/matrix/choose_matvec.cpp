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
#include "matrix/matvec.hpp"
#include "matrix/symmetric_dia.hpp"

namespace diacut {

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
