#include "map/scene.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <string_view>

#include "core/bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {
namespace {

constexpr const char* kSaveAgain = "copy or save it again";

/// Refuses a JPEG 2000 file whose last box is cut off, of which OpenJPEG reads memory that is not
/// its own.
void check_boxes(const std::string& name) {
  const std::unique_ptr<VSILFILE, int (*)(VSILFILE*)> file(VSIFOpenL(name.c_str(), "rb"),
                                                           &VSIFCloseL);
  if (!file) return;
  VSIFSeekL(file.get(), 0, SEEK_END);
  const std::uint64_t size = VSIFTellL(file.get());
  for (std::uint64_t at = 0; size - at >= 8;) {
    std::array<std::uint8_t, 16> head{};
    VSIFSeekL(file.get(), at, SEEK_SET);
    VSIFReadL(head.data(), 1, head.size(), file.get());
    if (at == 0 && !has_text(head, 4, "jP  ")) return;  // It has no boxes.
    const std::uint64_t length = box_size(head);
    if (length < 8) return;  // The last box, as long as the file.
    if (length > size - at) {
      throw InputError(fmt::format(
          "its data end early: the box at byte {} has {} bytes, of which {} are there: {}", at,
          length, size - at, kSaveAgain));
    }
    at += length;
  }
}

/// The names of the datasets that a file holds in place of bands.
std::vector<std::string> subdatasets(GDALDataset& dataset) {
  std::vector<std::string> names;
  const CPLStringList items(dataset.GetMetadata("SUBDATASETS"), FALSE);
  for (int i = 1;; ++i) {
    const char* name = items.FetchNameValue(fmt::format("SUBDATASET_{}_NAME", i).c_str());
    if (name == nullptr) return names;
    names.emplace_back(name);
  }
}

[[noreturn]] void refuse_without_bands(GDALDataset& dataset) {
  std::vector<std::string> names = subdatasets(dataset);
  if (names.empty()) throw InputError("it has no bands: there is nothing to segment");
  constexpr std::size_t kShown = 5;
  const std::size_t count = names.size();
  names.resize(std::min(count, kShown));
  throw InputError(
      fmt::format("it holds {} subdatasets and no bands of its own: name one of them, "
                  "as {}{}",
                  count, fmt::join(names, " or "), count > kShown ? " ..." : ""));
}

std::string wkt(const OGRSpatialReference& reference) {
  const char* const options[] = {"FORMAT=WKT2_2019", nullptr};
  char* text = nullptr;
  reference.exportToWkt(&text, options);
  std::string copy = text == nullptr ? "" : text;
  CPLFree(text);
  return copy;
}

/// Bits that the samples of a band use, where the file says it.
int bits_of(GDALRasterBand& band) {
  const char* bits = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
  return bits == nullptr ? 0 : std::atoi(bits);
}

bool has_no_data(GDALRasterBand& band) {
  int is_set = FALSE;
  band.GetNoDataValue(&is_set);
  return is_set != FALSE;
}

bool is_signed_byte(GDALRasterBand& band) {
  const char* type = band.GetMetadataItem("PIXELTYPE", "IMAGE_STRUCTURE");
  return band.GetRasterDataType() == GDT_Byte && type != nullptr && EQUAL(type, "SIGNEDBYTE");
}

}  // namespace

Scene::Scene(const std::string& name) : name_(name) {
  const GdalMessages messages;
  dataset_ = open_raster(name);
  if (!dataset_) {
    messages.refuse("GDAL cannot open it", "name a raster that gdalinfo opens");
  }
  if (std::string_view(dataset_->GetDriverName()).substr(0, 3) == "JP2") check_boxes(name);
  width_ = dataset_->GetRasterXSize();
  height_ = dataset_->GetRasterYSize();
  if (dataset_->GetRasterCount() == 0) refuse_without_bands(*dataset_);
  for (int number = 1; number <= dataset_->GetRasterCount(); ++number) {
    GDALRasterBand& each = *dataset_->GetRasterBand(number);
    if (GDALDataTypeIsComplex(each.GetRasterDataType()) != FALSE) {
      throw InputError(fmt::format(
          "its band {} holds complex numbers ({}): make one of their magnitudes, as with "
          "gdal_translate from a VRT with <PixelFunctionType>mod</PixelFunctionType>",
          number, GDALGetDataTypeName(each.GetRasterDataType())));
    }
    if (each.GetColorInterpretation() != GCI_AlphaBand) bands_.push_back(number);
  }
  if (bands_.empty()) bands_.push_back(1);
}

GDALRasterBand& Scene::band(int number) const {
  const int count = dataset_->GetRasterCount();
  if (number >= 1 && number <= count) return *dataset_->GetRasterBand(number);
  throw InputError(count == 1 ? fmt::format("it has one band: there is no band {}", number)
                              : fmt::format("it has {} bands: there is no band {}", count, number));
}

bool Scene::has_palette(int number) const {
  const GDALColorTable* const table = band(number).GetColorTable();
  if (table == nullptr || bits_of(band(number)) != 1) return table != nullptr;
  const auto is_grey = [&](int entry, short level) {
    const GDALColorEntry* const colour = table->GetColorEntry(entry);
    return colour != nullptr && colour->c1 == level && colour->c2 == level && colour->c3 == level;
  };
  return !(is_grey(0, 0) && is_grey(1, 255));
}

MapFrame Scene::frame() const {
  const GdalMessages quiet;
  MapFrame frame;
  frame.source = name_;
  frame.width = width_;
  frame.height = height_;
  frame.bands = bands_;
  std::array<double, 6> transform{};
  if (dataset_->GetGeoTransform(transform.data()) == CE_None) frame.transform = transform;
  const OGRSpatialReference* reference = dataset_->GetSpatialRef();
  if (!frame.transform) {
    const GDAL_GCP* points = dataset_->GetGCPs();
    for (int i = 0; i < dataset_->GetGCPCount(); ++i) {
      const GDAL_GCP& point = points[i];
      frame.points.push_back({point.pszId, point.dfGCPPixel, point.dfGCPLine, point.dfGCPX,
                              point.dfGCPY, point.dfGCPZ});
    }
    if (!frame.points.empty()) reference = dataset_->GetGCPSpatialRef();
  }
  if (reference != nullptr) {
    frame.projection = wkt(*reference);
    frame.axes = reference->GetDataAxisToSRSAxisMapping();
  }
  const CPLStringList model(dataset_->GetMetadata("RPC"), FALSE);
  for (int i = 0; i < model.Count(); ++i) frame.sensor_model.emplace_back(model[i]);
  return frame;
}

SampleType Scene::sample_type(const std::vector<int>& bands) const {
  GDALDataType type = GDT_Byte;
  int bits = 0;
  std::size_t signed_bytes = 0;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    GDALRasterBand& each = band(bands[i]);
    type = i == 0 ? each.GetRasterDataType() : GDALDataTypeUnion(type, each.GetRasterDataType());
    bits = i == 0 ? bits_of(each) : std::max(bits, bits_of(each));
    signed_bytes += is_signed_byte(each) ? 1 : 0;
  }
  if (signed_bytes == bands.size()) return {GDT_Byte, CV_8S, range_of(CV_8S)};
  if (signed_bytes > 0) {
    throw InputError(
        "its bands mix signed bytes with other types: write them as one type, as with "
        "gdal_translate -ot Int16");
  }
  // OpenCV has no unsigned integers of 32 bits; of 64 bits neither has any.
  static const std::map<GDALDataType, int> depths = {{GDT_Byte, CV_8U},
                                                     {GDT_UInt16, CV_16U},
                                                     {GDT_Int16, CV_16S},
                                                     {GDT_Int32, CV_32S},
                                                     {GDT_Float32, CV_32F}};
  const auto depth = depths.find(type);
  SampleType sample{GDT_Float64, CV_64F, std::nullopt};
  if (depth != depths.end()) sample = {type, depth->second, range_of(depth->second)};
  const int whole = GDALGetDataTypeSizeBits(type);
  if (type == GDT_Byte || type == GDT_UInt16 || type == GDT_UInt32) {
    sample.range = std::pair{0.0, std::ldexp(1.0, bits > 0 && bits < whole ? bits : whole) - 1};
  }
  return sample;
}

void Scene::check_blocks(const Window& window, const std::vector<int>& bands) const {
  const auto told = [this](const char* item, const char* value) {
    const char* const own = dataset_->GetMetadataItem(item, "IMAGE_STRUCTURE");
    return own != nullptr && EQUAL(own, value);
  };
  if (!EQUAL(dataset_->GetDriverName(), "GTiff") || !told("COMPRESSION", "DEFLATE")) return;
  const bool are_together = told("INTERLEAVE", "PIXEL");
  const std::unique_ptr<VSILFILE, int (*)(VSILFILE*)> file(VSIFOpenL(name_.c_str(), "rb"),
                                                           &VSIFCloseL);
  for (const int number : are_together ? std::vector<int>{1} : bands) {
    GDALRasterBand& each = band(number);
    const int samples = are_together ? dataset_->GetRasterCount() : 1;
    int width = 0;
    int height = 0;
    each.GetBlockSize(&width, &height);
    const auto most = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(each.GetRasterDataType())) *
                      static_cast<std::size_t>(samples) * static_cast<std::size_t>(width) *
                      static_cast<std::size_t>(height);
    for (int y = window.y / height; y <= (window.y + window.height - 1) / height; ++y) {
      for (int x = window.x / width; x <= (window.x + window.width - 1) / width; ++x) {
        const auto item = [&](const char* what) {
          const std::string name = fmt::format("BLOCK_{}_{}_{}", what, x, y);
          const char* const value = each.GetMetadataItem(name.c_str(), "TIFF");
          return value == nullptr ? std::uint64_t{0} : std::strtoull(value, nullptr, 10);
        };
        if (!file || !checked_.insert({number, x, y}).second || item("OFFSET") == 0) continue;
        std::vector<std::uint8_t> packed(std::min<std::size_t>(item("SIZE"), most * 2 + 1024));
        VSIFSeekL(file.get(), item("OFFSET"), SEEK_SET);
        packed.resize(VSIFReadL(packed.data(), 1, packed.size(), file.get()));
        check_deflated(packed, most);
      }
    }
  }
}

void Scene::read(const Window& window, const std::vector<int>& bands, void* to, GDALDataType type,
                 std::size_t pixel, std::size_t line, std::size_t band) const {
  const GdalMessages messages;
  check_blocks(window, bands);
  std::vector<int> numbers = bands;
  const CPLErr failed = dataset_->RasterIO(
      GF_Read, window.x, window.y, window.width, window.height, to, window.width, window.height,
      type, static_cast<int>(numbers.size()), numbers.data(), static_cast<GSpacing>(pixel),
      static_cast<GSpacing>(line), static_cast<GSpacing>(band), nullptr);
  if (failed != CE_None || !messages.error().empty()) {
    const bool is_gone = messages.error().find("No such file") != std::string::npos;
    if (is_gone) messages.refuse("a file that it is made of is missing", "put it there again");
    messages.refuse("it is damaged or cut off", kSaveAgain);
  }
}

Decoded Scene::picture_of(int width, int height, const std::vector<int>& bands,
                          const SampleType& type) const {
  Decoded decoded;
  decoded.hidden = "masked, or hold the value of no data";
  for (int number = 1; number <= dataset_->GetRasterCount(); ++number) {
    if (band(number).GetColorInterpretation() != GCI_AlphaBand) continue;
    decoded.hidden = fmt::format(
        "masked, transparent (by band {}, alpha), or hold the value of no data", number);
  }
  decoded.type_range = type.range;
  decoded.samples.create(height, width, CV_MAKETYPE(type.depth, static_cast<int>(bands.size())));
  if (!is_whole(bands)) decoded.valid = cv::Mat1b(height, width, std::uint8_t{1});
  return decoded;
}

void Scene::read_rows_of(const Window& window, const std::vector<int>& bands,
                         const SampleType& type, int first, Decoded& to) const {
  const std::size_t stride = to.samples.elemSize();
  read(window, bands, to.samples.ptr(first), type.type, stride,
       stride * static_cast<std::size_t>(window.width),
       static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type.type)));
  for (std::size_t i = 0; i < bands.size() && !to.valid.empty(); ++i) {
    GDALRasterBand& each = band(bands[i]);
    // One mask for all bands.
    if (i > 0 && (each.GetMaskFlags() & GMF_PER_DATASET) != 0 && !has_no_data(each)) continue;
    std::vector<std::uint8_t> mask = read_mask(window, bands[i]);
    cv::Mat rows = to.valid.rowRange(first, first + window.height);
    rows &= cv::Mat1b(window.height, window.width, mask.data());
  }
}

bool Scene::is_whole(const std::vector<int>& bands) const {
  const GdalMessages quiet;
  return alpha() == nullptr && std::all_of(bands.begin(), bands.end(), [&](int number) {
           return (band(number).GetMaskFlags() & GMF_ALL_VALID) != 0;
         });
}

GDALRasterBand* Scene::alpha() const {
  for (int number = 1; number <= dataset_->GetRasterCount(); ++number) {
    GDALRasterBand* const each = dataset_->GetRasterBand(number);
    if (number != bands_.front() && each->GetColorInterpretation() == GCI_AlphaBand) return each;
  }
  return nullptr;
}

std::vector<std::uint8_t> Scene::read_mask(const Window& window, int number) const {
  const GdalMessages messages;
  std::vector<std::uint8_t> mask(window.pixels(), 1);
  const auto read = [&]<class Value>(GDALRasterBand& from, GDALDataType type, Value least) {
    std::vector<Value> values(window.pixels());
    const CPLErr failed =
        from.RasterIO(GF_Read, window.x, window.y, window.width, window.height, values.data(),
                      window.width, window.height, type, 0, 0, nullptr);
    if (failed != CE_None) messages.refuse("its mask is damaged or cut off", kSaveAgain);
    std::transform(values.begin(), values.end(), mask.begin(), mask.begin(),
                   [&](Value value, std::uint8_t had) {
                     return static_cast<std::uint8_t>(value >= least ? had : 0);
                   });
  };
  // GDAL takes the first of mask, value of no data, and alpha; here each counts.
  GDALRasterBand& each = band(number);
  const int flags = each.GetMaskFlags();
  if ((flags & (GMF_ALL_VALID | GMF_ALPHA)) == 0) {
    read(*each.GetMaskBand(), GDT_Byte, std::uint8_t{1});
  }
  if ((flags & GMF_NODATA) == 0 && has_no_data(each)) {
    GDALNoDataMaskBand no_data(&each);
    read(no_data, GDT_Byte, std::uint8_t{1});
  }
  GDALRasterBand* const opacity = alpha();
  if (opacity == nullptr || opacity == &each) return mask;
  constexpr std::uint8_t kHalf = 128;
  if (opacity->GetRasterDataType() == GDT_Byte) {
    read(*opacity, GDT_Byte, kHalf);
    return mask;
  }
  if (!full_alpha_) {
    std::array<double, 2> ends{};
    const bool known = opacity->ComputeRasterMinMax(FALSE, ends.data()) == CE_None;
    full_alpha_ = full_alpha(known ? ends[1] : 0, sample_type({opacity->GetBand()}).range);
  }
  read(*opacity, GDT_Float64, *full_alpha_ / 2);
  return mask;
}

void Scene::read_rows(int first, int rows, const std::vector<int>& bands, BandRows& to) const {
  const std::size_t pixels = static_cast<std::size_t>(width_) * static_cast<std::size_t>(rows);
  to.first = first;
  to.rows = rows;
  to.values.resize(bands.size() * pixels);
  read(of_rows(first, rows), bands, to.values.data(), GDT_Float64, sizeof(double),
       sizeof(double) * static_cast<std::size_t>(width_), sizeof(double) * pixels);
  for (std::size_t b = 0; b < bands.size(); ++b) {
    const std::vector<std::uint8_t> mask = read_mask(of_rows(first, rows), bands[b]);
    double* values = to.values.data() + b * pixels;
    if (is_signed_byte(band(bands[b]))) {
      // GDAL gives the bits of signed bytes as unsigned ones.
      std::transform(values, values + pixels, values,
                     [](double value) { return value < 128 ? value : value - 256; });
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      if (mask[i] == 0 || !std::isfinite(values[i])) values[i] = std::nan("");
    }
  }
}

void Scene::each_rows(const std::vector<int>& bands,
                      const std::function<void(const BandRows& rows)>& visit) const {
  const int at_once = rows_at_once(bands.size() * sizeof(double));
  BandRows rows;
  for (int first = 0; first < height_; first += at_once) {
    read_rows(first, std::min(at_once, height_ - first), bands, rows);
    visit(rows);
  }
}

int Scene::rows_at_once(std::size_t bytes) const {
  constexpr std::size_t kHeld = std::size_t{64} << 20;
  int block_width = 0;
  int block_height = 0;
  band(bands_.front()).GetBlockSize(&block_width, &block_height);
  const std::size_t row = std::max<std::size_t>(bytes * static_cast<std::size_t>(width_), 1);
  const auto most =
      static_cast<int>(std::clamp<std::size_t>(kHeld / row, 1, static_cast<std::size_t>(height_)));
  // Whole blocks, where they are not too large, because each is decoded as a whole.
  return most < block_height ? most : most / std::max(block_height, 1) * std::max(block_height, 1);
}

Scene scene_of(const MapFrame& frame) {
  Scene scene(frame.source);
  if (scene.width() == frame.width && scene.height() == frame.height &&
      scene.bands() == frame.bands) {
    return scene;
  }
  throw InputError(fmt::format("{} has changed since it was read: run again", frame.source));
}

std::vector<int> in_colour_order(const Scene& scene, const std::vector<int>& bands) {
  std::vector<int> ordered;
  for (const GDALColorInterp colour : {GCI_RedBand, GCI_GreenBand, GCI_BlueBand}) {
    for (const int number : bands) {
      if (scene.band(number).GetColorInterpretation() == colour) ordered.push_back(number);
    }
  }
  return ordered.size() == bands.size() ? ordered : bands;
}

}  // namespace diacut
