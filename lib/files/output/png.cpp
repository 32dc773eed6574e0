#include "output/png.hpp"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstddef>
#include <new>
#include <stdexcept>

namespace diacut {
namespace {

void append(png_structp png, png_bytep bytes, std::size_t size) {
  auto* out = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  try {
    out->insert(out->end(), bytes, bytes + size);
  } catch (...) {
    png_error(png, "out of memory");
  }
}

/// Holds every object whose destructor libpng's longjmp() must not skip. write() returns false
/// after an error, from which longjmp() leads back there: it must hold no object with a destructor.
struct Job {
  const PngExtras& extras;
  std::vector<std::uint8_t> out;
  std::string error;
  std::vector<png_color> palette;
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<png_text> texts;
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Job(const PngExtras& given) : extras(given), words(given.texts) {
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
    png = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, &error,
        [](png_structp self, png_const_charp message) {
          static_cast<std::string*>(png_get_error_ptr(self))->assign(message);
          png_longjmp(self, 1);
        },
        [](png_structp, png_const_charp) {});
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) throw std::bad_alloc();
  }
  ~Job() { png_destroy_write_struct(&png, &info); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool write(int width, int height, int bits, int channels, const std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_set_write_fn(png, &out, append, nullptr);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    const int colours = !palette.empty() ? PNG_COLOR_TYPE_PALETTE
                        : channels == 4  ? PNG_COLOR_TYPE_RGB_ALPHA
                        : channels == 3  ? PNG_COLOR_TYPE_RGB
                                         : PNG_COLOR_TYPE_GRAY;
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
                 colours, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    // With alpha large parts are empty: the search for the best filter takes longer than it gains.
    png_set_filter(png, PNG_FILTER_TYPE_BASE,
                   extras.flat     ? PNG_FILTER_NONE
                   : channels == 4 ? PNG_FILTER_SUB
                                   : PNG_ALL_FILTERS);
    png_set_compression_level(png, extras.flat ? 6 : 2);
    if (!palette.empty()) {
      png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
      const png_byte transparent = 0;
      png_set_tRNS(png, info, &transparent, 1, nullptr);
    }
    if (!texts.empty()) png_set_text(png, info, texts.data(), static_cast<int>(texts.size()));
    png_write_info(png, info);
    if (bits == 16 && std::endian::native == std::endian::little) png_set_swap(png);
    const std::size_t row_bytes = static_cast<std::size_t>(width) * channels * bits / 8;
    for (int y = 0; y < height; ++y) {
      png_write_row(png, pixels + static_cast<std::size_t>(y) * row_bytes);
    }
    png_write_end(png, nullptr);
    return true;
  }
};

std::vector<std::uint8_t> encode(int width, int height, int bits, int channels,
                                 const PngExtras& extras, const std::uint8_t* pixels) {
  Job job(extras);
  if (!job.write(width, height, bits, channels, pixels)) {
    throw std::runtime_error("libpng: " + job.error);
  }
  return std::move(job.out);
}

}  // namespace

std::vector<std::uint8_t> encode_png(int width, int height, int channels,
                                     const std::vector<std::uint8_t>& pixels,
                                     const PngExtras& extras) {
  return encode(width, height, 8, channels, extras, pixels.data());
}

std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras) {
  return encode(width, height, 16, 1, extras, reinterpret_cast<const std::uint8_t*>(pixels.data()));
}

}  // namespace diacut
