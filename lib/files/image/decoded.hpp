#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "diacut/image_file.hpp"

namespace diacut {

/// The least and the greatest value of a type of samples.
using TypeRange = std::optional<std::pair<double, double>>;

/// The range of the integers that a depth of OpenCV holds; nothing for floats.
TypeRange range_of(int depth);

/// A file's samples as it stores them, with what they mean, before they are turned upright and
/// brought into [0, 1]. What reads a file makes one, and each use of a file takes one.
struct Decoded {
  /// Grey, or red, green, blue; then alpha if has_alpha. Any depth of OpenCV's but CV_16F.
  cv::Mat samples;
  bool has_alpha = false;
  /// 0 where a mask or the value of no data leaves a pixel out; empty: nowhere.
  cv::Mat1b valid;
  /// What notes say of the pixels that are left out, or have an alpha below half of full alpha.
  std::string hidden = "transparent";
  bool premultiplied = false;  ///< The colours were multiplied by alpha.
  bool zero_is_white = false;
  bool indexed = false;     ///< The samples are indices of a palette.
  bool is_damaged = false;  ///< Samples were made up where the file is damaged.
  /// The smallest and largest value that the stored integers can have; empty for floats.
  TypeRange type_range = std::pair{0.0, 255.0};
  int orientation = 1;  ///< As exif_orientation() has it.
  /// The ICC profile that says what the colours are, as the file has it; empty: sRGB.
  std::vector<std::uint8_t> profile;
  std::vector<std::string> notes;
  int pages = 1;            ///< Of the file.
  PictureFacts facts = {};  ///< Of a TIFF file.
  int left_out = 0;         ///< Samples of each pixel that have no meaning, and were not read.

  int colours() const { return samples.channels() - (has_alpha ? 1 : 0); }
};

/// A stored picture turned upright. `orientation`: as exif_orientation() has it.
cv::Mat turn_upright(const cv::Mat& stored, int orientation);

/// Leaves out the pixels where `kept` is 0. `kept`: one channel of any depth.
void leave_out(const cv::Mat& kept, Decoded& decoded);

/// The alpha of an opaque pixel, where the largest alpha of a picture is `most`: 1, 255 or 65535,
/// as programs write them whatever the type, or the largest value of the type.
double full_alpha(double most, const TypeRange& type_range);

/// The alpha of an opaque pixel. Precondition: decoded.has_alpha.
double full_alpha(const Decoded& decoded);

/// Which pixels have data, as alpha, masks and the value of no data say: 0 where they have none.
/// Empty: all have.
cv::Mat1b pixels_with_data(const Decoded& decoded);

/// Up to which size a picture is decoded.
struct SizeLimit {
  // Implicit, because most readers have no other limit than a number.
  SizeLimit(std::int64_t pixels) : max_pixels(pixels) {}
  SizeLimit(std::int64_t pixels, const SizeCheck& check) : max_pixels(pixels), accepts(check) {}

  std::int64_t max_pixels;
  SizeCheck accepts;  ///< Throws where the size is not accepted; empty: every size is.
};

/// Throws InputError where a header's width or height is not positive, or where the picture has
/// more than limit.max_pixels pixels; and what limit.accepts throws. To be called before memory for
/// the picture is allocated. `channels`: 1 for a picture that is known to be grey.
void check_size(std::int64_t width, std::int64_t height, const SizeLimit& limit, int channels = 3);

/// The page that is to be decoded, from 1. `asked`: its number, or 0 for the first. Throws
/// InputError where a file of `pages` pages has no such page.
int choose_page(int asked, int pages);

/// Notes that a file is an animation whose first frame alone is read. Throws InputError where
/// another page than that is asked for.
void note_animation(int page, Decoded& decoded);

/// Throws the InputError of a file of a format ("PNG") that is damaged, and why.
[[noreturn]] void refuse_damaged(std::string_view format, std::string_view why);

/// Refuses a strip or tile of a TIFF file that Deflate packed unless it is whole, with the checksum
/// of what it holds, at most `most` bytes: libtiff and GDAL do not look at it.
void check_deflated(Bytes packed, std::size_t most);

/// What a file is decoded for.
struct DecodeTask {
  enum Purpose : std::int32_t {
    kPicture,   ///< Its part, upright, in the colours of sRGB.
    kChannels,  ///< Its part, upright, as it is stored.
    kStrength,  ///< As kChannels; a file of several pages, or of samples without meaning, is
                ///< refused.
    /// As kStrength. Pixels that are indices of a palette stay indices, and those of fewer than 8
    /// bits the numbers that they are. Other formats than PNG and TIFF are refused.
    kNumbers,
    kFacts,  ///< Only Decoded::pages and Decoded::facts.
  };
  Purpose purpose = kPicture;
  ImagePart part;
  bool takes_damaged = false;  ///< As ImageParameters::damaged.
  std::string name = {};       ///< Of the file, without its folder; empty: it has none.
};

/// The decoder of a format (image/format.cpp), for DecodeTask::kPicture to kNumbers. Those of
/// formats that can hold several pages (frames of an animation, pictures of a collection) take the
/// page as choose_page() does. Each throws InputError (its message without the file's name) if the
/// file is damaged, cut off, larger than the limit, or of a kind that is not supported; none
/// prints. None goes through OpenCV, which prints to stderr, takes damaged JPEG and TIFF files for
/// whole ones, and loses depth and alpha of TIFF.
using Decoder = Decoded(Bytes file, const SizeLimit& limit, const DecodeTask& task);

/// The module's decoder of a format (formats/calls.hpp). Precondition: it has one.
Decoder* module_decoder(std::string_view id);

/// Loads what decoders would load later, which a sandbox could not do any more.
void load_decoders();

/// The orientation (1 to 8, as EXIF 2.3 numbers them: 1 is upright) in an EXIF block, with or
/// without the "Exif\0\0" that JPEG puts before it. 1 where the block has no orientation or a
/// number that is none.
int exif_orientation(Bytes block);

/// Decodes a file of any format, as its decoder does.
Decoded decode(Bytes file, const SizeLimit& limit, const DecodeTask& task);

/// decode(), in a sandbox if parameters.untrusted says so (sandbox/sandbox.hpp), with the same
/// result. `limit.accepts` is called in this process. Throws as decode() does, and InputError where
/// the sandbox ends the decoder.
Decoded decode_as_asked(Bytes file, const SizeLimit& limit, const DecodeTask& task,
                        const ImageParameters& parameters);

/// decode_as_asked() of a file's bytes, without the pixels that the mask beside it leaves out:
/// `path`.msk, as GDAL writes it for the first page. `path`: of the file; empty: there is none.
Decoded decode_file(const std::string& path, Bytes file, const SizeLimit& limit,
                    const DecodeTask& task, const ImageParameters& parameters);

/// Brings samples of 8 or 16 bits from the colours of Decoded::profile to sRGB, by relative
/// colorimetric intent with black point compensation (ICC.1:2010). Samples stay to the last bit
/// where there is no profile, or one that is sRGB to within a step of 8 bits. A profile that cannot
/// be used is named in the notes, and the samples count as sRGB. Precondition: the samples have
/// their final number of channels.
void apply_profile(Decoded& decoded);

/// CMYK of 8 bits in the colours of an ICC profile as sRGB; nothing if the profile is none for
/// CMYK. `is_inverted`: 255 is no ink, as Adobe's programs store it.
std::optional<cv::Mat> rgb_of_cmyk(const cv::Mat& cmyk, bool is_inverted, Bytes profile);

}  // namespace diacut
