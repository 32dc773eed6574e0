#include "spmv/format_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/embedded_text.hpp"
#include "device_profiles.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;
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

TEST(FormatProfile, DamagedTextIsToldOf) {
  const std::string good = testing::plausible_profile_text(DeviceKind::kCpu);
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_format_profile(text, "p.json");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto replaced = [&](const char* from, const char* to) {
    return testing::replaced(good, from, to);
  };
  EXPECT_EQ(message(good), "no error");
  EXPECT_THAT(message(good.substr(0, good.size() / 2)), HasSubstr("'p.json' is damaged"));
  EXPECT_THAT(message(replaced("\"rows\": [4096", "\"rows\": [99999999")),
              HasSubstr("rows does not ascend"));
  EXPECT_THAT(message(replaced("\"rows\": [4096", "\"rows\": [0")), HasSubstr("positive"));
  EXPECT_THAT(message(replaced("\"rows\": [4096, ", "\"rows\": [")), HasSubstr("values"));
  EXPECT_THAT(message(replaced("\"csr/scalar\": [", "\"csr/scalar\": [-1, ")),
              HasSubstr("csr/scalar has -1"));
  EXPECT_THAT(message(replaced("\"csr/scalar\": [", "\"csr/scalar\": [\"x\", ")),
              HasSubstr("csr/scalar"));
  EXPECT_THAT(message(replaced("\"gflops\": {", "\"rates\": {")), HasSubstr("damaged"));
  // The part of the stencil's product is read by others.
  EXPECT_EQ(message(replaced("\"matvec\"", "\"product\"")), "no error");
  // Kernels of another version are left out.
  EXPECT_EQ(parse_format_profile(replaced("\"csr/scalar\"", "\"csr/warp\""), "p").rates.size() + 1,
            parse_format_profile(good, "p").rates.size());
}

TEST(FormatProfile, ThoseThatShipAreRead) {
  EXPECT_FALSE(embedded_profiles().empty());
  for (const EmbeddedText& shipped : embedded_profiles()) {
    const FormatProfile profile =
        parse_format_profile(std::string(shipped.text), std::string(shipped.name));
    EXPECT_FALSE(profile.rates.empty()) << shipped.name;
    DeviceInfo device;
    device.name = profile.device.name;
    device.platform = profile.device.platform;
    device.driver = "of tomorrow";
    device.kind = profile.device.kind;
    const FormatProfileChoice choice = find_format_profile(device);
    ASSERT_TRUE(choice.profile.has_value()) << shipped.name;
    EXPECT_EQ(choice.origin.source, shipped.name);
    EXPECT_EQ(*choice.profile, profile);
  }
}

}  // namespace
}  // namespace diacut
