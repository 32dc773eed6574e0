#include "device_profiles.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace diacut {

MatvecProfile parse_matvec_profile(const std::string& text, const std::string& name) {
  MatvecProfile profile;
  read_profile(text, name, [&](const nlohmann::json& root) { profile = matvec_profile_of(root); });
  return profile;
}

namespace testing {

namespace {

double bytes_per_element(const Implementation& implementation) {
  switch (implementation.format) {
    case Format::kDia:
    case Format::kBdia:
      return 4.0;
    case Format::kEll:
    case Format::kSell:
      return 8.0;
    case Format::kCsr:
      return implementation.kernel == "stream" ? 8.5 : 10.0;
    case Format::kCoo:
      return 13.0;
    case Format::kBcsr:
    case Format::kBell:
    case Format::kSbell:
      break;
  }
  return 4.0 + 4.0 / static_cast<double>(implementation.block.elements());
}

}  // namespace

ProfiledDevice plausible_device(DeviceKind kind) { return {"a device", "a platform", "1.0", kind}; }

FormatProfile plausible_format_profile(DeviceKind kind) {
  DeviceInfo device;
  device.kind = kind;
  device.local_memory = 49'152;
  FormatProfile profile;
  profile.device = plausible_device(kind);
  profile.copy = 100.0;
  profile.rows = {4096, 65'536, 1'048'576};
  profile.row_lengths = {4, 16, 64, 256};
  for (const Implementation& each : implementations(device)) {
    FormatProfile::Rates rates{each, {}};
    for (const double rows : profile.rows) {
      for (const double length : profile.row_lengths) {
        const double stored = rows * length;
        const double milliseconds =
            5e-3 + (stored * bytes_per_element(each) + 8.0 * rows) / 100.0 * 1e-6;
        rates.gflops.push_back(2e-6 * stored / milliseconds);
      }
    }
    profile.rates.push_back(std::move(rates));
  }
  return profile;
}

MatvecProfile plausible_matvec_profile() {
  return {{{100'000, MatvecKind::kNaive, MatvecStorage::kAuto, 10.0},
           {4'000'000, MatvecKind::kUnrolled, MatvecStorage::kAuto, 20.0}}};
}

std::string plausible_profile_text(DeviceKind kind) {
  return profile_text(plausible_device(kind), {format_profile_part(plausible_format_profile(kind)),
                                               matvec_profile_part(plausible_matvec_profile())});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace testing
}  // namespace diacut
