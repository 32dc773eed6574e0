#include <cpl_vsi.h>

#include <string>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/format.hpp"
#include "map_files.hpp"
#include "target.hpp"
#include "temp_folder.hpp"

/// Scenes, which GDAL reads.
namespace diacut::fuzz {
namespace {

constexpr const char* kName = "/vsimem/fuzzed";

class SceneInMemory {
 public:
  explicit SceneInMemory(FileBytes& bytes) {
    VSIFCloseL(VSIFileFromMemBuffer(kName, bytes.data(), bytes.size(), FALSE));
  }
  ~SceneInMemory() { VSIUnlink(kName); }
  SceneInMemory(const SceneInMemory&) = delete;
  SceneInMemory& operator=(const SceneInMemory&) = delete;
};

/// Scenes in the formats of pictures. Those of the many other formats that GDAL knows may name
/// other files, which a fuzzer must not follow.
void read_scene(const FileBytes& bytes) {
  const ImageFormat format = identify_format(bytes);
  if (format != ImageFormat::kTiff && format != ImageFormat::kJpeg2000) return;
  is_map(bytes);
  FileBytes copy = bytes;
  const SceneInMemory scene(copy);
  ImageParameters parameters;
  parameters.max_pixels = kMostPixels;
  const Map map = read_map(kName, parameters);
  require(map.frame.width == map.image.width && map.frame.height == map.image.height,
          "a scene has the size of its picture");
  require(map.image.pixels.size() ==
              map.image.pixel_count() * static_cast<std::size_t>(map.image.channels),
          "a picture has as many values as its size says");
}

std::vector<FileBytes> scene_seeds() {
  const testing::TempFolder folder;
  std::vector<FileBytes> files;
  const auto add = [&](testing::SceneFile scene) {
    scene.width = 9;
    scene.height = 7;
    testing::write_scene(folder / "scene", scene);
    files.push_back(bytes_of(testing::read_bytes(folder / "scene")));
  };
  const auto value = [](int band, int x, int y) { return 150 + (31 * band + 7 * x + y) % 50; };
  add({.value = value});
  add({.type = "UInt16", .bands = 5, .no_data = 3, .value = value});
  add({.type = "Float32",
       .bands = 3,
       .options = {"COMPRESS=DEFLATE", "TILED=YES"},
       .value = value});
  add({.transform = {}, .points = {{0, 0, 5, 5}, {9, 0, 6, 5}, {0, 7, 5, 6}}, .value = value});
  add({.bands = 4, .last_is_alpha = true, .value = value});
  add({.palette = {0, 0xff0000, 0xff00}, .value = value});
  return files;
}

}  // namespace

std::vector<Target> scene_targets() {
  return {{"scene",
           read_scene,
           scene_seeds,
           {"lib/map/scene.cpp", "lib/map/read_map.cpp", "lib/map/detect.cpp"}}};
}

}  // namespace diacut::fuzz
