#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/parameters.hpp"
#include "spmv/product.hpp"

namespace diacut {

/// What a device reached, measured once by `diacut-bench tune` and read by whoever has to choose a
/// product: for each implementation a table of GFLOP/s (two for each stored element) over rows and
/// stored elements a row, as clSpMV's off-line benchmarking stage makes it (Su and Keutzer 2012,
/// section 4); and what the stencil's product reached by rows.
struct DeviceProfile {
  struct Matvec {
    std::size_t rows = 0;
    MatvecKind kernel = MatvecKind::kUnrolled;
    MatvecStorage storage = MatvecStorage::kAuto;  ///< Of kSymmetric, and then never kAuto.
    double gflops = 0.0;
    bool operator==(const Matvec&) const = default;
  };

  /// GFLOP/s of one implementation: rows.size() * row_lengths.size() values, a length varying
  /// fastest; 0 where nothing was measured.
  struct Rates {
    Implementation implementation;
    std::vector<double> gflops;
    bool operator==(const Rates&) const = default;
  };

  std::string name;  ///< Of the device, its platform and driver, as OpenCL tells them.
  std::string platform;
  std::string driver;
  DeviceKind kind = DeviceKind::kOther;
  double copy = 0.0;         ///< GB/s of a plain copy, read and written.
  std::vector<double> rows;  ///< Ascending, at least one; so are the next.
  std::vector<double> row_lengths;
  std::vector<Rates> rates;  ///< In the order of all_implementations().
  /// By rows, ascending: the fastest kernel that reads the whole matrix, and each storage of the
  /// compressed one.
  std::vector<Matvec> matvec;

  bool operator==(const DeviceProfile&) const = default;

  /// GFLOP/s expected, bilinear in the logarithms of both; beyond the table its edge holds, except
  /// that below it the time stays, not the rate. 0 if nothing near was measured.
  double expected_gflops(const Rates& of, double row_count, double row_length) const;
  /// Of `stored` elements in that many rows; infinite if nothing near was measured.
  double expected_milliseconds(const Rates& of, double row_count, double stored) const;
  /// The fastest among the kernels that read the whole matrix and the compressed form in
  /// `storages`, each as it was at the nearest number of rows, by ratio.
  std::optional<Matvec> fastest_matvec(std::size_t row_count,
                                       std::span<const MatvecStorage> storages = {}) const;
};

/// As JSON, a line for each implementation.
std::string profile_text(const DeviceProfile& profile);
/// Throws ConfigError saying what is wrong with the text, which `name` stands for: no JSON, of
/// another version, missing or misshapen parts, numbers that are no rates. Unknown implementations
/// and kernels are left out: they are another version's.
DeviceProfile parse_profile(const std::string& text, const std::string& name);

/// Where `tune` puts a device's profile and others look for it:
/// $XDG_DATA_HOME/diacut/profiles/DEVICE.json, or in ~/.local/share; empty without a home.
std::string profile_path(const DeviceInfo& device);

/// A device's profile: the one in profile_path() if it is of this device and driver, else one that
/// ships with diacut, else none. `note` is empty or a sentence for a person: the file there could
/// not be used, and why.
struct ProfileChoice {
  std::optional<DeviceProfile> profile;
  std::string source;  ///< The file's path, or the name of the built-in one.
  std::string note;
};
ProfileChoice find_profile(const DeviceInfo& device);

}  // namespace diacut
