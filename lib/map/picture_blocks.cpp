#include "map/picture_blocks.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "map/detect.hpp"
#include "map/naming.hpp"
#include "map/picture_source.hpp"

namespace diacut {

namespace {

/// A picture that is in memory.
class WholePicture : public PictureSource {
 public:
  explicit WholePicture(Image image) : image_(std::move(image)) {
    frame.width = image_.width;
    frame.height = image_.height;
  }

  bool is_whole() const override { return image_.valid.empty(); }

  std::pair<double, double> settle_range(std::vector<std::string>& notes) const override {
    notes.insert(notes.end(), image_.notes.begin(), image_.notes.end());
    return {0, 1};
  }

  Image read(const Window& window, const std::pair<double, double>&) const override {
    Image part{window.width, window.height, image_.channels, {}, {}, {}};
    const auto channels = static_cast<std::size_t>(image_.channels);
    const auto columns = static_cast<std::size_t>(window.width);
    for (int y = window.y; y < window.y + window.height; ++y) {
      const std::size_t from =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) +
          static_cast<std::size_t>(window.x);
      const auto pixels = image_.pixels.begin() + static_cast<std::ptrdiff_t>(from * channels);
      part.pixels.insert(part.pixels.end(), pixels,
                         pixels + static_cast<std::ptrdiff_t>(columns * channels));
      if (image_.valid.empty()) continue;
      const auto valid = image_.valid.begin() + static_cast<std::ptrdiff_t>(from);
      part.valid.insert(part.valid.end(), valid, valid + static_cast<std::ptrdiff_t>(columns));
    }
    return part;
  }

 private:
  Image image_;
};

/// Whether a picture that is no scene can be read by blocks, with the values of read_image().
bool reads_as_scene(const std::string& name, const ImageParameters& parameters) {
  return !parameters.untrusted && is_plain_tiff(name);
}

}  // namespace

PictureBlocks::PictureBlocks(const std::string& name, const ImageParameters& parameters,
                             const std::vector<int>& bands)
    : name_(name) {
  const auto scene = [&] { return open_scene(name, bands, parameters.range); };
  if (!parameters.untrusted && is_map(name)) {
    source_ = naming(name, scene);
  } else if (bands.empty() && reads_as_scene(name, parameters)) {
    source_ = naming(name, scene);
    MapFrame size;
    size.width = width();
    size.height = height();
    source_->frame = size;
  } else {
    if (!bands.empty()) {
      throw InputError(fmt::format("{}: it is a picture, not a scene: leave out --bands", name));
    }
    source_ = std::make_unique<WholePicture>(read_image(name, parameters));
  }
}

PictureBlocks::~PictureBlocks() = default;

int PictureBlocks::width() const { return source_->frame.width; }
int PictureBlocks::height() const { return source_->frame.height; }
bool PictureBlocks::is_whole() const { return source_->is_whole(); }
const MapFrame& PictureBlocks::frame() const { return source_->frame; }

std::pair<double, double> PictureBlocks::settle_range(std::vector<std::string>& notes) const {
  return naming(name_, [&] { return source_->settle_range(notes); });
}

Image PictureBlocks::read(int x, int y, int width, int height,
                          const std::pair<double, double>& range) const {
  return naming(name_, [&] { return source_->read({x, y, width, height}, range); });
}

}  // namespace diacut
