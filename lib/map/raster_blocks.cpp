#include "map/raster_blocks.hpp"

#include <cpl_string.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "diacut/errors.hpp"
#include "map/gdal.hpp"

namespace diacut {
namespace {

constexpr const char* kAdvice = "make room and run again, which goes on from here";

/// Where GDAL puts what a GeoTIFF cannot hold, as some projections.
std::string beside(const std::string& path) { return path + ".aux.xml"; }

/// Of the last bytes of a file GDAL 3.10 tells by libtiff's handler alone that they do not fit.
void finish_file(const std::function<void()>& work) {
  static std::mutex one_by_one;
  const std::lock_guard lock(one_by_one);
  const TIFFErrorHandler of_host =
      TIFFSetErrorHandler([](const char*, const char* format, va_list arguments) {
        CPLErrorV(CE_Failure, CPLE_FileIO, format, arguments);
      });
  const std::shared_ptr<void> restored(nullptr, [&](void*) { TIFFSetErrorHandler(of_host); });
  work();
}

class GdalWriting : public RasterWriting {
 public:
  GdalWriting(const std::string& path, const MapFrame& frame, RasterKind kind, bool cloud_optimised)
      : path_(path), part_(path + ".part.tif"), kind_(kind), cloud_optimised_(cloud_optimised) {
    const GdalMessages messages;
    limit_block_cache();
    dataset_ = Dataset(writing_driver("GTiff").Create(part_.c_str(), frame.width, frame.height, 1,
                                                      type(), raster_options(kind, false).List()));
    if (!dataset_) messages.refuse(fmt::format("{}: cannot be written", path), kAdvice);
    describe(*dataset_->GetRasterBand(1), kind);
    place(*dataset_, frame);
    dataset_->GetRasterBand(1)->GetBlockSize(&block_.width, &block_.height);
    const auto blocks = [](int pixels, int side) { return std::int64_t{pixels - 1} / side + 1; };
    left_ = blocks(frame.width, block_.width) * blocks(frame.height, block_.height);
  }

  ~GdalWriting() override {
    const GdalMessages quiet;
    dataset_.reset();
    std::error_code ignored;
    for (const std::string& left : {part_, optimised()}) {
      std::filesystem::remove(left, ignored);
      std::filesystem::remove(beside(left), ignored);
    }
  }

  const BlockSize& block() const override { return block_; }

  void write(const Window& window, const void* blocks,
             const std::shared_ptr<const void>& memory) override {
    const auto* next = static_cast<const std::byte*>(blocks);
    for (int y = window.y; y < window.y + window.height; y += block_.height) {
      for (int x = window.x; x < window.x + window.width; x += block_.width) {
        const Place place{y / block_.height, x / block_.width};
        if (left_-- > kLast) {
          write_block(place, next);
        } else {
          last_[place] = {memory, next};
        }
        next += block_.pixels() * static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type()));
      }
    }
  }

  void commit() override {
    for (const auto& [place, block] : last_) write_block(place, block.second);
    last_.clear();
    const GdalMessages messages;
    finish_file([this] { dataset_.reset(); });
    const auto check = [&] {
      if (messages.error().empty()) return;
      messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
    };
    check();
    std::string whole = part_;
    if (cloud_optimised_) {
      const Dataset source = open_raster(part_);
      check();
      GDALDriver& driver = writing_driver("COG");
      finish_file([&] {
        Dataset(driver.CreateCopy(optimised().c_str(), source.get(), FALSE,
                                  raster_options(kind_, true).List(), nullptr, nullptr));
      });
      check();
      whole = optimised();
    }
    const int error = std::rename(beside(whole).c_str(), beside(path_).c_str()) != 0 ? errno : 0;
    if ((error != 0 && error != ENOENT) || std::rename(whole.c_str(), path_.c_str()) != 0) {
      throw InputError(fmt::format("{}: cannot be put in its place: {}", path_,
                                   std::generic_category().message(errno)));
    }
    std::error_code ignored;
    // That of an earlier map of this name would give this one its projection.
    if (error == ENOENT) std::filesystem::remove(beside(path_), ignored);
  }

 private:
  using Place = std::pair<int, int>;  ///< Row and column among the blocks.
  /// The last blocks are written row by row, the others as they come: that gives a file the bytes
  /// that it has when its pixels are written by way of GDAL's cache of 128 MB.
  static constexpr std::int64_t kLast = 511;

  void write_block(const Place& place, const void* block) {
    const GdalMessages messages;
    const CPLErr failed =
        dataset_->GetRasterBand(1)->WriteBlock(place.second, place.first, const_cast<void*>(block));
    if (failed == CE_None && messages.error().empty()) return;
    messages.refuse(fmt::format("{}: cannot be written", path_), kAdvice);
  }

  GDALDataType type() const { return type_of(kind_); }
  std::string optimised() const { return path_ + ".part.cog.tif"; }

  std::string path_;
  std::string part_;
  RasterKind kind_;
  bool cloud_optimised_;
  Dataset dataset_;
  BlockSize block_;
  std::int64_t left_ = 0;  ///< Blocks that were not written yet.
  std::map<Place, std::pair<std::shared_ptr<const void>, const void*>> last_;
};

}  // namespace

std::unique_ptr<RasterWriting> start_raster(const std::string& path, const MapFrame& frame,
                                            RasterKind kind, bool cloud_optimised) {
  return std::make_unique<GdalWriting>(path, frame, kind, cloud_optimised);
}

}  // namespace diacut
