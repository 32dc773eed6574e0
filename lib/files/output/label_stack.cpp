#include "diacut/label_stack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "core/descriptor.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// A page that was written.
struct LabelPage {
  PictureFacts facts;
  int width = 0;
  int height = 0;
};

}  // namespace

/// The file in memory that libtiff writes.
struct LabelStack::State {
  Descriptor file;
  std::string message;  ///< libtiff's first error.
  TIFF* tiff = nullptr;
  std::vector<LabelPage> pages;

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

/// Places the pages of one image along slices, unless all of them say where they lie.
void place(std::span<LabelPage> pages) {
  const PictureFacts first = pages.front().facts;
  const bool is_of_one = std::all_of(pages.begin(), pages.end(), [&](const LabelPage& page) {
    return page.facts.channel == first.channel;
  });
  if (is_of_one && first.slices > 0 && pages.size() > 1) return;
  for (std::size_t k = 0; k < pages.size(); ++k) {
    PictureFacts& facts = pages[k].facts;
    facts.slices = static_cast<int>(pages.size());
    facts.slice = static_cast<int>(k);
    facts.frames = 1;
    facts.frame = 0;
  }
}

/// What ImageJ writes of the pages of an image; empty where it has no words for them.
std::string imagej_description(std::span<const LabelPage> pages) {
  const PictureFacts& first = pages.front().facts;
  const int count = first.slices * first.frames;
  bool is_known = static_cast<std::size_t>(count) == pages.size();
  for (std::size_t k = 0; k < pages.size(); ++k) {
    const PictureFacts& at = pages[k].facts;
    const int place = at.slice + first.slices * at.frame;
    is_known = is_known && !at.is_ome && place == static_cast<int>(k);
  }
  if (!is_known) return {};
  std::string text = "ImageJ=1.54f\n";
  if (count > 1) {
    text +=
        fmt::format("images={}\nslices={}\nframes={}\n{}loop=false\n", count, first.slices,
                    first.frames, first.slices > 1 && first.frames > 1 ? "hyperstack=true\n" : "");
  }
  if (first.pixel.width > 0) text += "unit=micron\n";
  if (first.spacing > 0) text += fmt::format("spacing={}\n", first.spacing);
  return text;
}

/// The Image element of the pages of an image, from `directory` on.
std::string ome_image(std::span<const LabelPage> pages, std::size_t image, std::size_t directory) {
  const auto& [first, width, height] = pages.front();
  std::string sizes;
  if (first.pixel.width > 0) {
    sizes = fmt::format(R"( PhysicalSizeX="{}" PhysicalSizeY="{}")", first.pixel.width,
                        first.pixel.height);
    if (first.spacing > 0) sizes += fmt::format(R"( PhysicalSizeZ="{}")", first.spacing);
  }
  std::string places;
  for (const LabelPage& page : pages) {
    places += fmt::format(R"(<TiffData IFD="{}" FirstZ="{}" FirstT="{}" PlaneCount="1"/>)",
                          directory++, page.facts.slice, page.facts.frame);
  }
  return fmt::format(
      R"(<Image ID="Image:{0}" Name="labels"><Pixels ID="Pixels:{0}" DimensionOrder="XYZTC" )"
      R"(Type="int32" SizeX="{1}" SizeY="{2}" SizeC="1" SizeZ="{3}" SizeT="{4}"{5}>)"
      R"(<Channel ID="Channel:{0}:0" SamplesPerPixel="1"/>{6}</Pixels></Image>)",
      image, width, height, first.slices, first.frames, sizes, places);
}

/// The description of the first page.
std::string description_of(std::span<LabelPage> pages) {
  std::string images;
  std::size_t count = 0;
  for (std::size_t begin = 0, end = 0; begin < pages.size(); begin = end, ++count) {
    while (end < pages.size() && pages[end].facts.image == pages[begin].facts.image) ++end;
    const std::span<LabelPage> image = pages.subspan(begin, end - begin);
    place(image);
    std::string text = imagej_description(image);
    if (image.size() == pages.size() && !text.empty()) return text;
    images += ome_image(image, count, begin);
  }
  return R"(<?xml version="1.0" encoding="UTF-8"?>)"
         R"(<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">)" +
         images + "</OME>";
}

}  // namespace

LabelStack::LabelStack(bool is_big) : state_(std::make_unique<State>()) {
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

void LabelStack::add(const Labels& labels, const PictureFacts& facts) {
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
  state_->pages.push_back({facts, labels.width, labels.height});
  if (facts.pixel.width > 0) {
    // ImageJ's resolutions are in its own unit, those of others in centimetres.
    const double in_unit = facts.is_ome ? 1e4 : 1;
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, facts.is_ome ? RESUNIT_CENTIMETER : RESUNIT_NONE);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, in_unit / facts.pixel.width);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, in_unit / facts.pixel.height);
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
  std::vector<LabelPage>& pages = state_->pages;
  const bool is_told = std::any_of(pages.begin(), pages.end(), [](const LabelPage& page) {
    return page.facts.pixel.width > 0 || page.facts.slices * page.facts.frames > 1 ||
           page.facts.is_ome;
  });
  TIFF* const tiff = std::exchange(state_->tiff, nullptr);
  // The places of all pages are known only now.
  const bool is_done = !is_told || (TIFFSetDirectory(tiff, 0) != 0 &&
                                    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION,
                                                 description_of(pages).c_str()) != 0 &&
                                    TIFFRewriteDirectory(tiff) != 0);
  TIFFClose(tiff);
  if (!is_done) state_->refuse();
  if (!state_->message.empty()) state_->refuse();
  const auto written = MappedFile::of(state_->file.get(), 1);
  if (!written) state_->refuse();
  return {written->bytes().begin(), written->bytes().end()};
}

}  // namespace diacut
