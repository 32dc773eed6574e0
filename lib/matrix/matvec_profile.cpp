#include "matrix/matvec_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

using nlohmann::json;

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

MatvecProfileChoice find_matvec_profile(const DeviceInfo& device) {
  MatvecProfileChoice choice;
  choice.origin =
      find_profile(device, [&](const json& root) { choice.profile = matvec_profile_of(root); });
  return choice;
}

}  // namespace diacut
