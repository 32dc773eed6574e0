#include <fmt/format.h>
#include <libraw/libraw.h>

#include <cstring>
#include <memory>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

[[noreturn]] void refuse_raw(const char* why) {
  throw InputError(
      fmt::format("the raw camera file is damaged or cut off ({}): copy it again", why));
}

void check(int result) {
  switch (result) {
    case LIBRAW_SUCCESS:
      return;
    case LIBRAW_UNSUFFICIENT_MEMORY:
      throw std::bad_alloc();
    case LIBRAW_FILE_UNSUPPORTED:
    case LIBRAW_NOT_IMPLEMENTED:
      throw InputError(
          "a raw camera file of a kind that LibRaw does not read: save it as DNG, TIFF or JPEG");
    default:
      refuse_raw(LibRaw::strerror(result));
  }
}

}  // namespace

Decoded decode_raw(Bytes file, const SizeLimit& limit, const DecodeTask& /*task*/) {
  const auto raw = std::make_unique<LibRaw>();  // Too large for some stacks.
  bool is_damaged = false;
  raw->set_dataerror_handler([](void* flag, const char*, int) { *static_cast<bool*>(flag) = true; },
                             &is_damaged);
  libraw_output_params_t& parameters = raw->imgdata.params;
  parameters.use_camera_wb = 1;
  parameters.output_color = 1;  // sRGB, with its curve.
  parameters.output_bps = 16;
  parameters.gamm[0] = 1 / 2.4;
  parameters.gamm[1] = 12.92;
  // LibRaw only reads the bytes.
  check(raw->open_buffer(const_cast<std::uint8_t*>(file.data()), file.size()));
  check_size(raw->imgdata.sizes.raw_width, raw->imgdata.sizes.raw_height, limit);
  check_size(raw->imgdata.sizes.width, raw->imgdata.sizes.height, limit);
  check(raw->unpack());
  if (is_damaged) refuse_raw("its data end early or contradict themselves");
  check(raw->dcraw_process());
  int error = LIBRAW_SUCCESS;
  const std::unique_ptr<libraw_processed_image_t, void (*)(libraw_processed_image_t*)> picture(
      raw->dcraw_make_mem_image(&error), &LibRaw::dcraw_clear_mem);
  check(error);
  if (!picture || picture->type != LIBRAW_IMAGE_BITMAP || picture->bits != 16 ||
      (picture->colors != 1 && picture->colors != 3)) {
    throw InputError("a raw camera file whose colours are not supported: save it as TIFF or JPEG");
  }
  Decoded decoded;
  decoded.samples.create(picture->height, picture->width, CV_16UC(picture->colors));
  if (picture->data_size != decoded.samples.total() * decoded.samples.elemSize()) {
    refuse_raw("its picture has another size than it says");
  }
  std::memcpy(decoded.samples.data, picture->data, picture->data_size);
  decoded.type_range = std::pair{0.0, 65535.0};
  const unsigned pictures = raw->imgdata.idata.raw_count;
  if (pictures > 1) {
    decoded.notes.push_back(
        fmt::format("The file has {} exposures: the first was read.", pictures));
  }
  return decoded;
}

}  // namespace diacut
