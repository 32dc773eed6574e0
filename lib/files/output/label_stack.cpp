#include "diacut/label_stack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

#include "core/descriptor.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

/// The file in memory that libtiff writes.
struct LabelStack::State {
  Descriptor file;
  std::string message;  ///< libtiff's first error.
  TIFF* tiff = nullptr;
  PictureFacts facts;
  int pages = 1;
  bool begun = false;

  ~State() {
    if (tiff != nullptr) TIFFClose(tiff);
  }

  [[noreturn]] void refuse() const {
    throw InputError(
        fmt::format("the labels could not be encoded as TIFF ({}); write them as .npy", message));
  }

  static int on_error(TIFF*, void* self, const char*, const char* format, std::va_list arguments) {
    std::string& message = static_cast<State*>(self)->message;
    char text[300];
    std::vsnprintf(text, sizeof(text), format, arguments);
    if (message.empty()) message = text;
    return 1;  // Makes libtiff not print the message.
  }
  // No warning of libtiff's is about what is written here.
  static int on_warning(TIFF*, void*, const char*, const char*, std::va_list) { return 1; }
};

namespace {

/// The axes of the pages, the one that changes fastest first. Where the file does not describe as
/// many pages, they are slices.
std::pair<int, int> slices_and_frames(const PictureFacts& facts, int pages) {
  if (facts.slices * facts.frames == pages) return {facts.slices, facts.frames};
  return {pages, 1};
}

std::string imagej_description(const PictureFacts& facts, int pages) {
  const auto [slices, frames] = slices_and_frames(facts, pages);
  std::string text = "ImageJ=1.54f\n";
  if (pages > 1) {
    text += fmt::format("images={}\nslices={}\nframes={}\n{}loop=false\n", pages, slices, frames,
                        slices > 1 && frames > 1 ? "hyperstack=true\n" : "");
  }
  if (facts.pixel.width > 0) text += "unit=micron\n";
  if (facts.spacing > 0) text += fmt::format("spacing={}\n", facts.spacing);
  return text;
}

std::string ome_description(const PictureFacts& facts, int pages, const Labels& first) {
  const auto [slices, frames] = slices_and_frames(facts, pages);
  std::string sizes;
  if (facts.pixel.width > 0) {
    sizes = fmt::format(R"( PhysicalSizeX="{}" PhysicalSizeY="{}")", facts.pixel.width,
                        facts.pixel.height);
    if (facts.spacing > 0) sizes += fmt::format(R"( PhysicalSizeZ="{}")", facts.spacing);
  }
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?><OME )"
      R"(xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0" Name="labels">)"
      R"(<Pixels ID="Pixels:0" DimensionOrder="XY{}C" Type="int32" SizeX="{}" SizeY="{}" SizeC="1" )"
      R"(SizeZ="{}" SizeT="{}"{}><Channel ID="Channel:0:0" SamplesPerPixel="1"/><TiffData/>)"
      R"(</Pixels></Image></OME>)",
      facts.order, first.width, first.height, slices, frames, sizes);
}

}  // namespace

std::pair<int, int> place_of_page(const PictureFacts& facts, int pages, int page) {
  const auto [slices, frames] = slices_and_frames(facts, pages);
  const int at = page - 1;
  if (facts.order == "TZ") return {at / frames, at % frames};
  return {at % slices, at / slices};
}

LabelStack::LabelStack(bool is_big, const PictureFacts& facts, int pages)
    : state_(std::make_unique<State>()) {
  state_->facts = facts;
  state_->pages = pages;
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
      TIFFOpenOptionsAlloc(), &TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &State::on_error, state_.get());
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &State::on_warning, state_.get());
  state_->file = Descriptor(::memfd_create("labels", MFD_CLOEXEC));
  // libtiff closes what it is given. "l": the bytes of a file do not depend on the machine.
  state_->tiff = TIFFFdOpenExt(::fcntl(state_->file.get(), F_DUPFD_CLOEXEC, 0), "TIFF",
                               is_big ? "wl8" : "wl", options.get());
  if (state_->tiff == nullptr) state_->refuse();
}

LabelStack::~LabelStack() = default;
LabelStack::LabelStack(LabelStack&& other) noexcept = default;

void LabelStack::add(const Labels& labels) {
  TIFF* tiff = state_->tiff;
  const auto width = static_cast<std::uint32_t>(labels.width);
  const auto height = static_cast<std::uint32_t>(labels.height);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_INT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  const PictureFacts& facts = state_->facts;
  if (facts.pixel.width > 0) {
    // ImageJ's resolutions are in its own unit, those of others in centimetres.
    const double in_unit = facts.is_ome ? 1e4 : 1;
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, facts.is_ome ? RESUNIT_CENTIMETER : RESUNIT_NONE);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, in_unit / facts.pixel.width);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, in_unit / facts.pixel.height);
  }
  const bool told = facts.pixel.width > 0 || facts.slices * facts.frames > 1 || facts.is_ome;
  if (!std::exchange(state_->begun, true) && told) {
    const std::string text = facts.is_ome ? ome_description(facts, state_->pages, labels)
                                          : imagej_description(facts, state_->pages);
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, text.c_str());
  }
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(std::int32_t);
  const std::size_t rows = std::max<std::size_t>(1, (std::size_t{1} << 18) / row_bytes);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
  // libtiff changes what it encodes.
  std::vector<std::int32_t> strip;
  std::uint32_t number = 0;
  for (std::size_t y = 0; y < height; y += rows) {
    const std::size_t end = std::min<std::size_t>(y + rows, height);
    strip.assign(labels.values.begin() + static_cast<std::ptrdiff_t>(y * width),
                 labels.values.begin() + static_cast<std::ptrdiff_t>(end * width));
    const auto bytes = static_cast<tmsize_t>((end - y) * row_bytes);
    if (TIFFWriteEncodedStrip(tiff, number++, strip.data(), bytes) < 0) state_->refuse();
  }
  if (TIFFWriteDirectory(tiff) == 0) state_->refuse();
}

std::vector<std::uint8_t> LabelStack::finish() {
  TIFFClose(std::exchange(state_->tiff, nullptr));
  if (!state_->message.empty()) state_->refuse();
  const auto written = MappedFile::of(state_->file.get(), 1);
  if (!written) state_->refuse();
  return {written->bytes().begin(), written->bytes().end()};
}

}  // namespace diacut
