#include "spmv/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/embedded_text.hpp"
#include "core/enum_names.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

using nlohmann::json;

constexpr int kVersion = 2;
constexpr const char* kVersionKey = "diacut_profile";
/// No profile is larger; a device file given by mistake is.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

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

std::vector<double> positive_numbers(const json& values, const std::string& what, bool zeros) {
  if (!values.is_array() || values.empty()) throw ConfigError(what + " is no list of numbers");
  std::vector<double> result;
  for (const json& value : values) {
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!std::isfinite(number) || number < 0.0 || (number == 0.0 && !zeros)) {
      throw ConfigError(fmt::format("{} has {}, expected a {} number", what, value.dump(),
                                    zeros ? "non-negative" : "positive"));
    }
    result.push_back(number);
  }
  return result;
}

std::vector<double> axis(const json& root, const char* key) {
  const std::vector<double> values = positive_numbers(root.at(key), key, false);
  if (!std::is_sorted(values.begin(), values.end(), std::less_equal<>())) {
    throw ConfigError(fmt::format("{} does not ascend", key));
  }
  return values;
}

DeviceKind kind_named(const std::string& name) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu, DeviceKind::kAccelerator}) {
    if (name == to_string(kind)) return kind;
  }
  return DeviceKind::kOther;
}

DeviceProfile profile_of(const json& root) {
  if (!root.is_object() || !root.contains(kVersionKey)) {
    throw ConfigError(fmt::format("it is no profile: it has no \"{}\"", kVersionKey));
  }
  if (root[kVersionKey] != kVersion) {
    throw ConfigError(
        fmt::format("it is of version {}, expected {}", root[kVersionKey].dump(), kVersion));
  }
  DeviceProfile profile;
  const json& device = root.at("device");
  profile.name = device.at("name").get<std::string>();
  profile.platform = device.at("platform").get<std::string>();
  profile.driver = device.at("driver").get<std::string>();
  profile.kind = kind_named(device.at("kind").get<std::string>());
  profile.copy = positive_numbers(json::array({root.at("copy_gigabytes_per_second")}),
                                  "copy_gigabytes_per_second", false)
                     .front();
  profile.rows = axis(root, "rows");
  profile.row_lengths = axis(root, "row_lengths");
  const json& rates = root.at("gflops");
  for (const Implementation& each : all_implementations()) {
    const std::string name = to_string(each);
    if (!rates.contains(name)) continue;
    std::vector<double> values = positive_numbers(rates[name], name, true);
    if (values.size() != profile.rows.size() * profile.row_lengths.size()) {
      throw ConfigError(fmt::format("{} has {} values, expected {}", name, values.size(),
                                    profile.rows.size() * profile.row_lengths.size()));
    }
    profile.rates.push_back({each, std::move(values)});
  }
  for (const json& entry : root.at("matvec")) {
    DeviceProfile::Matvec each;
    each.rows = entry.at("rows").get<std::size_t>();
    each.gflops = positive_numbers(json::array({entry.at("gflops")}), "matvec", false).front();
    const auto kernel = enum_value(kMatvecNames, entry.at("kernel").get<std::string>());
    if (!kernel || *kernel == MatvecKind::kAuto) continue;
    each.kernel = *kernel;
    if (each.kernel == MatvecKind::kSymmetric) {
      const auto storage = enum_value(kMatvecStorageNames, entry.at("storage").get<std::string>());
      if (!storage || *storage == MatvecStorage::kAuto) continue;
      each.storage = *storage;
    }
    profile.matvec.push_back(each);
  }
  std::stable_sort(profile.matvec.begin(), profile.matvec.end(),
                   [](const auto& a, const auto& b) { return a.rows < b.rows; });
  return profile;
}

/// "NVIDIA H200" as "nvidia-h200".
std::string slug(const std::string& name) {
  std::string result;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "device" : result;
}

/// A profile that ships names the devices it is for: their kind, and parts of their name and
/// platform.
bool is_for(const json& root, const DeviceInfo& device) {
  const json& match = root.at("match");
  return root.at("device").at("kind").get<std::string>() == to_string(device.kind) &&
         device.name.find(match.at("name").get<std::string>()) != std::string::npos &&
         device.platform.find(match.at("platform").get<std::string>()) != std::string::npos;
}

}  // namespace

double DeviceProfile::expected_gflops(const Rates& of, double row_count, double row_length) const {
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

double DeviceProfile::expected_milliseconds(const Rates& of, double row_count,
                                            double stored) const {
  if (row_count <= 0.0 || stored <= 0.0) return 0.0;
  const double rate = expected_gflops(of, row_count, stored / row_count);
  return rate > 0.0 ? 2e-6 * stored / rate : std::numeric_limits<double>::infinity();
}

std::optional<DeviceProfile::Matvec> DeviceProfile::fastest_matvec(
    std::size_t row_count, std::span<const MatvecStorage> storages) const {
  // Sizes may have been measured for some only: each is taken where it is nearest.
  const auto nearest = [&](MatvecStorage storage) {
    const Matvec* found = nullptr;
    double least = 0.0;
    for (const Matvec& each : matvec) {
      if (each.storage != storage) continue;
      const double distance =
          std::abs(std::log(static_cast<double>(std::max<std::size_t>(each.rows, 1))) -
                   std::log(static_cast<double>(std::max<std::size_t>(row_count, 1))));
      if (found == nullptr || distance < least) {
        found = &each;
        least = distance;
      }
    }
    return found;
  };
  const Matvec* best = nearest(MatvecStorage::kAuto);  // The whole matrix.
  for (const MatvecStorage storage : storages) {
    const Matvec* const each = nearest(storage);
    if (each != nullptr && (best == nullptr || each->gflops > best->gflops)) best = each;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string profile_text(const DeviceProfile& profile) {
  const auto rounded = [](const std::vector<double>& values) {
    std::string line;
    for (const double value : values)
      line += fmt::format("{}{:.7g}", line.empty() ? "" : ", ", value);
    return "[" + line + "]";
  };
  std::string text = fmt::format("{{\n  \"{}\": {},\n", kVersionKey, kVersion);
  text += fmt::format("  \"device\": {},\n", json{{"name", profile.name},
                                                  {"platform", profile.platform},
                                                  {"driver", profile.driver},
                                                  {"kind", to_string(profile.kind)}}
                                                 .dump());
  text += fmt::format("  \"copy_gigabytes_per_second\": {:.6g},\n", profile.copy);
  text += fmt::format("  \"rows\": {},\n  \"row_lengths\": {},\n  \"gflops\": {{",
                      rounded(profile.rows), rounded(profile.row_lengths));
  const char* separator = "\n";
  for (const DeviceProfile::Rates& each : profile.rates) {
    text += fmt::format("{}    \"{}\": {}", separator, to_string(each.implementation),
                        rounded(each.gflops));
    separator = ",\n";
  }
  text += "\n  },\n  \"matvec\": [";
  separator = "\n";
  for (const DeviceProfile::Matvec& each : profile.matvec) {
    const std::string storage =
        each.kernel == MatvecKind::kSymmetric
            ? fmt::format("\"storage\": \"{}\", ", enum_name(kMatvecStorageNames, each.storage))
            : std::string();
    text +=
        fmt::format("{}    {{\"rows\": {}, \"kernel\": \"{}\", {}\"gflops\": {:.6g}}}", separator,
                    each.rows, enum_name(kMatvecNames, each.kernel), storage, each.gflops);
    separator = ",\n";
  }
  return text + "\n  ]\n}\n";
}

DeviceProfile parse_profile(const std::string& text, const std::string& name) {
  try {
    return profile_of(json::parse(text));
  } catch (const json::exception& error) {
    throw ConfigError(fmt::format("the device profile '{}' is damaged: {}", name, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("the device profile '{}': {}", name, error.what()));
  }
}

std::string profile_path(const DeviceInfo& device) {
  // An empty or relative XDG_DATA_HOME counts as none (XDG Base Directory Specification).
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (data != nullptr && std::filesystem::path(data).is_absolute()) {
    folder = data;
  } else if (home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".local" / "share";
  } else {
    return {};
  }
  return (folder / "diacut" / "profiles" / (slug(device.name) + ".json")).string();
}

ProfileChoice find_profile(const DeviceInfo& device) {
  ProfileChoice choice;
  const std::string path = profile_path(device);
  std::error_code code;
  if (!path.empty() && std::filesystem::exists(path, code)) {
    constexpr const char* kRemedy = "it is ignored; 'diacut-bench tune' measures anew";
    try {
      if (std::filesystem::file_size(path) > kMostBytes) {
        throw ConfigError(
            fmt::format("the device profile '{}' is larger than {} bytes", path, kMostBytes));
      }
      const std::vector<std::uint8_t> bytes = read_bytes(
          path, 0, [](const std::vector<std::uint8_t>&) {}, "a device profile");
      DeviceProfile profile = parse_profile(std::string(bytes.begin(), bytes.end()), path);
      if (profile.name != device.name || profile.platform != device.platform ||
          profile.driver != device.driver) {
        throw ConfigError(fmt::format(
            "the device profile '{}' is of {} with driver {}, and this is {} with driver {}", path,
            profile.name, profile.driver, device.name, device.driver));
      }
      return {std::move(profile), path, {}};
    } catch (const Error& error) {
      const std::string what = error.what();
      choice.note = fmt::format("{}{}: {}", what.find(path) == std::string::npos ? path + ": " : "",
                                what, kRemedy);
    } catch (const std::filesystem::filesystem_error& error) {
      choice.note = fmt::format("{}: {}", error.what(), kRemedy);
    }
  }
  for (const EmbeddedText& shipped : embedded_profiles()) {
    const std::string text(shipped.text);
    if (!is_for(json::parse(text), device)) continue;
    choice.profile = parse_profile(text, std::string(shipped.name));
    choice.source = shipped.name;
    break;
  }
  return choice;
}

}  // namespace diacut
