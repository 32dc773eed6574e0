#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <opencv2/core.hpp>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/naming.hpp"
#include "image/values.hpp"
#include "map/gdal.hpp"
#include "map/picture_blocks.hpp"
#include "map/scene.hpp"

namespace diacut {
namespace {

/// The bands that are looked at: one, or red, green and blue.
std::vector<int> bands_to_read(const Scene& scene, const std::vector<int>& chosen) {
  for (const int number : chosen) scene.band(number);  // Throws where there is none.
  const std::vector<int>& bands = chosen.empty() ? scene.bands() : chosen;
  if (bands.size() != 1 && bands.size() != 3) {
    throw InputError(fmt::format(
        "it has {} bands, whose principal components need all of them at once: name one or three "
        "with --bands, or leave out --tile-size",
        bands.size()));
  }
  if (bands.size() == 1 && scene.has_palette(bands.front())) {
    throw InputError(
        "its numbers are those of a palette's colours: expand it first, as with gdal_translate "
        "-expand rgb");
  }
  return chosen.empty() ? in_colour_order(scene, bands) : bands;
}

/// Leaves out the pixels with a float that is not finite.
void leave_out_what_is_not_finite(Decoded& decoded) {
  const int depth = decoded.samples.depth();
  if (depth != CV_32F && depth != CV_64F) return;
  const double most = depth == CV_32F ? double{std::numeric_limits<float>::max()}
                                      : std::numeric_limits<double>::max();
  cv::Mat only;
  for (int channel = 0; channel < decoded.samples.channels(); ++channel) {
    cv::extractChannel(decoded.samples, only, channel);
    leave_out(cv::abs(only) <= most, decoded);
  }
}

/// Adds the values of pixels with data.
void add_values(const Decoded& decoded, StoredValues& values) {
  cv::Mat numbers;
  decoded.samples.convertTo(numbers, CV_64F);
  const auto* pixel = numbers.ptr<double>();
  const int channels = numbers.channels();
  for (std::size_t i = 0; i < numbers.total(); ++i, pixel += channels) {
    if (!decoded.valid.empty() && decoded.valid.data[i] == 0) continue;
    const auto [least, greatest] = std::minmax_element(pixel, pixel + channels);
    values.extend(*least, *greatest);
    values.take(pixel, static_cast<std::size_t>(channels));
  }
}

class SceneBlocks : public PictureBlocks {
 public:
  SceneBlocks(const std::string& name, const std::vector<int>& bands, ValueRange rule)
      : name_(name), rule_(rule) {
    const auto scene = reading();
    bands_ = bands_to_read(*scene, bands);
    type_ = scene->sample_type(bands_);
    limit_block_cache();
    frame = scene->frame();
  }

  bool is_whole() const override {
    return reading()->is_whole(bands_) && type_.depth != CV_32F && type_.depth != CV_64F;
  }

  std::pair<double, double> value_range(std::vector<std::string>& notes) const override {
    if (rule_ == ValueRange::kType && type_.range) return *type_.range;
    return naming(name_, [&] { return range_of_values(notes); });
  }

  Image read(const Window& window, const std::pair<double, double>& range) const override {
    return naming(name_, [&] { return read_window(window, range); });
  }

 private:
  std::pair<double, double> range_of_values(std::vector<std::string>& notes) const {
    StoredValues values(static_cast<std::uint64_t>(frame.width) *
                        static_cast<std::uint64_t>(frame.height) * bands_.size());
    const int at_once = reading()->rows_at_once(sizeof(double) * bands_.size() + 2);
    for (int first = 0; first < frame.height; first += at_once) {
      add_values(samples({0, first, frame.width, std::min(at_once, frame.height - first)}), values);
    }
    return choose_range(type_.depth, type_.range, values, rule_, notes);
  }

  Image read_window(const Window& window, const std::pair<double, double>& range) const {
    Decoded decoded = samples(window);
    decoded.type_range = range;
    if (!decoded.valid.empty() && cv::countNonZero(decoded.valid) == 0) {
      const std::size_t pixels = window.pixels();
      return {window.width,
              window.height,
              decoded.colours(),
              std::vector<float>(pixels * bands_.size()),
              std::vector<std::uint8_t>(pixels),
              {}};
    }
    Image image = to_image(decoded, ValueRange::kType);
    image.notes.clear();
    return image;
  }

  /// The scene for one reader at a time, because a data set of GDAL serves one thread: one that no
  /// other reader has, or one that is opened.
  std::shared_ptr<const Scene> reading() const {
    std::unique_ptr<const Scene> scene;
    {
      const std::lock_guard<std::mutex> guard(idle_lock_);
      if (!idle_.empty()) {
        scene = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    const GdalMessages quiet;
    if (!scene) scene = std::make_unique<const Scene>(name_);
    return {scene.release(), [this](const Scene* read) {
              const std::lock_guard<std::mutex> guard(idle_lock_);
              idle_.emplace_back(read);
            }};
  }

  /// On all cores, of which each reads other blocks of the file.
  Decoded samples(const Window& window) const {
    Decoded read = reading()->picture_of(window.width, window.height, bands_, type_);
    const std::vector<Window> parts = rows_of_blocks(window);
    parallel_for(static_cast<int>(parts.size()), [&](int k) {
      const Window& part = parts[static_cast<std::size_t>(k)];
      reading()->read_rows_of(part, bands_, type_, part.y - window.y, read);
    });
    leave_out_what_is_not_finite(read);
    return read;
  }

  /// A window divided where rows of the file's blocks end.
  std::vector<Window> rows_of_blocks(const Window& window) const {
    constexpr int kLeastPixels = 1 << 20;  // Fewer are not worth another thread.
    int width = 0;
    int height = 0;
    reading()->band(bands_.front()).GetBlockSize(&width, &height);
    const int first = window.y / height;
    const auto count =
        static_cast<std::size_t>((window.y + window.height - 1) / height - first + 1);
    const std::int64_t row = std::int64_t{height} * window.width;
    std::vector<Window> parts;
    for (const IndexRange& range :
         ranges_of(count, static_cast<std::size_t>(1 + kLeastPixels / row))) {
      const auto begins = [&](std::size_t row_of_blocks) {
        const std::int64_t y =
            std::int64_t{height} * (first + static_cast<std::int64_t>(row_of_blocks));
        return static_cast<int>(
            std::clamp<std::int64_t>(y, window.y, std::int64_t{window.y} + window.height));
      };
      const int begin = begins(range.begin);
      const int end = begins(range.end);
      parts.push_back({window.x, begin, window.width, end - begin});
    }
    return parts;
  }

  std::string name_;
  std::vector<int> bands_;
  SampleType type_;
  ValueRange rule_;
  mutable std::mutex idle_lock_;
  mutable std::vector<std::unique_ptr<const Scene>> idle_;  ///< Open, and read by nobody now.
};

}  // namespace

std::unique_ptr<PictureBlocks> open_scene(const std::string& name, const std::vector<int>& bands,
                                          ValueRange rule) {
  const GdalMessages quiet;
  return naming(name, [&] { return std::make_unique<SceneBlocks>(name, bands, rule); });
}

}  // namespace diacut
