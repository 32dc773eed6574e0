#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

[[noreturn]] void refuse_pnm(std::string_view why) { refuse_damaged("PNM", why); }

bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// The header of one picture, as pbm(5), pgm(5), ppm(5) and pam(5) describe it.
struct PnmHeader {
  int kind = 0;  ///< The number after the P.
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;
  std::int64_t most = 1;  ///< The largest value.
  bool has_alpha = false;

  bool is_plain() const { return kind <= 3; }
  bool is_bitmap() const { return kind == 1 || kind == 4; }
  std::size_t sample_bytes() const { return most > 255 ? 2 : 1; }
  /// Bytes of a row of a picture that is not plain.
  std::size_t row_bytes() const {
    if (kind == 4) return (static_cast<std::size_t>(width) + 7) / 8;
    return static_cast<std::size_t>(width * channels) * sample_bytes();
  }
};

/// Reads the pictures of a file one after the other.
class PnmReader {
 public:
  explicit PnmReader(Bytes file) : file_(file) {}

  /// Whether another picture follows; goes to its beginning.
  bool has_next() {
    std::size_t at = at_;
    while (at < file_.size() && is_space(file_[at])) ++at;
    if (at + 2 >= file_.size() || file_[at] != 'P' || file_[at + 1] < '1' || file_[at + 1] > '7') {
      return false;
    }
    at_ = at;
    return true;
  }

  PnmHeader read_header(const SizeLimit& limit) {
    PnmHeader header;
    header.kind = file_[at_ + 1] - '0';
    at_ += 2;
    if (header.kind == 7) {
      read_pam(header);
    } else {
      header.width = number("width");
      header.height = number("height");
      if (!header.is_bitmap()) header.most = number("largest value");
      header.channels = header.kind % 3 == 0 ? 3 : 1;
      next_byte();  // One white space.
    }
    check_size(header.width, header.height, limit);
    if (header.most < 1 || header.most > 65535) {
      refuse_pnm(fmt::format("its largest value is {}, expected 1 to 65535", header.most));
    }
    if (!header.is_plain()) {
      const auto height = static_cast<std::size_t>(header.height);
      if ((file_.size() - at_) / header.row_bytes() < height) refuse_pnm("its data end early");
    }
    return header;
  }

  /// Precondition: the header was read.
  cv::Mat read_samples(const PnmHeader& header) {
    const bool is_deep = header.most > 255;
    cv::Mat samples(static_cast<int>(header.height), static_cast<int>(header.width),
                    CV_MAKETYPE(is_deep ? CV_16U : CV_8U, static_cast<int>(header.channels)));
    const auto count = static_cast<std::size_t>(header.width * header.channels);
    for (int y = 0; y < samples.rows; ++y) {
      const Bytes bytes = header.is_plain() ? Bytes() : file_.subspan(at_, header.row_bytes());
      at_ += bytes.size();
      for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t value =
            header.is_plain() ? plain_value(header) : stored_value(header, bytes, k);
        if (value > header.most) {
          refuse_pnm(fmt::format("it has the value {}, and its largest is {}", value, header.most));
        }
        if (is_deep) {
          samples.ptr<std::uint16_t>(y)[k] = static_cast<std::uint16_t>(value);
        } else {
          samples.ptr<std::uint8_t>(y)[k] = static_cast<std::uint8_t>(value);
        }
      }
    }
    return samples;
  }

  /// Goes to the end of a picture whose header was read.
  void skip(const PnmHeader& header) {
    if (!header.is_plain()) {
      at_ += header.row_bytes() * static_cast<std::size_t>(header.height);
      return;
    }
    const std::int64_t count = header.width * header.height * header.channels;
    for (std::int64_t k = 0; k < count; ++k) plain_value(header);
  }

 private:
  std::uint8_t next_byte() {
    if (at_ == file_.size()) refuse_pnm("its data end early");
    return file_[at_++];
  }

  void skip_space() {
    while (at_ < file_.size() && (is_space(file_[at_]) || file_[at_] == '#')) {
      if (file_[at_] == '#') {
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
  }

  std::int64_t number(std::string_view what) {
    skip_space();
    const char* begin = reinterpret_cast<const char*>(file_.data()) + at_;
    const char* end = reinterpret_cast<const char*>(file_.data()) + file_.size();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || value < 0) refuse_pnm(fmt::format("its {} is no number", what));
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }

  std::string_view word() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < file_.size() && !is_space(file_[at_])) ++at_;
    return {reinterpret_cast<const char*>(file_.data()) + begin, at_ - begin};
  }

  void read_pam(PnmHeader& header) {
    header.channels = 0;
    header.most = 0;
    for (std::string_view field = word(); field != "ENDHDR"; field = word()) {
      if (field == "WIDTH") {
        header.width = number("width");
      } else if (field == "HEIGHT") {
        header.height = number("height");
      } else if (field == "DEPTH") {
        header.channels = number("depth");
      } else if (field == "MAXVAL") {
        header.most = number("largest value");
      } else if (field == "TUPLTYPE") {
        header.has_alpha = word().ends_with("_ALPHA");
      } else {
        refuse_pnm("its header has an unknown line, or no end");
      }
    }
    next_byte();
    const bool known = header.has_alpha ? header.channels == 2 || header.channels == 4
                                        : header.channels == 1 || header.channels == 3;
    if (!known) {
      throw InputError(fmt::format(
          "the PAM file has {} channels{}, expected 1 or 3, or these and alpha: save it as grey or "
          "colour",
          header.channels, header.has_alpha ? " with alpha" : ""));
    }
  }

  /// A value of a picture that is written as text; the bits of a bitmap need no space in between.
  std::int64_t plain_value(const PnmHeader& header) {
    if (!header.is_bitmap()) return number("value");
    skip_space();
    const std::uint8_t digit = next_byte();
    if (digit != '0' && digit != '1') refuse_pnm("a bit is neither 0 nor 1");
    return '1' - digit;
  }

  /// A value of a row that is not plain. A bit of 1 is black.
  static std::int64_t stored_value(const PnmHeader& header, Bytes row, std::size_t at) {
    if (header.is_bitmap()) return 1 - (row[at / 8] >> (7 - at % 8) & 1);
    return header.sample_bytes() == 1 ? row[at] : read_uint(row, 2 * at, 2, ByteOrder::kBig);
  }

  Bytes file_;
  std::size_t at_ = 0;
};

}  // namespace

Decoded decode_pnm(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  const int page = task.part.page;
  PnmReader reader(file);
  Decoded decoded;
  int pages = 0;
  while (reader.has_next()) {
    ++pages;
    const PnmHeader header = reader.read_header(limit);
    if (pages != std::max(page, 1)) {
      reader.skip(header);
      continue;
    }
    if (header.is_plain()) {
      // Each value takes a byte at least.
      const std::int64_t least = header.width * header.height * header.channels;
      if (least > static_cast<std::int64_t>(file.size())) refuse_pnm("its data end early");
    }
    decoded.samples = reader.read_samples(header);
    decoded.has_alpha = header.has_alpha;
    decoded.type_range = std::pair{0.0, static_cast<double>(header.most)};
  }
  decoded.pages = pages;
  choose_page(page, pages);
  return decoded;
}

}  // namespace diacut
