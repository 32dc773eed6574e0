#include "png_reader.hpp"

#include <cpl_vsi.h>
#include <gdal_priv.h>

#include <memory>
#include <stdexcept>

namespace diacut::testing {

ReadPng read_png(std::string bytes) {
  GDALAllRegister();
  const char* path = "/vsimem/read.png";
  VSIFCloseL(VSIFileFromMemBuffer(path, reinterpret_cast<GByte*>(bytes.data()), bytes.size(), 0));
  const std::unique_ptr<GDALDataset> file(GDALDataset::Open(path, GDAL_OF_RASTER));
  if (file == nullptr || !bytes.ends_with("IEND\xae\x42\x60\x82")) {
    throw std::runtime_error("not a whole PNG");
  }
  GDALRasterBand& first = *file->GetRasterBand(1);
  ReadPng result{.width = file->GetRasterXSize(),
                 .height = file->GetRasterYSize(),
                 .bits = GDALGetDataTypeSizeBits(first.GetRasterDataType()),
                 .channels = file->GetRasterCount()};
  const int row = result.width * result.channels;
  result.values.resize(static_cast<std::size_t>(row * result.height));
  if (file->RasterIO(GF_Read, 0, 0, result.width, result.height, result.values.data(), result.width,
                     result.height, GDT_UInt16, result.channels, nullptr, 2 * result.channels,
                     2 * row, 2, nullptr) != CE_None) {
    throw std::runtime_error("a damaged PNG");
  }
  const GDALColorTable* colours = first.GetColorTable();
  for (int k = 0; colours != nullptr && k < colours->GetColorEntryCount(); ++k) {
    const auto byte = [](short value) { return static_cast<std::uint8_t>(value); };
    const GDALColorEntry& entry = *colours->GetColorEntry(k);
    result.palette.push_back({byte(entry.c1), byte(entry.c2), byte(entry.c3)});
    result.palette_alpha.push_back(byte(entry.c4));
  }
  for (char** item = file->GetMetadata(); item != nullptr && *item != nullptr; ++item) {
    const std::string text = *item;  // NAME=TEXT
    result.texts[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return result;
}

ReadPng read_png(const std::vector<std::uint8_t>& bytes) {
  return read_png(std::string(bytes.begin(), bytes.end()));
}

}  // namespace diacut::testing
