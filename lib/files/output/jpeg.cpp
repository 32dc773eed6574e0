#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
// These two need what <cstdio> declares.
#include <jpeglib.h>
// The codes of libjpeg's messages, of which one is looked for.
#include <jerror.h>

#include "diacut/errors.hpp"
#include "output/picture.hpp"

namespace diacut {

namespace {

constexpr int kQuality = 92;

/// libjpeg leaves a function that fails by longjmp: write() holds nothing that would need a
/// destructor, and returns false.
class JpegWriter {
 public:
  JpegWriter() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) {
      std::longjmp(static_cast<JpegWriter*>(info->client_data)->failed_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
    info_.client_data = this;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool write(const cv::Mat3b& rgb) {
    if (setjmp(failed_) != 0) return false;
    jpeg_create_compress(&info_);
    info_.client_data = this;
    jpeg_mem_dest(&info_, &bytes_, &size_);
    info_.image_width = static_cast<JDIMENSION>(rgb.cols);
    info_.image_height = static_cast<JDIMENSION>(rgb.rows);
    info_.input_components = 3;
    info_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, kQuality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<JSAMPLE*>(rgb.ptr(static_cast<int>(info_.next_scanline)));
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  std::vector<std::uint8_t> bytes() const { return {bytes_, bytes_ + size_}; }
  bool lacks_memory() const { return errors_.msg_code == JERR_OUT_OF_MEMORY; }

 private:
  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf failed_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::vector<std::uint8_t> encode_jpeg(const cv::Mat3b& rgb) {
  const auto writer = std::make_unique<JpegWriter>();
  if (writer->write(rgb)) return writer->bytes();
  if (writer->lacks_memory()) throw std::bad_alloc();
  throw InputError("the picture could not be encoded as JPEG; write it as .png");
}

}  // namespace diacut
