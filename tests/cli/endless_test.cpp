// A run that does not end: memory stays what it was.
#include <fmt/format.h>

#include "cli_test.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliEndless : public CliTest {};

/// A network and its tensors, contours, regions and files, of two shapes in turns. 2% of a process
/// of 200 MB is 4 MB, or 17 kB an image: less than a quarter of one plane of floats.
TEST_F(CliEndless, ThreeHundredImagesTakeNoMoreMemoryThanSixty) {
  constexpr int kImages = 300;
  constexpr std::size_t kSettled = 60;  ///< Images after which every buffer has its final size.
  fs::create_directory(path("photos"));
  for (int k = 0; k < kImages; ++k) {
    const std::string name = fmt::format("photos/{:03}.png", k);
    if (k < 6) {
      write_picture(name, k % 2 == 0 ? 160 : 120, k % 2 == 0 ? 120 : 160);
    } else {
      fs::create_hard_link(path(fmt::format("photos/{:03}.png", k % 6)), path(name));
    }
  }
  const Surroundings around = {.limit_seconds = 600};
  expect_done(segment("photos -o out --json out.jsonl --config fast", around));
  std::vector<double> peaks;
  for (const nlohmann::json& line : json_lines(read("out.jsonl"))) {
    peaks.push_back(line.at("memory").at("host_peak_bytes").get<double>());
  }
  ASSERT_EQ(peaks.size(), static_cast<std::size_t>(kImages));
  const double growth = peaks.back() / peaks[kSettled - 1] - 1;
  RecordProperty("growth", fmt::format("{:.4f}", growth));
  EXPECT_LT(growth, 0.02) << peaks[kSettled - 1] << " bytes, then " << peaks.back();
}

}  // namespace
}  // namespace diacut::testing
