#include "map/map_regions.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "map/band_figures.hpp"
#include "map/gdal.hpp"
#include "map/region_layer.hpp"
#include "map/region_shapes.hpp"
#include "output/format.hpp"
#include "output/outline_sweep.hpp"

namespace diacut {
namespace {

constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

/// The rings of regions in a file without a name, which is gone with the process. Errors are
/// InputError and name the folder.
class OutlineStore {
 public:
  /// `folder`: where the file is made. `count`: regions 1..count.
  OutlineStore(const std::string& folder, std::int64_t count);

  void put(std::int32_t label, const std::vector<RingCorners>& rings);
  /// The rings of a region that was put.
  std::vector<RingCorners> get(std::int64_t label) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const void* from, std::size_t size);
  void read(void* to, std::size_t size) const;
  [[noreturn]] void refuse(const char* what) const;

  std::string folder_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t end_ = 0;
  std::vector<std::uint64_t> place_;  ///< By label: where its rings begin.
};

OutlineStore::OutlineStore(const std::string& folder, std::int64_t count)
    : folder_(folder), place_(static_cast<std::size_t>(count) + 1, kNowhere) {
  std::string path = folder + "/outlines-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) refuse("cannot be written");
  ::unlink(path.c_str());
  file_.reset(::fdopen(descriptor, "w+b"));
  if (file_) return;
  ::close(descriptor);
  refuse("cannot be written");
}

void OutlineStore::put(std::int32_t label, const std::vector<RingCorners>& rings) {
  place_.at(static_cast<std::size_t>(label)) = end_;
  const std::uint64_t count = rings.size();
  write(&count, sizeof(count));
  for (const RingCorners& ring : rings) {
    const std::uint64_t corners = ring.size();
    write(&corners, sizeof(corners));
    write(ring.data(), ring.size() * sizeof(Corner));
  }
}

std::vector<RingCorners> OutlineStore::get(std::int64_t label) const {
  const std::uint64_t place = place_.at(static_cast<std::size_t>(label));
  if (place == kNowhere) {
    throw InputError(fmt::format("region {} has no outline: run again", label));
  }
  // Which also writes what is left.
  if (::fseeko(file_.get(), static_cast<off_t>(place), SEEK_SET) != 0) refuse("cannot be written");
  std::uint64_t count = 0;
  read(&count, sizeof(count));
  std::vector<RingCorners> rings(static_cast<std::size_t>(count));
  for (RingCorners& ring : rings) {
    std::uint64_t corners = 0;
    read(&corners, sizeof(corners));
    ring.resize(static_cast<std::size_t>(corners));
    read(ring.data(), ring.size() * sizeof(Corner));
  }
  return rings;
}

void OutlineStore::write(const void* from, std::size_t size) {
  if (std::fwrite(from, 1, size, file_.get()) != size) refuse("cannot be written");
  end_ += size;
}

void OutlineStore::read(void* to, std::size_t size) const {
  if (std::fread(to, 1, size, file_.get()) != size) refuse("cannot be read again");
}

void OutlineStore::refuse(const char* what) const {
  throw InputError(fmt::format("{}: outlines {}: {}: make room and run again", folder_, what,
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
        sweep_(frame.width, {true, step},
               [this](std::int32_t label, std::vector<RingCorners>&& rings) {
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

std::vector<std::int64_t> count_pixels(const Labels& labels) {
  std::vector<std::int64_t> pixels(static_cast<std::size_t>(labels.count) + 1, 0);
  for (const std::int32_t label : labels.values) ++pixels[static_cast<std::size_t>(label)];
  return pixels;
}

}  // namespace

void check_map_regions(const std::string& path, const MapFrame& frame) {
  const RegionFormat& format = region_format_of(path);
  encode_for(path, [&] { check_region_format(format, frame); });
}

void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify) {
  const RegionFormat& format = region_format_of(path);
  std::vector<BandFigures> figures;
  std::optional<RegionShapes> shapes;
  encode_for(path, [&] {
    const GdalMessages messages;
    check_region_format(format, frame);
    check_same_size(labels, frame);
    figures = measure_bands(scene_of(frame), labels);
    shapes.emplace(labels, frame, step_of(format, frame), simplify);
  });
  const std::vector<std::int64_t> pixels = count_pixels(labels);
  write_region_layer(path, format, frame, {labels.count, pixels, figures, [&](std::int64_t label) {
                                             return shapes->shape(label);
                                           }});
}

void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::string& folder,
                         const std::function<void(double)>& done) {
  const RegionFormat& format = region_format_of(path);
  // The first half of the work is to read, the second one to write.
  constexpr double kHalf = 0.5;
  std::optional<RegionRows> rows;
  std::optional<PixelToMap> to_map;
  encode_for(path, [&] {
    check_region_format(format, frame);
    const GdalMessages messages;
    limit_block_cache();
    to_map.emplace(frame);
    rows.emplace(frame, count, step_of(format, frame), folder);
    rows->read(labels, [&](double share) {
      if (done) done(kHalf * share);
    });
  });
  write_region_layer(
      path, format, frame,
      {count, rows->pixels(), rows->figures(), [&](std::int64_t label) {
         constexpr std::int64_t kOften = 1024;
         if (done && label % kOften == 0) {
           done(kHalf + kHalf * static_cast<double>(label) / static_cast<double>(count));
         }
         return shape_of(rows->outlines().get(label), *to_map);
       }});
}

}  // namespace diacut
