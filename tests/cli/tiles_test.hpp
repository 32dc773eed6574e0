#pragma once

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli_test.hpp"
#include "map_files.hpp"

namespace diacut::testing {

using Values = std::vector<double>;

/// Discs and stripes with texture, of every colour.
inline cv::Mat drawing(int width, int height) {
  cv::Mat picture(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int disc = static_cast<int>(std::hypot(x % 37 - 18, y % 29 - 14)) / 6;
      for (int c = 0; c < 3; ++c) {
        picture.at<cv::Vec3b>(y, x)[c] = static_cast<std::uint8_t>(
            (disc * (40 + 20 * c) + x / 23 * 31 + (x * 7 + y * 13 + x * y * 3) % 17) % 251);
      }
    }
  }
  return picture;
}

/// A scene with islands, and with values that a fourth band does not have.
inline SceneFile islands(int width, int height, int bands) {
  SceneFile file;
  file.width = width;
  file.height = height;
  file.bands = bands;
  file.type = "UInt16";
  file.no_data = 0;
  file.value = [](int band, int x, int y) {
    const double middle = std::hypot(x - 40, y - 30);
    if ((middle < 17 && middle > 9) || x + y < 20) return 0;
    if (band == 4 && x % 7 == 0) return 0;
    return (x / 17 + y / 13) % 3 * 700 + 100 * band + (x * 7 + y * 5) % 11;
  };
  return file;
}

class CliTiles : public CliTest {
 protected:
  /// By the gradient, without what tiles do not have.
  Result whole(const std::string& line) const {
    return segment(line + " --cue gradient --detail native --merging strength --spectral never");
  }
  Result tiled(const std::string& line) const { return segment(line + " --cue gradient"); }
  Values labels(const std::string& name) const { return read_scene(path(name)).values; }

  /// Makes the plan of tiles of 40 pixels of a drawing of 100 x 90, in the folder "work".
  void plan() const {
    write_picture("a.png", drawing(100, 90));
    expect_done(tiled("a.png -o out.tif --tile-size 40 --tiles-in work --plan-only"));
  }
  Result step(const std::string& name, const std::string& more = "") const {
    return segment(fmt::format("{} work/plan.json {}", name, more));
  }
  /// Tiles and join, `times` times.
  void steps(int times) const {
    for (int k = 0; k < times; ++k) {
      expect_done(step("tile"));
      expect_done(step("join"));
    }
  }
  /// A run that is killed when there are `least` files whose names begin so, once for each of these
  /// names, and that then goes on to its end.
  void run_killed(const std::string& results, std::size_t least,
                  const std::vector<std::string>& names) const {
    const std::string line = results + " --cue gradient --tile-size 16 --tiles-in work";
    for (const std::string& name : names) {
      const auto process = start(line);
      const bool met = process->wait_until([&] {
        const std::set<std::string> all = files();
        return least <= static_cast<std::size_t>(std::count_if(
                            all.begin(), all.end(),
                            [&](const std::string& file) { return file.starts_with(name); }));
      });
      EXPECT_TRUE(met || name == "work/labels.tif") << name << ": it is there for a moment";
      process->send(SIGKILL);
      process->wait();
      EXPECT_FALSE(name.ends_with('-') && exists("out.tif"));
    }
    expect_done(segment(line));
  }
  void expect_whole_labels() const {
    expect_done(whole("a.png -o whole.tif"));
    EXPECT_TRUE(labels("out.tif") == labels("whole.tif"));
  }
};

}  // namespace diacut::testing
