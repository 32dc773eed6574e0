#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/embedded_text.hpp"
#include "core/enum_names.hpp"
#include "device_profiles.hpp"
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

DeviceInfo device(DeviceKind kind = DeviceKind::kGpu) {
  DeviceInfo info;
  info.name = "a device";
  info.platform = "a platform";
  info.driver = "1.0";
  info.kind = kind;
  return info;
}

/// With a data folder of its own for the user.
class UserProfiles : public ::testing::Test {
 protected:
  /// Writes the profile of device().
  void write(const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream(path_) << text;
  }

  testing::TempFolder folder_;
  Variable data_{"XDG_DATA_HOME", folder_.path().string()};
  std::string path_ = profile_path(device());
};

/// A profile of this part alone.
std::string text_of(const MatvecProfile& profile) {
  return profile_text(testing::plausible_device(DeviceKind::kGpu), {matvec_profile_part(profile)});
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
  EXPECT_THAT(parse_matvec_profile(text_of(profile), "p").rates,
              ::testing::UnorderedElementsAreArray(profile.rates));
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

TEST_F(UserProfiles, FoundIfTheyAreThisDevicesElseToldOfAndIgnored) {
  FoundProfile<MatvecProfile> choice = find_matvec_profile(device());
  EXPECT_FALSE(choice.profile.has_value());
  EXPECT_EQ(choice.origin.note, "");
  const std::string good = plausible_profile_text(DeviceKind::kGpu);
  write(good);
  choice = find_matvec_profile(device());
  ASSERT_TRUE(choice.profile.has_value()) << choice.origin.note;
  EXPECT_EQ(choice.origin.source, path_);
  EXPECT_EQ(choice.origin.note, "");
  for (const auto& [text, what] :
       {std::pair(good.substr(0, 300), "damaged"),
        {"", "damaged"},
        {replaced(good, "\"driver\":\"1.0\"", "\"driver\":\"0.9\""),
         "with driver 0.9, and this is"},
        {replaced(good, "\"name\":\"a device\"", "\"name\":\"other\""), "is of other"},
        {replaced(good, "\"diacut_profile\": 2", "\"diacut_profile\": 0"), "version 0"}}) {
    write(text);
    choice = find_matvec_profile(device());
    EXPECT_FALSE(choice.profile.has_value());
    EXPECT_THAT(choice.origin.note, ::testing::AllOf(HasSubstr(path_), HasSubstr(what),
                                                     HasSubstr("ignored; 'diacut-bench tune'")));
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(find_matvec_profile(device()).origin.note, HasSubstr("ignored"));
}

TEST_F(UserProfiles, AutoTakesTheProductFromThem) {
  using enum MatvecKind;
  struct Case {
    std::string text;
    MatvecKind asked;
    std::size_t rows;
    std::vector<MatvecStorage> storages;  ///< That the caller allows.
    const char* name;
    const char* note = "";
  };
  const std::string good = plausible_profile_text(DeviceKind::kCpu);
  const std::vector<MatvecStorage> half{MatvecStorage::kHalf};
  const std::string compressed = "\"symmetric\", \"storage\": \"half\"";
  const std::string large_half = replaced(good, "\"unrolled\"", compressed);
  const std::string images = replaced(good, "\"naive\"", "\"image\"");
  const std::string damaged = good.substr(0, 100);
  for (const auto& [text, asked, rows, storages, name, note] :
       {// The rule.
        Case{damaged, kAuto, 100'000, {}, "unrolled", "ignored"},
        {damaged, kLocal, 100'000, {}, "local"},
        {good, kAuto, 100'000, {}, "naive"},
        {good, kAuto, 4'000'000, {}, "unrolled"},
        {good, kLocal, 100'000, {}, "local"},
        // The compressed form only where the caller allows it.
        {good, kAuto, 4'000'000, half, "unrolled"},
        {replaced(good, "\"naive\"", compressed), kAuto, 4'000'000, half, "unrolled"},
        {large_half, kAuto, 4'000'000, half, "symmetric half"},
        {large_half, kAuto, 4'000'000, {}, "naive"},
        // What cannot run on the device is not taken from it either.
        {images, kAuto, 100'000, {}, "unrolled", "no images"}}) {
    write(text);
    const MatvecChoice choice =
        choose_matvec({asked}, device(DeviceKind::kCpu), dia_shape(rows, {0}), storages);
    EXPECT_EQ(choice.name(), name);
    EXPECT_EQ(choice.note.empty(), std::string(note).empty()) << choice.note;
    EXPECT_THAT(choice.note, HasSubstr(note));
  }
}

using testing::plausible_format_profile;

FormatProfile::Rates rates_of(const std::vector<double>& gflops) {
  FormatProfile::Rates rates;
  rates.gflops = gflops;
  return rates;
}

std::string text_of(const FormatProfile& profile) {
  return profile_text(profile.device, {format_profile_part(profile)});
}

TEST(FormatProfile, GoesThroughItsText) {
  FormatProfile profile = plausible_format_profile(DeviceKind::kGpu);
  for (FormatProfile::Rates& each : profile.rates) {
    for (double& rate : each.gflops) rate = std::round(100 * rate) / 100;  // A text has six digits.
  }
  EXPECT_EQ(parse_format_profile(text_of(profile), "p"), profile);
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

TEST_F(UserProfiles, ThoseThatShipAreReadAndChosenByDevice) {
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
