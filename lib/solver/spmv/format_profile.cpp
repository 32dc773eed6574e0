#include "spmv/format_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/embedded_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

using nlohmann::json;

/// Where `at` lies in an ascending axis: between which points, and how far along, by logarithm.
struct Position {
  std::size_t low = 0;
  std::size_t high = 0;
  double share = 0.0;
  double below = 1.0;  ///< Less than 1 below the axis: by which the rate falls.
};

Position position_in(const std::vector<double>& axis, double at) {
  if (at <= axis.front()) return {0, 0, 0.0, std::max(at, 1e-9) / axis.front()};
  if (at >= axis.back()) return {axis.size() - 1, axis.size() - 1, 0.0, 1.0};
  const auto high =
      static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), at) - axis.begin());
  const double from = std::log(axis[high - 1]);
  return {high - 1, high, (std::log(at) - from) / (std::log(axis[high]) - from), 1.0};
}

std::vector<double> axis(const json& root, const char* key) {
  const std::vector<double> values = profile_numbers(root.at(key), key, false);
  if (!std::is_sorted(values.begin(), values.end(), std::less_equal<>())) {
    throw ConfigError(fmt::format("{} does not ascend", key));
  }
  return values;
}

FormatProfile format_profile_of(const json& root) {
  FormatProfile profile;
  profile.device = device_of(root);
  profile.copy = profile_numbers(json::array({root.at("copy_gigabytes_per_second")}),
                                 "copy_gigabytes_per_second", false)
                     .front();
  profile.rows = axis(root, "rows");
  profile.row_lengths = axis(root, "row_lengths");
  const json& rates = root.at("gflops");
  for (const Implementation& each : all_implementations()) {
    const std::string name = to_string(each);
    if (!rates.contains(name)) continue;
    std::vector<double> values = profile_numbers(rates[name], name, true);
    if (values.size() != profile.rows.size() * profile.row_lengths.size()) {
      throw ConfigError(fmt::format("{} has {} values, expected {}", name, values.size(),
                                    profile.rows.size() * profile.row_lengths.size()));
    }
    profile.rates.push_back({each, std::move(values)});
  }
  return profile;
}

/// "[1, 2.5]".
std::string list_text(const std::vector<double>& values) {
  std::string line;
  for (const double value : values) {
    line += fmt::format("{}{:.7g}", line.empty() ? "" : ", ", value);
  }
  return "[" + line + "]";
}

}  // namespace

double FormatProfile::expected_gflops(const Rates& of, double row_count, double row_length) const {
  const Position r = position_in(rows, row_count);
  const Position l = position_in(row_lengths, row_length);
  // What was not measured, for its size, is like the next smaller.
  const auto value = [&](std::size_t i, std::size_t j) {
    for (std::size_t up = 0; up <= i; ++up) {
      for (std::size_t left = 0; left <= j; ++left) {
        const double each = of.gflops[(i - up) * row_lengths.size() + (j - left)];
        if (each > 0.0) return each;
      }
    }
    return 0.0;
  };
  const double low = std::lerp(value(r.low, l.low), value(r.low, l.high), l.share);
  const double high = std::lerp(value(r.high, l.low), value(r.high, l.high), l.share);
  return std::lerp(low, high, r.share) * r.below * l.below;
}

double FormatProfile::expected_milliseconds(const Rates& of, double row_count,
                                            double stored) const {
  if (row_count <= 0.0 || stored <= 0.0) return 0.0;
  const double rate = expected_gflops(of, row_count, stored / row_count);
  return rate > 0.0 ? 2e-6 * stored / rate : std::numeric_limits<double>::infinity();
}

std::string format_profile_part(const FormatProfile& profile) {
  std::string text = fmt::format(
      "  \"copy_gigabytes_per_second\": {:.6g},\n  \"rows\": {},\n  \"row_lengths\": {},\n  "
      "\"gflops\": {{",
      profile.copy, list_text(profile.rows), list_text(profile.row_lengths));
  const char* separator = "\n";
  for (const FormatProfile::Rates& each : profile.rates) {
    text += fmt::format("{}    \"{}\": {}", separator, to_string(each.implementation),
                        list_text(each.gflops));
    separator = ",\n";
  }
  return text + "\n  }";
}

FormatProfile parse_format_profile(const std::string& text, const std::string& name) {
  FormatProfile profile;
  read_profile(text, name, [&](const json& root) { profile = format_profile_of(root); });
  return profile;
}

FoundProfile<FormatProfile> find_format_profile(const DeviceInfo& device) {
  FoundProfile<FormatProfile> choice;
  choice.origin =
      find_profile(device, [&](const json& root) { choice.profile = format_profile_of(root); });
  return choice;
}

FormatProfile profile_or_likeness(const DeviceInfo& device) {
  FoundProfile<FormatProfile> found = find_format_profile(device);
  if (found.profile) return std::move(*found.profile);
  for (const EmbeddedText& each : embedded_profiles()) {
    FormatProfile profile = parse_format_profile(std::string(each.text), std::string(each.name));
    if (!found.profile || profile.device.kind == device.kind) found.profile = std::move(profile);
  }
  return std::move(*found.profile);
}

}  // namespace diacut
