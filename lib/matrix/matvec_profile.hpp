#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/parameters.hpp"
#include "matrix/device_profile.hpp"

namespace diacut {

/// The part "matvec" of a device profile: what the stencil's product reached by the number of rows.
struct MatvecProfile {
  struct Rate {
    std::size_t rows = 0;
    MatvecKind kernel = MatvecKind::kUnrolled;
    MatvecStorage storage = MatvecStorage::kAuto;  ///< Of kSymmetric, and then never kAuto.
    double gflops = 0.0;
    bool operator==(const Rate&) const = default;
  };

  /// By rows, ascending: the fastest kernel that reads the whole matrix, and each storage of the
  /// compressed matrix.
  std::vector<Rate> rates;

  bool operator==(const MatvecProfile&) const = default;

  /// The fastest among the kernels that read the whole matrix and the compressed matrix in
  /// `storages`, each with its rate at the nearest number of rows, by ratio. Nothing if no rate of
  /// these is known.
  std::optional<Rate> fastest(std::size_t rows, std::span<const MatvecStorage> storages = {}) const;
};

/// As a part for profile_text().
std::string matvec_profile_part(const MatvecProfile& profile);

/// Reads the part. Kernels and storages that this version does not know are left out. Throws
/// ConfigError or json::exception when the part is missing or misshapen.
MatvecProfile matvec_profile_of(const nlohmann::json& root);

/// The part of the device's profile, and where it was found (see find_profile()).
struct MatvecProfileChoice {
  std::optional<MatvecProfile> profile;
  ProfileOrigin origin;
};
MatvecProfileChoice find_matvec_profile(const DeviceInfo& device);

}  // namespace diacut
