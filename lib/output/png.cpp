#include "output/png.hpp"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace diacut {
namespace {

struct Layout {
  int width = 0;
  int height = 0;
  int bits = 8;
  int colour_type = PNG_COLOR_TYPE_GRAY;
  std::size_t row_bytes = 0;
  bool flat = false;
};

void append(png_structp png, png_bytep bytes, std::size_t size) {
  auto* out = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  try {
    out->insert(out->end(), bytes, bytes + size);
  } catch (...) {
    png_error(png, "out of memory");
  }
}

void remember_error(png_structp png, png_const_charp message) {
  static_cast<std::string*>(png_get_error_ptr(png))->assign(message);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

/// Holds every object whose destructor libpng's longjmp() must not skip. write() returns false
/// after an error, from which longjmp() leads back there: it must hold no object with a destructor.
struct Job {
  Layout layout;
  std::vector<std::uint8_t> out;
  std::string error;
  std::vector<png_color> palette;
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<png_text> texts;
  png_structp png = nullptr;
  png_infop info = nullptr;

  Job(const Layout& made, const PngExtras& extras) : layout(made), words(extras.texts) {
    for (const Colour& colour : extras.palette) {
      palette.push_back({colour[0], colour[1], colour[2]});
    }
    for (auto& [keyword, text] : words) {
      png_text entry{};
      entry.compression = PNG_TEXT_COMPRESSION_NONE;
      entry.key = keyword.data();
      entry.text = text.data();
      entry.text_length = text.size();
      texts.push_back(entry);
    }
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, remember_error, ignore_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~Job() { png_destroy_write_struct(&png, &info); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool write(const std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_set_write_fn(png, &out, append, nullptr);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, static_cast<png_uint_32>(layout.width),
                 static_cast<png_uint_32>(layout.height), layout.bits, layout.colour_type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, layout.flat ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
    png_set_compression_level(png, layout.flat ? 6 : 2);
    if (!palette.empty()) {
      png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
      const png_byte transparent = 0;
      png_set_tRNS(png, info, &transparent, 1, nullptr);
    }
    if (!texts.empty()) png_set_text(png, info, texts.data(), static_cast<int>(texts.size()));
    png_write_info(png, info);
    if (layout.bits == 16 && std::endian::native == std::endian::little) png_set_swap(png);
    for (int y = 0; y < layout.height; ++y) {
      png_write_row(png, pixels + static_cast<std::size_t>(y) * layout.row_bytes);
    }
    png_write_end(png, nullptr);
    return true;
  }
};

std::vector<std::uint8_t> encode(const Layout& layout, const PngExtras& extras,
                                 const std::uint8_t* pixels) {
  Job job(layout, extras);
  if (!job.write(pixels)) throw std::runtime_error("libpng: " + job.error);
  return std::move(job.out);
}

}  // namespace

std::vector<std::uint8_t> encode_png(int width, int height, int channels,
                                     const std::vector<std::uint8_t>& pixels,
                                     const PngExtras& extras) {
  Layout layout{
      width,      height, 8, PNG_COLOR_TYPE_GRAY, static_cast<std::size_t>(width) * channels,
      extras.flat};
  if (channels == 3) layout.colour_type = PNG_COLOR_TYPE_RGB;
  if (!extras.palette.empty()) layout.colour_type = PNG_COLOR_TYPE_PALETTE;
  return encode(layout, extras, pixels.data());
}

std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras) {
  const Layout layout{
      width, height, 16, PNG_COLOR_TYPE_GRAY, static_cast<std::size_t>(width) * 2, extras.flat};
  return encode(layout, extras, reinterpret_cast<const std::uint8_t*>(pixels.data()));
}

}  // namespace diacut
