#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
// These two need what <cstdio> declares.
#include <jpeglib.h>
// The codes of libjpeg's messages, of which one is looked for.
#include <jerror.h>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

/// libjpeg leaves a function that fails by longjmp: the members that do call it hold nothing that
/// would need a destructor, and return false.
class JpegReader {
 public:
  /// `takes_damaged`: whether it goes on where data are damaged.
  explicit JpegReader(bool takes_damaged) : takes_damaged_(takes_damaged) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) { self(info).fail(); };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) self(info).on_warning();
    };
    errors_.output_message = [](j_common_ptr) {};
    info_.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  bool read_header(Bytes file) {
    if (setjmp(failed_) != 0) return false;
    file_ = file;
    jpeg_create_decompress(&info_);
    info_.client_data = this;
    jpeg_mem_src(&info_, file.data(), static_cast<unsigned long>(file.size()));
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(&info_, JPEG_APP0 + 2, 0xffff);
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  /// `rows` has room for `height` rows of `stride` bytes.
  bool read_rows(J_COLOR_SPACE colours, std::uint8_t* rows, std::size_t stride) {
    if (setjmp(failed_) != 0) return false;
    begun_ = true;
    info_.out_color_space = colours;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = rows + stride * info_.output_scanline;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    const bool whole = !lacks_scans();
    jpeg_finish_decompress(&info_);
    if (lacks_end_ && !whole) {
      damaged_ = true;
      std::snprintf(message_, sizeof(message_), "scans are missing");
    }
    return !damaged_ || takes_damaged_;
  }

  /// Puts the pieces of the header's colour profile together. False where they do not fit. `bytes`
  /// are the caller's to free.
  bool read_profile(JOCTET** bytes, unsigned* size) {
    if (setjmp(failed_) != 0) return false;
    return jpeg_read_icc_profile(&info_, bytes, size) != FALSE;
  }

  const jpeg_decompress_struct& info() const { return info_; }
  const char* message() const { return message_; }
  bool damaged() const { return damaged_; }
  bool takes_damaged() const { return takes_damaged_; }
  /// Whether only the marker of the picture's end is missing.
  bool lacks_end() const { return lacks_end_; }

 private:
  static JpegReader& self(j_common_ptr info) {
    return *static_cast<JpegReader*>(info->client_data);
  }

  [[noreturn]] void fail() {
    errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), message_);
    std::longjmp(failed_, 1);
  }

  /// libjpeg calls it a warning when it makes up what is missing from damaged data.
  void on_warning() {
    switch (errors_.msg_code) {
      case JWRN_ADOBE_XFORM:
      case JWRN_BOGUS_ICC:
      case JWRN_JFIF_MAJOR:
      case JWRN_NOT_SEQUENTIAL:
      case JWRN_TOO_MUCH_DATA:
        return;
      case JWRN_JPEG_EOF:
        // If samples are missing too, another warning follows.
        lacks_end_ = true;
        errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), message_);
        return;
      case JWRN_EXTRANEOUS_DATA:
        // Before the first scan there are no codes that could be damaged.
        if (!begun_ || is_padding(errors_.msg_parm.i[0])) return;
        break;
      default:
        break;
    }
    if (!damaged_) errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), message_);
    damaged_ = true;
    if (!takes_damaged_) std::longjmp(failed_, 1);
  }

  /// Whether so many bytes before the marker that is read are zeros that fill up: cameras are known
  /// to write them. Others are of codes that do not fit the picture.
  bool is_padding(long bytes) const {
    constexpr long kMostZeros = 16;
    const auto at = reinterpret_cast<std::uintptr_t>(info_.src->next_input_byte);
    const auto begin = reinterpret_cast<std::uintptr_t>(file_.data());
    // Behind the end of the file libjpeg reads a marker of its own.
    if (at < begin || at > begin + file_.size() || bytes > kMostZeros) return false;
    const Bytes before = file_.first(at - begin).last(std::min<std::size_t>(bytes, at - begin));
    return std::all_of(before.begin(), before.end(), [](std::uint8_t byte) { return byte == 0; });
  }

  /// Whether a file without its end may lack whole scans, which libjpeg does not warn of.
  bool lacks_scans() {
    if (info_.progressive_mode == FALSE) return jpeg_has_multiple_scans(&info_) != FALSE;
    for (int component = 0; component < info_.num_components; ++component) {
      const int* const missing_bits = info_.coef_bits[component];
      if (std::any_of(missing_bits, missing_bits + DCTSIZE2, [](int bits) { return bits != 0; })) {
        return true;
      }
    }
    return false;
  }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf failed_{};
  char message_[JMSG_LENGTH_MAX]{};
  bool takes_damaged_;
  Bytes file_;
  bool begun_ = false;  ///< Whether scans are read.
  bool damaged_ = false;
  bool lacks_end_ = false;
};

[[noreturn]] void refuse(const JpegReader& reader) {
  if (reader.damaged() || reader.lacks_end()) {
    refuse_damaged("JPEG", fmt::format("{}{}", reader.message(),
                                       reader.takes_damaged()
                                           ? ""
                                           : "; with --damaged "
                                             "(image.damaged) what can be decoded is read"));
  }
  throw InputError(fmt::format(
      "the JPEG file cannot be decoded ({}): save it again as a usual JPEG", reader.message()));
}

/// Printer's colours on paper without a profile: each ink takes its share of the light.
cv::Mat mixed_inks(const cv::Mat& cmyk, bool is_inverted) {
  cv::Mat rgb(cmyk.size(), CV_8UC3);
  for (int y = 0; y < cmyk.rows; ++y) {
    for (int x = 0; x < cmyk.cols; ++x) {
      cv::Vec4b paper = cmyk.at<cv::Vec4b>(y, x);  // What each ink leaves of the light, of 255.
      if (!is_inverted) paper = cv::Vec4b::all(255) - paper;
      for (int k = 0; k < 3; ++k) {
        rgb.at<cv::Vec3b>(y, x)[k] = static_cast<std::uint8_t>((paper[k] * paper[3] + 127) / 255);
      }
    }
  }
  return rgb;
}

/// Takes the orientation and the colour profile from the header.
void read_markers(JpegReader& reader, Decoded& decoded) {
  bool has_profile = false;
  bool has_orientation = false;
  for (jpeg_saved_marker_ptr marker = reader.info().marker_list; marker != nullptr;
       marker = marker->next) {
    const Bytes data(marker->data, marker->data_length);
    has_profile = has_profile || has_text(data, 0, "ICC_PROFILE");
    if (!has_orientation && has_text(data, 0, "Exif")) {
      decoded.orientation = exif_orientation(data);
      has_orientation = true;
    }
  }
  if (!has_profile) return;
  JOCTET* bytes = nullptr;
  unsigned size = 0;
  const bool is_whole = reader.read_profile(&bytes, &size);
  const std::unique_ptr<JOCTET, decltype(&std::free)> owner(bytes, &std::free);
  if (is_whole) {
    decoded.profile.assign(bytes, bytes + size);
  } else {
    decoded.notes.emplace_back("Its colour profile is damaged: its colours were read as sRGB.");
  }
}

/// Brings CMYK to RGB, by the file's profile where it has one that can be used.
void convert_cmyk(bool is_inverted, Decoded& decoded) {
  std::optional<cv::Mat> rgb;
  if (!decoded.profile.empty()) rgb = rgb_of_cmyk(decoded.samples, is_inverted, decoded.profile);
  if (!rgb) {
    decoded.notes.emplace_back("CMYK colours were converted without their colour profile.");
    rgb = mixed_inks(decoded.samples, is_inverted);
  }
  decoded.samples = *rgb;
  decoded.profile.clear();
}

}  // namespace

Decoded decode_jpeg(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  JpegReader reader(task.takes_damaged);
  if (!reader.read_header(file)) refuse(reader);
  const jpeg_decompress_struct& info = reader.info();
  check_size(info.image_width, info.image_height, limit, info.num_components == 1 ? 1 : 3);
  Decoded decoded;
  read_markers(reader, decoded);
  const J_COLOR_SPACE stored = info.jpeg_color_space;
  const bool is_grey = stored == JCS_GRAYSCALE;
  const bool is_cmyk = stored == JCS_CMYK || stored == JCS_YCCK;
  if (!is_grey && !is_cmyk && stored != JCS_RGB && stored != JCS_YCbCr) {
    throw InputError(fmt::format(
        "the JPEG file has {} colour components, expected grey, colour or CMYK: save it as RGB",
        info.num_components));
  }
  const J_COLOR_SPACE colours = is_grey ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
  const int channels = is_grey ? 1 : is_cmyk ? 4 : 3;
  decoded.samples.create(static_cast<int>(info.image_height), static_cast<int>(info.image_width),
                         CV_8UC(channels));
  if (!reader.read_rows(colours, decoded.samples.data, decoded.samples.step[0])) refuse(reader);
  decoded.is_damaged = reader.damaged();
  if (reader.damaged()) {
    decoded.notes.push_back(fmt::format(
        "The JPEG data are damaged: part of the picture is wrong ({}).", reader.message()));
  } else if (reader.lacks_end()) {
    decoded.notes.emplace_back("The JPEG file ends without the marker of its end.");
  }
  if (is_cmyk) {
    // Adobe's programs store CMYK inverted, and mark their files.
    convert_cmyk(info.saw_Adobe_marker != 0, decoded);
  }
  return decoded;
}

}  // namespace diacut
