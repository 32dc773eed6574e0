#include <fmt/format.h>
#include <jxl/decode.h>
#include <jxl/resizable_parallel_runner.h>

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

[[noreturn]] void refuse_jxl(const char* why) { refuse_damaged("JPEG XL", why); }

/// Calls a function of colour profiles, which before libjxl 0.9 takes a format that it does not
/// use.
template <class Call, class... Arguments>
JxlDecoderStatus of_colours(Call call, const JxlDecoder* decoder, Arguments... arguments) {
  if constexpr (std::is_invocable_v<Call, const JxlDecoder*, Arguments...>) {
    return call(decoder, arguments...);
  } else {
    return call(decoder, nullptr, arguments...);
  }
}

/// Decodes one frame of a file, turned upright by libjxl.
class JxlReader {
 public:
  /// `wanted`: the page as choose_page() takes it.
  JxlReader(Bytes file, const SizeLimit& limit, int wanted)
      : decoder_(JxlDecoderCreate(nullptr), &JxlDecoderDestroy),
        threads_(JxlResizableParallelRunnerCreate(nullptr), &JxlResizableParallelRunnerDestroy),
        file_(file),
        limit_(limit),
        wanted_(wanted) {
    if (!decoder_ || !threads_) throw std::bad_alloc();
  }

  Decoded read() {
    JxlDecoder* decoder = decoder_.get();
    JxlDecoderSetParallelRunner(decoder, JxlResizableParallelRunner, threads_.get());
    JxlDecoderSubscribeEvents(
        decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, file_.data(), file_.size());
    // The input is not closed, because libjxl would print that a file is cut off.
    while (true) {
      switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_SUCCESS:
          if (frames_ == 0) refuse_jxl("it has no picture");
          decoded_.pages = frames_;
          choose_page(wanted_, frames_);
          return std::move(decoded_);
        case JXL_DEC_BASIC_INFO:
          take_info();
          break;
        case JXL_DEC_COLOR_ENCODING:
          take_profile();
          break;
        case JXL_DEC_FRAME:
          ++frames_;
          break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
          take_frame();
          break;
        case JXL_DEC_FULL_IMAGE:
          break;
        case JXL_DEC_NEED_MORE_INPUT:
          refuse_jxl("its data end early");
        default:
          refuse_jxl("its data cannot be decoded");
      }
    }
  }

 private:
  void take_info() {
    JxlBasicInfo info{};
    if (JxlDecoderGetBasicInfo(decoder_.get(), &info) != JXL_DEC_SUCCESS) refuse_jxl("its header");
    check_size(info.xsize, info.ysize, limit_);
    constexpr unsigned kMostExtra = 16;  // libjxl allocates memory for each.
    if (info.num_extra_channels > kMostExtra) {
      throw InputError(fmt::format(
          "the JPEG XL file has {} channels beside its colours, more than the {} that can be read: "
          "save the colours alone",
          info.num_extra_channels, kMostExtra));
    }
    JxlResizableParallelRunnerSetThreads(
        threads_.get(), JxlResizableParallelRunnerSuggestThreads(info.xsize, info.ysize));
    decoded_.has_alpha = info.alpha_bits > 0;
    decoded_.premultiplied = decoded_.has_alpha && info.alpha_premultiplied != JXL_FALSE;
    format_.num_channels = info.num_color_channels + (decoded_.has_alpha ? 1 : 0);
    format_.endianness = JXL_NATIVE_ENDIAN;
    int depth = CV_8U;
    format_.data_type = JXL_TYPE_UINT8;
    if (info.exponent_bits_per_sample > 0) {
      depth = CV_32F;
      format_.data_type = JXL_TYPE_FLOAT;
      decoded_.type_range.reset();
    } else if (info.bits_per_sample > 8) {
      depth = CV_16U;
      format_.data_type = JXL_TYPE_UINT16;
      decoded_.type_range = std::pair{0.0, 65535.0};
    }
    type_ = CV_MAKETYPE(depth, static_cast<int>(format_.num_channels));
    width_ = static_cast<int>(info.xsize);
    height_ = static_cast<int>(info.ysize);
    if (info.num_extra_channels > (decoded_.has_alpha ? 1U : 0U)) {
      decoded_.notes.push_back(fmt::format(
          "Of its {} channels beside the colours only alpha was read.", info.num_extra_channels));
    }
  }

  /// The profile of the samples that libjxl gives, which need not be the one of the file.
  void take_profile() {
    JxlColorEncoding srgb{};
    srgb.color_space = format_.num_channels < 3 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
    srgb.white_point = JXL_WHITE_POINT_D65;
    srgb.primaries = JXL_PRIMARIES_SRGB;
    srgb.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    srgb.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
    // Lossy files hold colours of their own (XYB), which libjxl can give as sRGB; others it gives
    // as they are stored, and this fails.
    JxlDecoderSetPreferredColorProfile(decoder_.get(), &srgb);
    std::size_t size = 0;
    if (of_colours(JxlDecoderGetICCProfileSize, decoder_.get(), JXL_COLOR_PROFILE_TARGET_DATA,
                   &size) != JXL_DEC_SUCCESS) {
      decoded_.notes.emplace_back("Its colours have no profile: they were read as sRGB.");
      return;
    }
    decoded_.profile.resize(size);
    of_colours(JxlDecoderGetColorAsICCProfile, decoder_.get(), JXL_COLOR_PROFILE_TARGET_DATA,
               decoded_.profile.data(), size);
  }

  /// libjxl writes each frame to the samples, or to memory that is thrown away.
  void take_frame() {
    cv::Mat& target = frames_ == std::max(wanted_, 1) ? decoded_.samples : thrown_away_;
    target.create(height_, width_, type_);
    std::size_t size = 0;
    if (JxlDecoderImageOutBufferSize(decoder_.get(), &format_, &size) != JXL_DEC_SUCCESS ||
        size != target.total() * target.elemSize() ||
        JxlDecoderSetImageOutBuffer(decoder_.get(), &format_, target.data, size) !=
            JXL_DEC_SUCCESS) {
      refuse_jxl("its header");
    }
  }

  std::unique_ptr<JxlDecoder, decltype(&JxlDecoderDestroy)> decoder_;
  std::unique_ptr<void, decltype(&JxlResizableParallelRunnerDestroy)> threads_;
  Bytes file_;
  const SizeLimit& limit_;
  int wanted_;
  int frames_ = 0;
  int width_ = 0;
  int height_ = 0;
  int type_ = 0;
  JxlPixelFormat format_{};
  Decoded decoded_;
  cv::Mat thrown_away_;
};

}  // namespace

Decoded decode_jxl(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  return JxlReader(file, limit, task.part.page).read();
}

}  // namespace diacut
