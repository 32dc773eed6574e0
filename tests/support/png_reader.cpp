#include "png_reader.hpp"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <stdexcept>

namespace diacut::testing {
namespace {

struct Source {
  const std::string* bytes = nullptr;
  std::size_t position = 0;
};

void take(png_structp png, png_bytep out, std::size_t size) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (size > source->bytes->size() - source->position) png_error(png, "too short");
  std::memcpy(out, source->bytes->data() + source->position, size);
  source->position += size;
}

bool decode(png_structp png, png_infop info, Source& source) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_read_fn(png, &source, take);
  png_read_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  return true;
}

void ignore(png_structp, png_const_charp) {}
void jump(png_structp png, png_const_charp) { png_longjmp(png, 1); }

}  // namespace

ReadPng read_png(const std::string& bytes) {
  Source source{&bytes};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, jump, ignore);
  png_infop info = png_create_info_struct(png);
  if (!decode(png, info, source) || source.position != bytes.size()) {
    png_destroy_read_struct(&png, &info, nullptr);
    throw std::runtime_error("not a whole PNG");
  }
  ReadPng result;
  result.width = static_cast<int>(png_get_image_width(png, info));
  result.height = static_cast<int>(png_get_image_height(png, info));
  result.bits = png_get_bit_depth(png, info);
  result.colour_type = png_get_color_type(png, info);
  const std::size_t samples = static_cast<std::size_t>(result.width) * png_get_channels(png, info);
  png_bytepp rows = png_get_rows(png, info);
  for (int y = 0; y < result.height; ++y) {
    for (std::size_t i = 0; i < samples; ++i) {
      const png_byte* sample = rows[y] + i * result.bits / 8;
      const int value = result.bits == 16 ? sample[0] * 256 + sample[1] : sample[0];
      result.values.push_back(static_cast<std::uint16_t>(value));
    }
  }
  png_colorp colours = nullptr;
  int count = 0;
  if (png_get_PLTE(png, info, &colours, &count) != 0) {
    for (int k = 0; k < count; ++k) {
      result.palette.push_back({colours[k].red, colours[k].green, colours[k].blue});
    }
  }
  png_bytep alpha = nullptr;
  if (png_get_tRNS(png, info, &alpha, &count, nullptr) != 0) {
    result.palette_alpha.assign(alpha, alpha + count);
  }
  png_textp texts = nullptr;
  png_get_text(png, info, &texts, &count);
  for (int k = 0; k < count; ++k) result.texts[texts[k].key] = texts[k].text;
  png_destroy_read_struct(&png, &info, nullptr);
  return result;
}

ReadPng read_png(const std::vector<std::uint8_t>& bytes) {
  return read_png(std::string(bytes.begin(), bytes.end()));
}

}  // namespace diacut::testing
