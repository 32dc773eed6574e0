#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>

#include "diacut/errors.hpp"
#include "image/channels.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"
#include "image/naming.hpp"
#include "image/raster.hpp"

namespace diacut {

cv::Mat turn_upright(const cv::Mat& stored, int orientation) {
  cv::Mat upright = stored;
  if (orientation >= 5) cv::transpose(stored, upright);
  // Of cv::flip(): sideways, both, upside down.
  constexpr std::array kFlips = {1, -1, 0};
  const auto turn = static_cast<std::size_t>(orientation - 1) % 4;
  if (turn > 0) cv::flip(upright, upright, kFlips.at(turn - 1));
  return upright;
}

namespace {

/// Leaves one channel, as grey. `channel`: its number, from 1.
void extract_channel(const std::string& channel, Decoded& decoded) {
  const int channels = decoded.samples.channels();
  const int number = channel_number(channel, unique_names({}, channels));
  if (number == 0) {
    throw InputError(
        fmt::format("it has no channel '{}': its channels are 1 to {}", channel, channels));
  }
  cv::Mat only;
  cv::extractChannel(decoded.samples, only, number - 1);
  decoded.samples = only;
  decoded.has_alpha = false;
  decoded.premultiplied = false;
  decoded.profile.clear();  // It says what the channels are together.
}

Decoded decode_as(const ImageFormat& format, Bytes file, const SizeLimit& limit,
                  const DecodeTask& task) {
  Decoder* decoder = format.decoder != nullptr ? format.decoder : module_decoder(format.id);
  return decoder(file, limit, task);
}

Decoded decode_part(const ImageFormat& format, Bytes file, const SizeLimit& limit,
                    const DecodeTask& task) {
  const ImagePart& part = task.part;
  Decoded decoded = decode_as(format, file, limit, task);
  if (!format.may_hold(ImageFormat::kPages)) choose_page(part.page, 1);
  if (!format.may_hold(ImageFormat::kChannels) && !part.channel.empty()) {
    extract_channel(part.channel, decoded);
  }
  if (part.page == 0 && decoded.pages > 1) {
    decoded.notes.push_back(fmt::format(
        "The file has {} pages: the first was read (--page N reads another).", decoded.pages));
  }
  return decoded;
}

const ImageFormat& format_of_numbers(Bytes file) {
  const ImageFormat& format = identify_format(file);
  if (format.may_hold(ImageFormat::kNumbers)) return format;
  throw InputError("expected PNG, TIFF or .npy (others do not keep numbers as they are)");
}

/// Refuses a picture that one number a pixel does not describe. `page`: asked for; 0: none.
void check_single(const Decoded& decoded, int page) {
  if (decoded.pages > 1 && page == 0) {
    throw InputError(fmt::format(
        "it has {} pages, expected one: save the page as a file of its own", decoded.pages));
  }
  if (decoded.left_out == 0) return;
  throw InputError(
      fmt::format("it has {} samples a pixel, of which {} are neither colour nor alpha: expected "
                  "one number a pixel",
                  decoded.samples.channels() + decoded.left_out, decoded.left_out));
}

}  // namespace

Decoded decode(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  const bool is_numbers = task.purpose == DecodeTask::kNumbers;
  const ImageFormat& format = is_numbers ? format_of_numbers(file) : format_of(file);
  if (task.purpose == DecodeTask::kFacts) {
    return format.may_hold(ImageFormat::kPages) ? decode_as(format, file, limit, task) : Decoded();
  }
  Decoded decoded = decode_part(format, file, limit, task);
  if (is_numbers || task.purpose == DecodeTask::kStrength) check_single(decoded, task.part.page);
  if (task.purpose == DecodeTask::kPicture) apply_profile(decoded);
  decoded.samples = turn_upright(decoded.samples, decoded.orientation);
  if (!decoded.valid.empty()) decoded.valid = turn_upright(decoded.valid, decoded.orientation);
  return decoded;
}

Decoded decode_file(const std::string& path, Bytes file, const SizeLimit& limit,
                    const DecodeTask& asked, const ImageParameters& parameters) {
  DecodeTask task{asked.purpose, asked.part, parameters.damaged};
  task.name = std::filesystem::path(path).filename().string();
  Decoded decoded = decode_as_asked(file, limit, task, parameters);
  const std::string beside = path + ".msk";
  std::error_code none;
  if (path.empty() || task.part.page > 1 || !std::filesystem::is_regular_file(beside, none)) {
    return decoded;
  }
  naming("its mask " + beside, [&] {
    const DecodeTask numbers{DecodeTask::kNumbers, {}};
    const Decoded mask = decode_as_asked(read_file(beside), limit.max_pixels, numbers, parameters);
    const cv::Mat kept = turn_upright(mask.samples, decoded.orientation);
    if (kept.size() != decoded.samples.size() || kept.channels() != 1) {
      throw InputError(fmt::format("has {} x {} pixels and {} channels, expected {} x {} and one",
                                   kept.cols, kept.rows, kept.channels(), decoded.samples.cols,
                                   decoded.samples.rows));
    }
    leave_out(kept, decoded);
    decoded.hidden = "masked";
  });
  return decoded;
}

}  // namespace diacut
