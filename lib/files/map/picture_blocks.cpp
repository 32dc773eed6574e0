#include "map/picture_blocks.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "map/detect.hpp"

namespace diacut {

namespace {

/// A picture that is in memory.
class WholePicture : public PictureBlocks {
 public:
  explicit WholePicture(Image image) : image_(std::move(image)) {
    frame.width = image_.width;
    frame.height = image_.height;
  }

  bool is_whole() const override { return image_.valid.empty(); }

  std::pair<double, double> value_range(std::vector<std::string>& notes) const override {
    notes.insert(notes.end(), image_.notes.begin(), image_.notes.end());
    return {0, 1};
  }

  Image read(const Window& window, const std::pair<double, double>&) const override {
    Image part{window.width, window.height, image_.channels, {}, {}, {}};
    part.pixels = part_of(image_.pixels, image_.width, window, image_.channels);
    if (!image_.valid.empty()) part.valid = part_of(image_.valid, image_.width, window);
    return part;
  }

 private:
  Image image_;
};

}  // namespace

std::unique_ptr<PictureBlocks> open_picture(const std::string& name,
                                            const ImageParameters& parameters,
                                            const std::vector<int>& bands) {
  if (!parameters.untrusted && is_map(name)) return open_scene(name, bands, parameters.range);
  if (!bands.empty()) {
    throw InputError(fmt::format("{}: it is a picture, not a scene: leave out --bands", name));
  }
  if (!parameters.untrusted && is_plain_tiff(name)) {
    std::unique_ptr<PictureBlocks> picture = open_scene(name, bands, parameters.range);
    MapFrame size;
    size.width = picture->frame.width;
    size.height = picture->frame.height;
    picture->frame = size;
    if (const int pages = count_pages(name, parameters); pages > 1) {
      picture->notes.push_back(fmt::format("The file has {} pages: the first was read.", pages));
    }
    return picture;
  }
  return std::make_unique<WholePicture>(read_image(name, parameters));
}

}  // namespace diacut
