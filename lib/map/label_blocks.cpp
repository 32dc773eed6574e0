#include "map/label_blocks.hpp"

#include <cpl_string.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"

namespace diacut {
namespace {

constexpr const char* kAdvice = "make room and run again, which goes on from here";

}  // namespace

class LabelBlocks::Writing {
 public:
  Writing(const std::string& path, const MapFrame& frame, bool cloud_optimised)
      : path_(path), part_(path + ".part.tif"), cloud_optimised_(cloud_optimised) {
    const GdalMessages messages;
    limit_block_cache();
    dataset_ = Dataset(writing_driver("GTiff").Create(part_.c_str(), frame.width, frame.height, 1,
                                                      GDT_UInt32, label_options(false).List()));
    if (!dataset_) messages.refuse(fmt::format("{}: cannot be written", path), kAdvice);
    dataset_->GetRasterBand(1)->SetNoDataValue(0);
    dataset_->GetRasterBand(1)->SetDescription("label");
    place(*dataset_, frame);
  }

  ~Writing() {
    const GdalMessages quiet;
    dataset_.reset();
    std::error_code ignored;
    for (const std::string& left : {part_, optimised()}) std::filesystem::remove(left, ignored);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

  void write(int x, int y, int width, int height, const std::int32_t* labels) {
    const GdalMessages messages;
    // The bits of labels are those of unsigned numbers, because none is negative.
    const CPLErr failed = dataset_->GetRasterBand(1)->RasterIO(
        GF_Write, x, y, width, height, const_cast<std::int32_t*>(labels), width, height, GDT_UInt32,
        0, 0, nullptr);
    if (failed != CE_None || !messages.error().empty()) {
      messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
    }
  }

  void commit() {
    const GdalMessages messages;
    dataset_.reset();  // Which writes what is left.
    const auto check = [&] {
      if (messages.error().empty()) return;
      messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
    };
    check();
    std::string whole = part_;
    if (cloud_optimised_) {
      const Dataset source = open_raster(part_);
      check();
      Dataset copy(writing_driver("COG").CreateCopy(optimised().c_str(), source.get(), FALSE,
                                                    label_options(true).List(), nullptr, nullptr));
      copy.reset();
      check();
      whole = optimised();
    }
    if (std::rename(whole.c_str(), path_.c_str()) != 0) {
      throw InputError(fmt::format("{}: cannot be put in its place: {}", path_,
                                   std::generic_category().message(errno)));
    }
  }

 private:
  std::string optimised() const { return path_ + ".part.cog.tif"; }

  std::string path_;
  std::string part_;
  bool cloud_optimised_;
  Dataset dataset_;
};

LabelBlocks::LabelBlocks(const std::string& path, const MapFrame& frame, bool cloud_optimised)
    : writing_(std::make_unique<Writing>(path, frame, cloud_optimised)) {}

LabelBlocks::~LabelBlocks() = default;

void LabelBlocks::write(int x, int y, int width, int height, const std::int32_t* labels) {
  writing_->write(x, y, width, height, labels);
}

void LabelBlocks::commit() { writing_->commit(); }

}  // namespace diacut
