#include "output/png.hpp"

#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstddef>
#include <stdexcept>

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

/// Holds every object whose destructor libpng's longjmp() must not skip.
struct Job {
  std::vector<std::uint8_t> out;
  std::string error;
  std::vector<png_color> palette;
  std::vector<png_text> texts;
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~Job() { png_destroy_write_struct(&png, &info); }
};

/// Writes the file. Returns false after an error, from which libpng's longjmp() leads back here:
/// this function must hold no object with a destructor.
bool run(Job& job, const Layout& layout, const std::uint8_t* pixels) {
  if (setjmp(png_jmpbuf(job.png)) != 0) return false;
  png_set_write_fn(job.png, &job.out, append, nullptr);
  png_set_user_limits(job.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(job.png, job.info, static_cast<png_uint_32>(layout.width),
               static_cast<png_uint_32>(layout.height), layout.bits, layout.colour_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_filter(job.png, PNG_FILTER_TYPE_BASE, layout.flat ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
  png_set_compression_level(job.png, layout.flat ? 6 : 2);
  if (!job.palette.empty()) {
    png_set_PLTE(job.png, job.info, job.palette.data(), static_cast<int>(job.palette.size()));
    const png_byte transparent = 0;
    png_set_tRNS(job.png, job.info, &transparent, 1, nullptr);
  }
  if (!job.texts.empty()) {
    png_set_text(job.png, job.info, job.texts.data(), static_cast<int>(job.texts.size()));
  }
  png_write_info(job.png, job.info);
  if (layout.bits == 16 && std::endian::native == std::endian::little) png_set_swap(job.png);
  for (int y = 0; y < layout.height; ++y) {
    png_write_row(job.png, pixels + static_cast<std::size_t>(y) * layout.row_bytes);
  }
  png_write_end(job.png, nullptr);
  return true;
}

std::vector<std::uint8_t> encode(const Layout& layout, const std::uint8_t* pixels,
                                 const PngExtras& extras) {
  Job job;
  for (const Colour& colour : extras.palette) {
    job.palette.push_back({colour[0], colour[1], colour[2]});
  }
  for (const auto& [keyword, text] : extras.texts) {
    png_text entry{};
    entry.compression = PNG_TEXT_COMPRESSION_NONE;
    // libpng takes pointers to texts that are not const, but only reads the texts.
    entry.key = const_cast<char*>(keyword.c_str());
    entry.text = const_cast<char*>(text.c_str());
    entry.text_length = text.size();
    job.texts.push_back(entry);
  }
  job.png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &job.error, remember_error, ignore_warning);
  if (job.png != nullptr) job.info = png_create_info_struct(job.png);
  if (job.info == nullptr) throw std::bad_alloc();
  if (!run(job, layout, pixels)) throw std::runtime_error("libpng: " + job.error);
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
  return encode(layout, pixels.data(), extras);
}

std::vector<std::uint8_t> encode_png(int width, int height,
                                     const std::vector<std::uint16_t>& pixels,
                                     const PngExtras& extras) {
  const Layout layout{
      width, height, 16, PNG_COLOR_TYPE_GRAY, static_cast<std::size_t>(width) * 2, extras.flat};
  return encode(layout, reinterpret_cast<const std::uint8_t*>(pixels.data()), extras);
}

}  // namespace diacut
