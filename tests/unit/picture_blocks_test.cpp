// Parts of one picture that several threads read at once.
#include "map/picture_blocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "map_files.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using testing::SceneFile;
using testing::TempFolder;
using testing::write_scene;

constexpr int kPictureBlocksSide = 300;
constexpr int kPart = 50;

TEST(PictureBlocks, SeveralThreadsReadWhatOneReads) {
  const TempFolder folder;
  SceneFile scene;
  scene.width = scene.height = kPictureBlocksSide;
  scene.options = {"TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "COMPRESS=DEFLATE"};
  scene.no_data = 7;
  scene.value = [](int, int x, int y) { return static_cast<double>((x * 31 + y * 17) % 251); };
  const std::string path = folder / "scene.tif";
  write_scene(path, scene);
  const auto picture = open_picture(path, {}, {});
  const auto expect_part = [&](int number) {
    const int left = number % (kPictureBlocksSide / kPart) * kPart;
    const int top = number / (kPictureBlocksSide / kPart) * kPart;
    const Image part = picture->read({left, top, kPart, kPart}, {0, 255});
    int different = 0;
    for (int y = 0; y < kPart; ++y) {
      for (int x = 0; x < kPart; ++x) {
        const auto at = static_cast<std::size_t>(y * kPart + x);
        const double stored = scene.value(1, left + x, top + y);
        const bool data = part.valid.empty() || part.valid[at] != 0;
        if (data != (stored != 7)) ++different;
        if (data && part.pixels[at] != static_cast<float>(stored / 255)) ++different;
      }
    }
    return different;
  };
  constexpr int kParts = kPictureBlocksSide / kPart * (kPictureBlocksSide / kPart);
  constexpr int kRounds = 20;
  std::atomic<int> next = 0;
  std::atomic<int> different = 0;
  std::vector<std::future<void>> threads;
  for (int k = 0; k < 4; ++k) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int i = next++; i < kParts * kRounds; i = next++) different += expect_part(i % kParts);
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
  EXPECT_EQ(different, 0);
}

TEST(PictureBlocks, OneBitOfGreyIsNoPalette) {
  const TempFolder folder;
  SceneFile scene;
  scene.width = scene.height = kPart;
  scene.options = {"NBITS=1"};
  scene.value = [](int, int x, int y) { return static_cast<double>((x + y) % 2); };
  write_scene(folder / "bits.tif", scene);
  const Image part = open_picture(folder / "bits.tif", {}, {})->read({0, 0, kPart, kPart}, {0, 1});
  for (int k = 0; k < kPart; ++k) {
    EXPECT_EQ(part.pixels[static_cast<std::size_t>(k)], static_cast<float>(k % 2));
  }
}

}  // namespace
}  // namespace diacut
