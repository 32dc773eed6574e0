#include "diacut/image.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image/channels.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"
#include "image/naming.hpp"
#include "image/values.hpp"

namespace diacut {
namespace {

/// The size limit, with what `accepts` says of a file of `file_bytes`.
SizeLimit limit_of(const ImageParameters& parameters, const SizeCheck& accepts,
                   std::uint64_t file_bytes) {
  if (!accepts) return parameters.max_pixels;
  return {parameters.max_pixels, [&accepts, file_bytes](const ImageSize& size) {
            accepts({size.width, size.height, size.channels, file_bytes});
          }};
}

DecodeTask task_of(DecodeTask::Purpose purpose, const ImagePart& part, const std::string& path) {
  DecodeTask task{purpose, part};
  task.name = std::filesystem::path(path).filename().string();
  return task;
}

/// From this size on, a file is not read before its header was looked at.
constexpr std::uint64_t kLargeFile = std::uint64_t{1} << 24;

/// Throws what decode_image() would throw of a large file before it takes memory for the picture.
void check_large_file(const std::string& path, const ImageParameters& parameters,
                      const ImagePart& part, const SizeCheck& accepts) {
  struct SizeIsAccepted {};
  if (path == "-" || parameters.untrusted) return;  // A sandbox reports the size first in any case.
  const auto file = MappedFile::open(path, kLargeFile);
  if (!file) return;
  const Bytes bytes = file->bytes();
  const SizeLimit limit = limit_of(parameters, accepts, bytes.size());
  const auto stop = [&limit](const ImageSize& size) {
    if (limit.accepts) limit.accepts(size);
    throw SizeIsAccepted();
  };
  naming(path, [&] {
    try {
      decode(bytes, {limit.max_pixels, stop}, task_of(DecodeTask::kPicture, part, path));
    } catch (const SizeIsAccepted&) {  // The rest of the file is of interest too.
    }
  });
}

/// `path`: of the file that the bytes are from; empty: there is none.
Image image_of(const std::string& path, Bytes bytes, const std::string& name,
               const ImageParameters& parameters, const ImagePart& part, const SizeCheck& accepts) {
  return naming(name, [&] {
    const SizeLimit limit = limit_of(parameters, accepts, bytes.size());
    return to_image(decode_file(path, bytes, limit, {DecodeTask::kPicture, part}, parameters),
                    parameters.range);
  });
}

}  // namespace

Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters, const ImagePart& part,
                   const SizeCheck& accepts) {
  return image_of("", bytes, name, parameters, part, accepts);
}

int count_pages(const std::string& path, const ImageParameters& parameters,
                const std::string& channel) {
  const auto mapped = MappedFile::open(path, 1);
  // What cannot be mapped is read, or refused with the reason.
  const std::optional<ImageFile> read = mapped ? std::nullopt : std::optional<ImageFile>(path);
  const Bytes bytes = mapped ? mapped->bytes() : Bytes(read->bytes());
  return naming(path, [&] {
    const DecodeTask task = task_of(DecodeTask::kFacts, {1, channel}, path);
    return decode_as_asked(bytes, parameters.max_pixels, task, parameters).pages;
  });
}

Image read_image(const std::string& path, const ImageParameters& parameters, const ImagePart& part,
                 const SizeCheck& accepts) {
  check_large_file(path, parameters, part, accepts);
  return ImageFile(path).read(parameters, part, accepts);
}

ImageFile::ImageFile(const std::string& path)
    : bytes_(
          naming(path == "-" ? "standard input" : path,
                 [&] { return read_bytes(path, kFormatHead, identify_format, "an image file"); })),
      name_(path == "-" ? "standard input" : path) {}

PictureFacts ImageFile::facts(const ImageParameters& parameters, const ImagePart& part) const {
  return naming(name_, [&] {
    const DecodeTask task = task_of(DecodeTask::kFacts, part, name_);
    return decode_as_asked(bytes_, parameters.max_pixels, task, parameters).facts;
  });
}

namespace {

Channel channel_of(const Decoded& decoded, int number, std::string name) {
  cv::Mat only;
  cv::extractChannel(decoded.samples, only, number);
  Channel channel{std::move(name), only.cols, only.rows, {}};
  channel.values.resize(only.total());
  cv::Mat1d values(only.rows, only.cols, channel.values.data());
  only.convertTo(values, CV_64F);
  const cv::Mat1b with_data = pixels_with_data(decoded);
  if (!with_data.empty()) values.setTo(std::numeric_limits<double>::quiet_NaN(), with_data == 0);
  return channel;
}

}  // namespace

void ImageFile::read_channels(const ImageParameters& parameters, const ImagePart& part,
                              const std::string& wanted,
                              const std::function<void(Channel&&)>& visit) const {
  const PictureFacts told = facts(parameters, part);
  naming(name_, [&] {
    const auto decoded = [&](const ImagePart& from) {
      return decode_file(name_, bytes_, parameters.max_pixels, {DecodeTask::kChannels, from},
                         parameters);
    };
    std::string asked = wanted.empty() ? part.channel : wanted;
    if (told.channel > 0 && asked.empty()) {
      asked = told.channels[static_cast<std::size_t>(told.channel) - 1];
    }
    if (told.channels.empty() || asked.empty()) {
      const bool all = !wanted.empty();
      const Decoded picture = decoded({part.page, all ? std::string() : part.channel});
      std::vector<std::string> names = {"red", "green", "blue"};
      if (picture.colours() == 1) names = {all || part.channel.empty() ? "grey" : part.channel};
      for (const std::size_t k : channels_in(all ? wanted : "all", names)) {
        visit(channel_of(picture, static_cast<int>(k), names[k]));
      }
      return;
    }
    ImagePart from = part;
    for (const std::size_t k : channels_in(asked, told.channels)) {
      from.channel = told.channels[k];
      if (told.channel > 0) from.page = told.pages[k];
      if (told.channel > 0 && from.page == 0) {
        throw InputError(fmt::format(
            "its plane of channel '{}' beside this page is missing: leave it out with --measure",
            from.channel));
      }
      visit(channel_of(decoded(from), 0, from.channel));
    }
  });
}

Image ImageFile::read(const ImageParameters& parameters, const ImagePart& part,
                      const SizeCheck& accepts) const {
  return image_of(name_, bytes_, name_, parameters, part, accepts);
}

}  // namespace diacut
