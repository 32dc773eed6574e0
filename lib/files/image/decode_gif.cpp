#include <gif_lib.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

/// A file in memory as giflib reads it.
struct Source {
  Bytes file;
  std::size_t at = 0;

  static int read(GifFileType* gif, GifByteType* to, int size) {
    auto* source = static_cast<Source*>(gif->UserData);
    const auto count =
        std::min(static_cast<std::size_t>(std::max(size, 0)), source->file.size() - source->at);
    std::copy_n(source->file.data() + source->at, count, to);
    source->at += count;
    return static_cast<int>(count);
  }
};

[[noreturn]] void refuse(int error) {
  const char* why = GifErrorString(error);
  refuse_damaged("GIF", why == nullptr ? "its data end early" : why);
}

/// Draws the frames of a file one after the other on its canvas.
class GifReader {
 public:
  GifReader(Bytes file, const SizeLimit& limit)
      : source_{file, 0}, gif_(nullptr, [](GifFileType* gif) { DGifCloseFile(gif, nullptr); }) {
    int error = 0;
    gif_.reset(DGifOpen(&source_, &Source::read, &error));
    if (!gif_) refuse(error);
    check_size(gif_->SWidth, gif_->SHeight, limit);
  }

  /// Reads to the end of the file. `wanted`: the page as choose_page() takes it.
  Decoded read(int wanted) {
    Decoded decoded;
    decoded.has_alpha = true;
    int frames = 0;
    while (true) {
      GifRecordType record = UNDEFINED_RECORD_TYPE;
      check(DGifGetRecordType(gif_.get(), &record));
      if (record == TERMINATE_RECORD_TYPE) break;
      if (record == EXTENSION_RECORD_TYPE) {
        read_extension();
      } else if (record == IMAGE_DESC_RECORD_TYPE) {
        ++frames;
        check(DGifGetImageDesc(gif_.get()));
        if (frames > std::max(wanted, 1)) {
          skip_frame();
          continue;
        }
        dispose();
        draw_frame();
        if (frames == std::max(wanted, 1)) decoded.samples = std::move(canvas_);
      }
    }
    if (frames == 0) refuse(D_GIF_ERR_NO_IMAG_DSCR);
    decoded.pages = frames;
    choose_page(wanted, frames);
    return decoded;
  }

 private:
  void check(int result) {
    if (result != GIF_OK) refuse(gif_->Error);
  }

  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    check(DGifGetExtension(gif_.get(), &code, &block));
    // The block's first byte is its length.
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr) {
      if (DGifExtensionToGCB(block[0], block + 1, &control_) != GIF_OK) {
        refuse(D_GIF_ERR_NOT_GIF_FILE);
      }
    }
    while (block != nullptr) check(DGifGetExtensionNext(gif_.get(), &block));
  }

  void skip_frame() {
    int size = 0;
    GifByteType* block = nullptr;
    check(DGifGetCode(gif_.get(), &size, &block));
    while (block != nullptr) check(DGifGetCodeNext(gif_.get(), &block));
  }

  /// Clears the canvas as the frame before asks for it.
  void dispose() {
    if (canvas_.empty()) {
      canvas_ = cv::Mat(gif_->SHeight, gif_->SWidth, CV_8UC4, cv::Scalar::all(0));
    }
    if (!kept_.empty()) {
      canvas_ = std::move(kept_);
    } else if (drawn_disposal_ == DISPOSE_BACKGROUND) {
      canvas_(drawn_).setTo(cv::Scalar::all(0));
    }
    drawn_disposal_ = control_.DisposalMode;
    kept_ = drawn_disposal_ == DISPOSE_PREVIOUS ? canvas_.clone() : cv::Mat();
  }

  void draw_frame() {
    const GifImageDesc& frame = gif_->Image;
    drawn_ = cv::Rect(frame.Left, frame.Top, frame.Width, frame.Height);
    if ((drawn_ & cv::Rect(0, 0, canvas_.cols, canvas_.rows)) != drawn_ || drawn_.empty()) {
      throw InputError(
          "the GIF file is damaged (a frame lies beyond the picture): copy or save it again");
    }
    const ColorMapObject* colours = frame.ColorMap != nullptr ? frame.ColorMap : gif_->SColorMap;
    if (colours == nullptr) refuse(D_GIF_ERR_NO_COLOR_MAP);
    // First row and step of each pass over the rows.
    using Passes = std::vector<std::pair<int, int>>;
    std::vector<GifPixelType> line(static_cast<std::size_t>(frame.Width));
    for (const auto& [first, step] :
         frame.Interlace ? Passes{{0, 8}, {4, 8}, {2, 4}, {1, 2}} : Passes{{0, 1}}) {
      for (int y = first; y < drawn_.height; y += step) {
        check(DGifGetLine(gif_.get(), line.data(), frame.Width));
        draw_line(line, *colours, drawn_.y + y);
      }
    }
    control_ = kNoControl;
  }

  void draw_line(const std::vector<GifPixelType>& line, const ColorMapObject& colours, int y) {
    auto* pixel = canvas_.ptr<cv::Vec4b>(y, drawn_.x);
    for (const GifPixelType index : line) {
      if (index != control_.TransparentColor) {
        if (index >= colours.ColorCount) {
          throw InputError(
              "the GIF file is damaged (a colour is not in its table): copy or save it again");
        }
        const GifColorType& colour = colours.Colors[index];
        *pixel = cv::Vec4b(colour.Red, colour.Green, colour.Blue, 255);
      }
      ++pixel;
    }
  }

  static constexpr GraphicsControlBlock kNoControl = {DISPOSAL_UNSPECIFIED, false, 0,
                                                      NO_TRANSPARENT_COLOR};

  Source source_;
  std::unique_ptr<GifFileType, void (*)(GifFileType*)> gif_;
  GraphicsControlBlock control_ = kNoControl;
  cv::Mat canvas_;  ///< Red, green, blue, alpha.
  cv::Mat kept_;    ///< The canvas before the last frame, where that is to be restored.
  cv::Rect drawn_;  ///< Where the last frame was drawn.
  int drawn_disposal_ = DISPOSAL_UNSPECIFIED;  ///< What follows the last frame.
};

}  // namespace

Decoded decode_gif(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  return GifReader(file, limit).read(task.part.page);
}

}  // namespace diacut
