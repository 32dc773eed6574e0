#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/embedded_text.hpp"
#include "core/enum_names.hpp"
#include "device_profiles.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "matrix/device_profile.hpp"
#include "matrix/matvec.hpp"
#include "spmv/format_profile.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;
using testing::plausible_matvec_profile;
using testing::plausible_profile_text;
using testing::replaced;

/// Sets a variable of the environment until the end of a test; nothing unsets it.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

DeviceInfo device() {
  DeviceInfo info;
  info.name = "a device";
  info.platform = "a platform";
  info.driver = "1.0";
  info.kind = DeviceKind::kGpu;
  return info;
}

/// A profile of this part alone.
std::string text_of(const MatvecProfile& profile) {
  return profile_text(testing::plausible_device(DeviceKind::kGpu), {matvec_profile_part(profile)});
}

TEST(MatvecProfile, GoesThroughItsText) {
  const MatvecProfile profile = plausible_matvec_profile();
  EXPECT_EQ(parse_matvec_profile(text_of(profile), "p"), profile);
}

TEST(MatvecProfile, TheNearestSizeTellsTheKernel) {
  const MatvecProfile profile = plausible_matvec_profile();
  const auto kernel = [&](std::size_t rows) { return profile.fastest(rows)->kernel; };
  EXPECT_EQ(kernel(1), MatvecKind::kNaive);
  EXPECT_EQ(kernel(500'000), MatvecKind::kNaive);
  EXPECT_EQ(kernel(800'000), MatvecKind::kUnrolled);
  EXPECT_EQ(kernel(1'000'000'000), MatvecKind::kUnrolled);
  EXPECT_EQ(MatvecProfile{}.fastest(5), std::nullopt);
}

TEST(MatvecProfile, TheCompressedFormIsTakenWhereItIsFasterInAStorageThatIsAllowed) {
  MatvecProfile profile = plausible_matvec_profile();  // Naive 10, unrolled 20.
  using Rate = MatvecProfile::Rate;
  const auto symmetric = [](std::size_t rows, MatvecStorage storage, double gflops) {
    return Rate{rows, MatvecKind::kSymmetric, storage, gflops};
  };
  // Half was measured at one size that no other was.
  const Rate half = symmetric(1'000'000, MatvecStorage::kHalf, 15.0);
  const Rate small = symmetric(100'000, MatvecStorage::kMinifloat, 9.0);
  const Rate large = symmetric(4'000'000, MatvecStorage::kMinifloat, 30.0);
  profile.rates.insert(profile.rates.end(), {half, small, large});
  const auto fastest = [&](std::size_t rows, const std::vector<MatvecStorage>& storages) {
    return *profile.fastest(rows, storages);
  };
  const Rate naive = profile.rates[0];
  const Rate unrolled = profile.rates[1];
  EXPECT_EQ(fastest(100'000, {}), naive);
  EXPECT_EQ(fastest(4'000'000, {}), unrolled);
  EXPECT_EQ(fastest(100'000, {MatvecStorage::kHalf}), half);
  EXPECT_EQ(fastest(4'000'000, {MatvecStorage::kHalf}), unrolled);
  EXPECT_EQ(fastest(100'000, {MatvecStorage::kMinifloat}), naive);
  EXPECT_EQ(fastest(4'000'000, {MatvecStorage::kMinifloat}), large);
  EXPECT_EQ(fastest(4'000'000, {MatvecStorage::kHalf, MatvecStorage::kMinifloat}), large);
  EXPECT_EQ(fastest(4'000'000, {MatvecStorage::kFloat32}), unrolled);  // Never measured.
  EXPECT_EQ(parse_matvec_profile(text_of(profile), "p")
                .fastest(4'000'000, std::vector{MatvecStorage::kMinifloat}),
            large);
}

TEST(MatvecProfile, ItsFileIsInTheUsersDataFolder) {
  const Variable data("XDG_DATA_HOME", "/data");
  EXPECT_EQ(profile_path(device()), "/data/diacut/profiles/a-device.json");
  const Variable none("XDG_DATA_HOME", "relative");
  const Variable home("HOME", "/home/somebody");
  EXPECT_EQ(profile_path(device()), "/home/somebody/.local/share/diacut/profiles/a-device.json");
  const Variable homeless("HOME", std::nullopt);
  EXPECT_EQ(profile_path(device()), "");
  EXPECT_FALSE(find_matvec_profile(device()).profile.has_value());
}

TEST(MatvecProfile, FoundIfItIsThisDevicesElseToldOfAndIgnored) {
  const testing::TempFolder folder;
  const Variable data("XDG_DATA_HOME", folder.path().string());
  FoundProfile<MatvecProfile> choice = find_matvec_profile(device());
  EXPECT_FALSE(choice.profile.has_value());
  EXPECT_EQ(choice.origin.note, "");

  const std::string path = profile_path(device());
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const std::string good = plausible_profile_text(DeviceKind::kGpu);
  std::ofstream(path) << good;
  choice = find_matvec_profile(device());
  ASSERT_TRUE(choice.profile.has_value()) << choice.origin.note;
  EXPECT_EQ(choice.origin.source, path);
  EXPECT_EQ(choice.origin.note, "");

  const std::map<std::string, std::string> bad = {
      {good.substr(0, 300), "damaged"},
      {"", "damaged"},
      {replaced(good, "\"driver\":\"1.0\"", "\"driver\":\"0.9\""), "with driver 0.9, and this is"},
      {replaced(good, "\"name\":\"a device\"", "\"name\":\"other\""), "is of other"},
      {replaced(good, "\"diacut_profile\": 2", "\"diacut_profile\": 0"), "version 0"}};
  for (const auto& [text, what] : bad) {
    std::ofstream(path) << text;
    choice = find_matvec_profile(device());
    EXPECT_FALSE(choice.profile.has_value());
    EXPECT_THAT(choice.origin.note, ::testing::AllOf(HasSubstr(path), HasSubstr(what),
                                                     HasSubstr("ignored; 'diacut-bench tune'")));
  }
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THAT(find_matvec_profile(device()).origin.note, HasSubstr("ignored"));
}

TEST(MatvecProfile, AutoTakesTheProductFromIt) {
  const testing::TempFolder folder;
  const Variable data("XDG_DATA_HOME", folder.path().string());
  DeviceInfo info = device();
  info.kind = DeviceKind::kCpu;
  const auto chosen = [&](MatvecKind asked, std::size_t rows) {
    return choose_matvec({asked}, info, dia_shape(rows, {0}));
  };
  // The rule.
  EXPECT_EQ(chosen(MatvecKind::kAuto, 100'000).kind, MatvecKind::kUnrolled);
  const std::string path = profile_path(info);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const std::string good = plausible_profile_text(DeviceKind::kCpu);
  std::ofstream(path) << good;
  EXPECT_EQ(chosen(MatvecKind::kAuto, 100'000).kind, MatvecKind::kNaive);
  EXPECT_EQ(chosen(MatvecKind::kAuto, 4'000'000).kind, MatvecKind::kUnrolled);
  EXPECT_EQ(chosen(MatvecKind::kLocal, 100'000).kind, MatvecKind::kLocal);
  EXPECT_EQ(chosen(MatvecKind::kAuto, 100'000).note, "");
  // The compressed form only where the caller allows it.
  const std::vector<MatvecStorage> half{MatvecStorage::kHalf};
  const auto compressed = [&](const std::string& text) {
    std::ofstream(path) << text;
    return choose_matvec({}, info, dia_shape(4'000'000, {0}), half).name();
  };
  EXPECT_EQ(compressed(good), "unrolled");
  EXPECT_EQ(compressed(replaced(good, "\"naive\"", "\"symmetric\", \"storage\": \"half\"")),
            "unrolled");
  EXPECT_EQ(compressed(replaced(good, "\"unrolled\"", "\"symmetric\", \"storage\": \"half\"")),
            "symmetric half");
  EXPECT_EQ(chosen(MatvecKind::kAuto, 4'000'000).name(), "naive");
  // What cannot run on the device is not taken from it either.
  std::ofstream(path) << replaced(good, "\"naive\"", "\"image\"");
  EXPECT_EQ(chosen(MatvecKind::kAuto, 100'000).kind, MatvecKind::kUnrolled);
  EXPECT_THAT(chosen(MatvecKind::kAuto, 100'000).note, HasSubstr("no images"));
  // A damaged one is told of; the rule holds.
  std::ofstream(path) << good.substr(0, 100);
  EXPECT_EQ(chosen(MatvecKind::kAuto, 100'000).kind, MatvecKind::kUnrolled);
  EXPECT_THAT(chosen(MatvecKind::kAuto, 100'000).note, HasSubstr("ignored"));
  EXPECT_EQ(chosen(MatvecKind::kLocal, 100'000).note, "");
}

using testing::plausible_format_profile;

FormatProfile::Rates rates_of(std::vector<double> gflops) {
  FormatProfile::Rates rates;
  rates.gflops = std::move(gflops);
  return rates;
}

std::string text_of(const FormatProfile& profile) {
  return profile_text(profile.device, {format_profile_part(profile)});
}

TEST(FormatProfile, GoesThroughItsText) {
  const FormatProfile profile = plausible_format_profile(DeviceKind::kGpu);
  const FormatProfile again = parse_format_profile(text_of(profile), "p");
  EXPECT_EQ(again.device, profile.device);
  EXPECT_EQ(again.copy, profile.copy);
  EXPECT_EQ(again.rows, profile.rows);
  EXPECT_EQ(again.row_lengths, profile.row_lengths);
  ASSERT_EQ(again.rates.size(), profile.rates.size());
  for (std::size_t i = 0; i < profile.rates.size(); ++i) {
    EXPECT_EQ(again.rates[i].implementation, profile.rates[i].implementation);
    for (std::size_t k = 0; k < profile.rates[i].gflops.size(); ++k) {
      const double rate = profile.rates[i].gflops[k];
      EXPECT_NEAR(again.rates[i].gflops[k], rate, 1e-6 * rate);
    }
  }
  // Rounding the rates a second time changes nothing.
  EXPECT_EQ(text_of(again), text_of(parse_format_profile(text_of(again), "p")));
}

TEST(FormatProfile, InterpolatesInLogarithmsAndKeepsTheTimeBelow) {
  FormatProfile profile;
  profile.rows = {100, 10'000};
  profile.row_lengths = {4, 16};
  const FormatProfile::Rates rates = rates_of({1.0, 3.0, 5.0, 7.0});
  EXPECT_DOUBLE_EQ(profile.expected_gflops(rates, 100, 4), 1.0);
  EXPECT_DOUBLE_EQ(profile.expected_gflops(rates, 1000, 4), 3.0);
  EXPECT_NEAR(profile.expected_gflops(rates, 1000, 8), 4.0, 1e-12);
  EXPECT_DOUBLE_EQ(profile.expected_gflops(rates, 1e9, 1e9), 7.0);
  EXPECT_DOUBLE_EQ(profile.expected_gflops(rates, 50, 4), 0.5);
  EXPECT_DOUBLE_EQ(profile.expected_milliseconds(rates, 50, 200),
                   profile.expected_milliseconds(rates, 100, 400));
  EXPECT_DOUBLE_EQ(profile.expected_milliseconds(rates, 0, 0), 0.0);
  // A size that was not measured has the rate of the next smaller size.
  const FormatProfile::Rates holes = rates_of({1.0, 3.0, 5.0, 0.0});
  EXPECT_DOUBLE_EQ(profile.expected_gflops(holes, 10'000, 16), 5.0);
  const FormatProfile::Rates nothing = rates_of({0.0, 0.0, 0.0, 0.0});
  EXPECT_GT(profile.expected_milliseconds(nothing, 100, 400), 1e300);
}

TEST(Profiles, PartsPassOverWhatIsNotTheirOwn) {
  const std::string good = plausible_profile_text(DeviceKind::kCpu);
  EXPECT_NO_THROW(
      parse_matvec_profile(replaced(good, "\"csr/scalar\": [", "\"csr/scalar\": [-1, "), "p"));
  EXPECT_NO_THROW(parse_format_profile(replaced(good, "\"matvec\"", "\"product\""), "p"));
  // Kernels of another version are left out.
  for (const char* other : {"\"fancy\"", "\"symmetric\", \"storage\": \"bits4\""}) {
    EXPECT_EQ(parse_matvec_profile(replaced(good, "\"naive\"", other), "p").rates.size(), 1U);
  }
  const std::string unknown = replaced(good, "\"csr/scalar\"", "\"csr/warp\"");
  EXPECT_EQ(parse_format_profile(unknown, "p").rates.size() + 1,
            parse_format_profile(good, "p").rates.size());
}

TEST(Profiles, ThoseThatShipAreReadAndChosenByDevice) {
  const testing::TempFolder folder;
  const Variable data("XDG_DATA_HOME", folder.path().string());
  EXPECT_FALSE(embedded_profiles().empty());
  for (const EmbeddedText& shipped : embedded_profiles()) {
    SCOPED_TRACE(shipped.name);
    const std::string text(shipped.text);
    const MatvecProfile profile = parse_matvec_profile(text, "p");
    EXPECT_FALSE(profile.rates.empty());
    for (const std::size_t rows : {10'000, 100'000, 1'000'000, 10'000'000}) {
      EXPECT_NE(profile.fastest(rows)->kernel, MatvecKind::kSymmetric);
      const std::vector<MatvecStorage> half{MatvecStorage::kHalf};
      EXPECT_GE(profile.fastest(rows, half)->gflops, profile.fastest(rows)->gflops);
    }
    for (const std::string_view name : kMatvecStorageNames.names) {
      const auto storage = enum_value(kMatvecStorageNames, name);
      if (storage == MatvecStorage::kAuto) continue;
      EXPECT_TRUE(std::any_of(profile.rates.begin(), profile.rates.end(),
                              [&](const auto& each) { return each.storage == storage; }))
          << "does not know " << name;
    }
    const FormatProfile formats = parse_format_profile(text, "p");
    EXPECT_FALSE(formats.rates.empty());
    DeviceInfo info;
    info.name = formats.device.name;
    info.platform = formats.device.platform;
    info.driver = "of tomorrow";
    info.kind = formats.device.kind;
    const FoundProfile<MatvecProfile> chosen = find_matvec_profile(info);
    ASSERT_TRUE(chosen.profile.has_value());
    EXPECT_EQ(chosen.origin.source, shipped.name);
    const FoundProfile<FormatProfile> choice = find_format_profile(info);
    ASSERT_TRUE(choice.profile.has_value());
    EXPECT_EQ(choice.origin.source, shipped.name);
    EXPECT_EQ(*choice.profile, formats);
  }
}

}  // namespace
}  // namespace diacut
