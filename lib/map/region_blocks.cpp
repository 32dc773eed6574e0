#include "map/region_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "map/band_figures.hpp"
#include "map/gdal.hpp"
#include "map/outline_store.hpp"
#include "map/outline_sweep.hpp"
#include "map/region_layer.hpp"
#include "map/region_shapes.hpp"
#include "output/format.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;

/// A folder beside a file, in which GDAL writes what is then put in place. A folder that a run
/// which was killed left is emptied.
class FolderBeside {
 public:
  explicit FolderBeside(const std::string& path) : path_(path + ".part") {
    std::error_code failed;
    fs::remove_all(path_, failed);
    fs::create_directory(path_, failed);
    if (!failed) return;
    throw InputError(fmt::format("{}: the folder cannot be made: {}", path_, failed.message()));
  }
  ~FolderBeside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;

  std::string path(const std::string& name) const { return (fs::path(path_) / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(path_)) {
      names.push_back(each.path().filename().string());
    }
    return names;
  }

 private:
  std::string path_;
};

void move_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return;
  throw InputError(fmt::format("{}: cannot be put in its place: {}", to,
                               std::generic_category().message(errno)));
}

/// What is found out of the regions row by row.
class RegionRows {
 public:
  RegionRows(const MapFrame& frame, std::int64_t count, int step, const std::string& folder)
      : frame_(frame),
        scene_(scene_of(frame)),
        store_(folder, count),
        pixels_(static_cast<std::size_t>(count) + 1, 0),
        figures_(static_cast<std::size_t>(count) * frame.bands.size()),
        sweep_(frame.width, step,
               [this](std::int32_t label, const std::vector<RingCorners>& rings) {
                 store_.put(label, rings);
               }) {}

  void read(const std::string& path, const std::function<void(double)>& done) {
    const GdalMessages messages;
    const Dataset labels = open_raster(path);
    if (!labels) messages.refuse(fmt::format("{}: cannot be read", path), "run again");
    constexpr int kBlock = 256;  // Of the labels.
    std::vector<std::int32_t> rows;
    for (int first = 0; first < frame_.height; first += kBlock) {
      const int count = std::min(kBlock, frame_.height - first);
      rows.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(frame_.width));
      // The bits of labels are those of unsigned numbers, because none is negative.
      if (labels->GetRasterBand(1)->RasterIO(GF_Read, 0, first, frame_.width, count, rows.data(),
                                             frame_.width, count, GDT_UInt32, 0, 0,
                                             nullptr) != CE_None) {
        messages.refuse(fmt::format("{}: cannot be read", path), "run again");
      }
      add(first, count, rows);
      if (done) done(static_cast<double>(first + count) / frame_.height);
    }
    sweep_.finish();
  }

  const std::vector<std::int64_t>& pixels() const { return pixels_; }
  const std::vector<BandFigures>& figures() const { return figures_; }
  const OutlineStore& outlines() const { return store_; }

 private:
  void add(int first, int count, const std::vector<std::int32_t>& labels) {
    const auto width = static_cast<std::size_t>(frame_.width);
    for (const std::int32_t label : labels) ++pixels_.at(static_cast<std::size_t>(label));
    const int at_once = scene_.rows_at_once(frame_.bands.size() * (sizeof(double) + 1));
    for (int y = 0; y < count; y += at_once) {
      scene_.read_rows(first + y, std::min(at_once, count - y), frame_.bands, bands_);
      add_rows(bands_, width, labels.data() + static_cast<std::size_t>(y) * width, figures_);
    }
    for (int y = 0; y < count; ++y) sweep_.add(labels.data() + static_cast<std::size_t>(y) * width);
  }

  const MapFrame& frame_;
  Scene scene_;
  OutlineStore store_;
  std::vector<std::int64_t> pixels_;  ///< By label.
  std::vector<BandFigures> figures_;
  OutlineSweep sweep_;
  BandRows bands_;
};

}  // namespace

void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::string& folder,
                         const std::function<void(double)>& done) {
  const RegionFormat& format = region_format_of(path);
  const FolderBeside beside(path);
  encode_for(path, [&] {
    check_region_format(format, frame);
    const GdalMessages messages;
    limit_block_cache();
    // The first half of the work is to read, the second one to write.
    constexpr double kHalf = 0.5;
    RegionRows rows(frame, count, step_of(format, frame), folder);
    rows.read(labels, [&](double share) {
      if (done) done(kHalf * share);
    });
    const PixelToMap to_map(frame);
    write_region_layer(
        beside.path(std::string("regions") + format.extension), fs::path(path).stem().string(),
        format, frame,
        {count, rows.pixels(), rows.figures(), [&](std::int64_t label) {
           constexpr std::int64_t kOften = 1024;
           if (done && label % kOften == 0) {
             done(kHalf + kHalf * static_cast<double>(label) / static_cast<double>(count));
           }
           return shape_of(rows.outlines().get(label), to_map);
         }});
  });
  for (const auto& [name, place] : places_of(beside.names(), path)) {
    move_file(beside.path(name), place);
  }
  remove_old_indices(path);
}

}  // namespace diacut
