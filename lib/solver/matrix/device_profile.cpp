#include "matrix/device_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
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

DeviceKind kind_named(const std::string& name) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu, DeviceKind::kAccelerator}) {
    if (name == to_string(kind)) return kind;
  }
  return DeviceKind::kOther;
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

/// A built-in profile names the devices that it is for: their kind, and parts of their name and
/// platform.
bool is_for(const json& root, const DeviceInfo& device) {
  const json& match = root.at("match");
  return root.at("device").at("kind").get<std::string>() == to_string(device.kind) &&
         device.name.find(match.at("name").get<std::string>()) != std::string::npos &&
         device.platform.find(match.at("platform").get<std::string>()) != std::string::npos;
}

/// Reads the profile in the file at `path`. Throws Error when it is damaged or of another device.
void read_file(const std::string& path, const DeviceInfo& device, const ProfileReader& read) {
  if (std::filesystem::file_size(path) > kMostBytes) {
    throw ConfigError(
        fmt::format("the device profile '{}' is larger than {} bytes", path, kMostBytes));
  }
  read_profile(read_text(path, "a device profile"), path, [&](const json& root) {
    const ProfiledDevice of = device_of(root);
    if (of.name != device.name || of.platform != device.platform || of.driver != device.driver) {
      throw ConfigError(fmt::format("it is of {} with driver {}, and this is {} with driver {}",
                                    of.name, of.driver, device.name, device.driver));
    }
    read(root);
  });
}

/// How far apart two numbers of rows are, as the logarithm of their ratio.
double distance(std::size_t a, std::size_t b) {
  const auto log_rows = [](std::size_t rows) {
    return std::log(static_cast<double>(std::max<std::size_t>(rows, 1)));
  };
  return std::abs(log_rows(a) - log_rows(b));
}

/// Nothing for a kernel or a storage that this version does not know.
std::optional<MatvecProfile::Rate> rate_of(const json& entry) {
  MatvecProfile::Rate rate;
  rate.rows = entry.at("rows").get<std::size_t>();
  rate.gflops = profile_numbers(json::array({entry.at("gflops")}), "matvec", false).front();
  const auto kernel = enum_value(kMatvecNames, entry.at("kernel").get<std::string>());
  if (!kernel || *kernel == MatvecKind::kAuto) return std::nullopt;
  rate.kernel = *kernel;
  if (rate.kernel == MatvecKind::kSymmetric) {
    const auto storage = enum_value(kMatvecStorageNames, entry.at("storage").get<std::string>());
    if (!storage || *storage == MatvecStorage::kAuto) return std::nullopt;
    rate.storage = *storage;
  }
  return rate;
}

}  // namespace

ProfiledDevice profiled_device(const DeviceInfo& device) {
  return {device.name, device.platform, device.driver, device.kind};
}

std::string profile_text(const ProfiledDevice& device, const std::vector<std::string>& parts) {
  std::string text = fmt::format("{{\n  \"{}\": {},\n  \"device\": {}", kVersionKey, kVersion,
                                 json{{"name", device.name},
                                      {"platform", device.platform},
                                      {"driver", device.driver},
                                      {"kind", to_string(device.kind)}}
                                     .dump());
  for (const std::string& part : parts) text += ",\n" + part;
  return text + "\n}\n";
}

void read_profile(const std::string& text, const std::string& name, const ProfileReader& read) {
  try {
    const json root = json::parse(text);
    if (!root.is_object() || !root.contains(kVersionKey)) {
      throw ConfigError(fmt::format("it is no profile: it has no \"{}\"", kVersionKey));
    }
    if (root[kVersionKey] != kVersion) {
      throw ConfigError(
          fmt::format("it is of version {}, expected {}", root[kVersionKey].dump(), kVersion));
    }
    read(root);
  } catch (const json::exception& error) {
    throw ConfigError(fmt::format("the device profile '{}' is damaged: {}", name, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("the device profile '{}': {}", name, error.what()));
  }
}

ProfiledDevice device_of(const json& root) {
  const json& device = root.at("device");
  return {device.at("name").get<std::string>(), device.at("platform").get<std::string>(),
          device.at("driver").get<std::string>(), kind_named(device.at("kind").get<std::string>())};
}

std::vector<double> profile_numbers(const json& values, const std::string& what, bool zeros) {
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

std::string profile_path(const DeviceInfo& device) {
  const std::filesystem::path folder = data_folder();
  if (folder.empty()) return {};
  return (folder / "profiles" / (slug(device.name) + ".json")).string();
}

ProfileOrigin find_profile(const DeviceInfo& device, const ProfileReader& read) {
  ProfileOrigin origin;
  const std::string path = profile_path(device);
  std::error_code code;
  if (!path.empty() && std::filesystem::exists(path, code)) {
    constexpr const char* kRemedy = "it is ignored; 'diacut-bench tune' measures anew";
    try {
      read_file(path, device, read);
      return {path, {}};
    } catch (const Error& error) {
      const std::string what = error.what();
      origin.note = fmt::format("{}{}: {}", what.find(path) == std::string::npos ? path + ": " : "",
                                what, kRemedy);
    } catch (const std::filesystem::filesystem_error& error) {
      origin.note = fmt::format("{}: {}", error.what(), kRemedy);
    }
  }
  for (const EmbeddedText& built_in : embedded_profiles()) {
    const std::string text(built_in.text);
    if (!is_for(json::parse(text), device)) continue;
    read_profile(text, std::string(built_in.name), read);
    origin.source = built_in.name;
    break;
  }
  return origin;
}

std::optional<MatvecProfile::Rate> MatvecProfile::fastest(
    std::size_t rows, std::span<const MatvecStorage> storages) const {
  // A size may have been measured for some storages only, so each storage has a nearest size.
  const auto nearest = [&](MatvecStorage storage) {
    const Rate* found = nullptr;
    for (const Rate& each : rates) {
      if (each.storage != storage) continue;
      if (found == nullptr || distance(each.rows, rows) < distance(found->rows, rows)) {
        found = &each;
      }
    }
    return found;
  };
  const Rate* best = nearest(MatvecStorage::kAuto);  // The kernels that read the whole matrix.
  for (const MatvecStorage storage : storages) {
    const Rate* const each = nearest(storage);
    if (each != nullptr && (best == nullptr || each->gflops > best->gflops)) best = each;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string matvec_profile_part(const MatvecProfile& profile) {
  std::string text = "  \"matvec\": [";
  const char* separator = "\n";
  for (const MatvecProfile::Rate& each : profile.rates) {
    const std::string storage =
        each.kernel == MatvecKind::kSymmetric
            ? fmt::format("\"storage\": \"{}\", ", enum_name(kMatvecStorageNames, each.storage))
            : std::string();
    text +=
        fmt::format("{}    {{\"rows\": {}, \"kernel\": \"{}\", {}\"gflops\": {:.6g}}}", separator,
                    each.rows, enum_name(kMatvecNames, each.kernel), storage, each.gflops);
    separator = ",\n";
  }
  return text + "\n  ]";
}

MatvecProfile matvec_profile_of(const json& root) {
  MatvecProfile profile;
  for (const json& entry : root.at("matvec")) {
    if (const auto rate = rate_of(entry)) profile.rates.push_back(*rate);
  }
  std::stable_sort(profile.rates.begin(), profile.rates.end(),
                   [](const auto& a, const auto& b) { return a.rows < b.rows; });
  return profile;
}

FoundProfile<MatvecProfile> find_matvec_profile(const DeviceInfo& device) {
  FoundProfile<MatvecProfile> choice;
  choice.origin =
      find_profile(device, [&](const json& root) { choice.profile = matvec_profile_of(root); });
  return choice;
}

}  // namespace diacut
