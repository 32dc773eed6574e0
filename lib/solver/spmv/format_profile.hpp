#pragma once

#include <string>
#include <vector>

#include "matrix/device_profile.hpp"
#include "spmv/product.hpp"

namespace diacut {

/// The part of a device profile that says how fast the general sparse formats are: for each
/// implementation a table of GFLOP/s (two operations for each stored element) over the number of
/// rows and the stored elements in a row, as the off-line benchmarking stage of clSpMV makes it (Su
/// and Keutzer 2012, section 4).
struct FormatProfile {
  /// GFLOP/s of one implementation: rows.size() * row_lengths.size() values, a length varying
  /// fastest; 0 where nothing was measured.
  struct Rates {
    Implementation implementation;
    std::vector<double> gflops;
    bool operator==(const Rates&) const = default;
  };

  ProfiledDevice device;
  double copy = 0.0;                ///< GB/s of a plain copy, read and written.
  std::vector<double> rows;         ///< Numbers of rows, ascending, at least one.
  std::vector<double> row_lengths;  ///< Stored elements in a row, ascending, at least one.
  std::vector<Rates> rates;         ///< In the order of all_implementations().

  bool operator==(const FormatProfile&) const = default;

  /// The expected GFLOP/s, bilinear in the logarithms of both axes. Above the table the rate of its
  /// edge holds; below the table the time of its edge holds. 0 if nothing near was measured.
  double expected_gflops(const Rates& of, double row_count, double row_length) const;
  /// The expected time of a product with `stored` elements in that many rows; infinite if nothing
  /// near was measured.
  double expected_milliseconds(const Rates& of, double row_count, double stored) const;
};

/// As a part for profile_text(), a line for each implementation.
std::string format_profile_part(const FormatProfile& profile);

/// The part of a whole profile's text, which `name` stands for in messages. Implementations that
/// this version does not know are left out. Throws ConfigError saying what is wrong: no JSON,
/// another version, missing or misshapen members, numbers that are no rates.
FormatProfile parse_format_profile(const std::string& text, const std::string& name);

FoundProfile<FormatProfile> find_format_profile(const DeviceInfo& device);

/// That profile, or where there is none a built-in one of another device of the same kind, of
/// whatever kind if there is none.
FormatProfile profile_or_likeness(const DeviceInfo& device);

}  // namespace diacut
