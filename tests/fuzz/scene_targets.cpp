#include <cpl_vsi.h>

#include <algorithm>
#include <string>

#include "camera_files.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/format.hpp"
#include "map/detect.hpp"
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

void require_whole(const Map& map) {
  require(map.frame.width == map.image.width && map.frame.height == map.image.height,
          "a scene has the size of its picture");
  require_well_formed(map.image);
}

/// Scenes in the formats of pictures. Those of the many other formats that GDAL knows may name
/// other files, which a fuzzer must not follow.
void read_scene(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  const bool is_scene = is_map(file.path());
  if (!identify_format(bytes).may_hold(ImageFormat::kPlace)) return;
  require(is_map(bytes) == is_scene, "a file is a scene wherever its bytes are");
  require(!is_plain_tiff(file.path()) || !is_map(bytes), "a plain TIFF is no scene");
  FileBytes copy = bytes;
  const SceneInMemory scene(copy);
  const ImageParameters parameters{.max_pixels = kMostPixels};
  for (const std::vector<int>& bands : {std::vector{2}, {3, 1, 2}, {1, 2}}) {
    try {
      require_whole(read_map(kName, parameters, bands));
    } catch (const Error&) {  // Few scenes have all of these bands, and two are not taken.
    }
  }
  require_whole(read_map(kName, parameters));
}

std::vector<FileBytes> scenes_of(const std::vector<testing::SceneFile>& scenes) {
  const testing::TempFolder folder;
  std::vector<FileBytes> files;
  for (testing::SceneFile scene : scenes) {
    scene.width = std::max(scene.width, 9);
    scene.height = std::max(scene.height, 7);
    scene.value = [](int band, int x, int y) { return 150 + (31 * band + 7 * x + y) % 50; };
    testing::write_scene(folder / "scene", scene);
    files.push_back(bytes_of(testing::read_bytes(folder / "scene")));
  }
  return files;
}

/// A picture with a mask for all of its bands.
FileBytes masked_scene() {
  testing::TiffPage page = testing::tiff_page(testing::random_samples(9, 7, CV_8UC3));
  testing::TiffPage mask = testing::tiff_page(testing::random_samples(9, 7, CV_8UC1));
  mask.photometric = PHOTOMETRIC_MASK;
  mask.set_tags = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_MASK); };
  return testing::write_tiff({page, mask});
}

std::vector<FileBytes> scene_seeds() {
  std::vector<FileBytes> files = scenes_of(
      {{},
       {.type = "UInt16", .bands = 5, .no_data = 3},
       {.type = "Float32", .bands = 3, .options = {"COMPRESS=DEFLATE", "TILED=YES"}},
       {.transform = {}, .points = {{0, 0, 5, 5}, {9, 0, 6, 5}, {0, 7, 5, 6}}},
       {.bands = 4, .last_is_alpha = true},
       {.palette = {0, 0xff0000, 0xff00}},
       {.bands = 2, .no_data = 160},
       {.type = "Int16", .options = {"BIGTIFF=YES"}},
       {.type = "Int32", .options = {"ENDIANNESS=BIG"}},
       {.type = "UInt32", .no_data = 160},
       {.type = "Float64", .bands = 3, .epsg = 0},
       {.type = "UInt16", .options = {"NBITS=12"}},
       {.type = "UInt16", .options = {"BIGTIFF=YES", "ENDIANNESS=BIG"}},
       {.bands = 2, .options = {"PIXELTYPE=SIGNEDBYTE"}},
       {.options = {"PIXELTYPE=SIGNEDBYTE"}},
       {.driver = "JP2OpenJPEG", .options = {"REVERSIBLE=YES", "QUALITY=100"}},
       {.bands = 3, .epsg = 0, .transform = {}, .options = {"PHOTOMETRIC=RGB"}},
       {.sensor_model = {"LINE_OFF=3", "SAMP_OFF=4", "LAT_OFF=50", "LONG_OFF=8", "HEIGHT_OFF=0",
                         "LINE_SCALE=3", "SAMP_SCALE=4", "LAT_SCALE=1", "LONG_SCALE=1",
                         "HEIGHT_SCALE=9", "LINE_NUM_COEFF=1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                         "LINE_DEN_COEFF=1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                         "SAMP_NUM_COEFF=1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                         "SAMP_DEN_COEFF=1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}}});
  files.push_back(masked_scene());
  FileBytes boxes = testing::write_jpeg2000({.samples = testing::random_samples(9, 7, CV_8UC1)});
  files.push_back(boxes);
  constexpr std::ptrdiff_t kHead = 32;  // The boxes that come first in any file.
  for (int box = 0; box < 300; ++box) {
    const FileBytes free = bytes_of(std::string("\0\0\0\x08\x66ree", 8));
    boxes.insert(boxes.begin() + kHead, free.begin(), free.end());
  }
  files.push_back(boxes);
  return files;
}

std::vector<SpoiltFile> spoilt_scenes() {
  std::vector<SpoiltFile> files;
  for (FileBytes& file : scenes_of(
           {{.type = "CInt16"}, {.width = 300, .height = 300, .options = {"COMPRESS=DEFLATE"}}})) {
    files.push_back(std::move(file));
  }
  for (const testing::SceneFile& scene :
       {testing::SceneFile{}, testing::SceneFile{.bands = 2, .last_is_alpha = true}}) {
    FileBytes cut = scenes_of({scene}).front();
    cut.resize(cut.size() - 20);
    files.push_back(cut);
  }
  // GDAL alone knows this one.
  files.push_back(bytes_of("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n"));
  files.push_back(bytes_of(std::string("II*\0\x08\0\0\0\0\0\0\0", 12)));
  return files;
}

}  // namespace

std::vector<Target> scene_targets() {
  return {{"scene",
           read_scene,
           scene_seeds,
           {"lib/files/map/scene.cpp", "lib/files/map/read_map.cpp", "lib/files/map/detect.cpp"},
           spoilt_scenes}};
}

}  // namespace diacut::fuzz
