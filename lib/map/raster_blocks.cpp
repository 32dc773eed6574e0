#include "map/raster_blocks.hpp"

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

class RasterBlocks::Writing {
 public:
  Writing(const std::string& path, const MapFrame& frame, RasterKind kind, bool cloud_optimised)
      : path_(path), part_(path + ".part.tif"), kind_(kind), cloud_optimised_(cloud_optimised) {
    const GdalMessages messages;
    limit_block_cache();
    dataset_ = Dataset(writing_driver("GTiff").Create(part_.c_str(), frame.width, frame.height, 1,
                                                      type(), raster_options(kind, false).List()));
    if (!dataset_) messages.refuse(fmt::format("{}: cannot be written", path), kAdvice);
    describe(*dataset_->GetRasterBand(1), kind);
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

  /// The bits of labels are those of unsigned numbers, because none is negative.
  void write(const Window& window, const void* pixels) {
    const GdalMessages messages;
    const CPLErr failed = dataset_->GetRasterBand(1)->RasterIO(
        GF_Write, window.x, window.y, window.width, window.height, const_cast<void*>(pixels),
        window.width, window.height, type(), 0, 0, nullptr);
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
                                                    raster_options(kind_, true).List(), nullptr,
                                                    nullptr));
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
  GDALDataType type() const { return type_of(kind_); }
  std::string optimised() const { return path_ + ".part.cog.tif"; }

  std::string path_;
  std::string part_;
  RasterKind kind_;
  bool cloud_optimised_;
  Dataset dataset_;
};

RasterBlocks::RasterBlocks(const std::string& path, const MapFrame& frame, RasterKind kind,
                           bool cloud_optimised)
    : writing_(std::make_unique<Writing>(path, frame, kind, cloud_optimised)) {}

RasterBlocks::~RasterBlocks() = default;

std::vector<Window> RasterBlocks::windows(const MapFrame& frame) {
  constexpr int kSide = 2048;  // A multiple of the blocks.
  return windows_of(frame.width, frame.height, kSide, kSide);
}

void RasterBlocks::write(const Window& window, const std::vector<std::int32_t>& labels) {
  writing_->write(window, labels.data());
}

void RasterBlocks::write(const Window& window, const std::vector<float>& strength) {
  writing_->write(window, strength.data());
}

void RasterBlocks::commit() { writing_->commit(); }

}  // namespace diacut
