#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/parameters.hpp"

namespace diacut {

/// The device that a profile was measured on, as OpenCL names it.
struct ProfiledDevice {
  std::string name;
  std::string platform;
  std::string driver;
  DeviceKind kind = DeviceKind::kOther;
  bool operator==(const ProfiledDevice&) const = default;
};
ProfiledDevice profiled_device(const DeviceInfo& device);

/// A device profile is a JSON file of the rates that one device reached, which `diacut-bench tune`
/// measures. It has a version, the device, and parts that readers of their own understand:
/// "matvec" for the stencil's product (matvec_profile.hpp), and what lib/solver/spmv reads for the
/// general sparse formats. This is the file of `device` with the given parts, each a list of
/// members
/// (`"name": value`) without a comma at its end.
std::string profile_text(const ProfiledDevice& device, const std::vector<std::string>& parts);

/// What a reader of one part does with a profile. It may throw ConfigError and json::exception.
using ProfileReader = std::function<void(const nlohmann::json& root)>;

/// Parses a profile's text, checks its version, and calls `read`. Throws ConfigError naming `name`
/// and what is wrong: no JSON, another version, or what `read` found missing or misshapen.
void read_profile(const std::string& text, const std::string& name, const ProfileReader& read);

/// Reads "device". Throws json::exception when a member is missing.
ProfiledDevice device_of(const nlohmann::json& root);

/// The numbers of a JSON list, at least one, all finite and positive, or zero where `zeros` allows
/// it. Throws ConfigError naming the list `what`.
std::vector<double> profile_numbers(const nlohmann::json& values, const std::string& what,
                                    bool zeros);

/// Where `diacut-bench tune` puts a device's profile and find_profile() looks for it:
/// $XDG_DATA_HOME/diacut/profiles/DEVICE.json, or in ~/.local/share; empty without a home.
std::string profile_path(const DeviceInfo& device);

/// Where a part of a device's profile was found.
struct ProfileOrigin {
  std::string source;  ///< The file's path, the name of a built-in profile, or empty: none found.
  std::string note;    ///< Empty, or a sentence for a person: why the file was not used.
};

/// Reads a part of the profile in profile_path() if that profile is of this device and driver and
/// `read` accepts it; else of the profile for such devices that is built in, if there is one.
/// `read` must leave no trace when it throws.
ProfileOrigin find_profile(const DeviceInfo& device, const ProfileReader& read);

/// A part of a device's profile, and where it was found (see find_profile()).
template <class Part>
struct FoundProfile {
  std::optional<Part> profile;
  ProfileOrigin origin;
};

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

FoundProfile<MatvecProfile> find_matvec_profile(const DeviceInfo& device);

}  // namespace diacut
