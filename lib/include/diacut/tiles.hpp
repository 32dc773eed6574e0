#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/parameters.hpp"

/// @file
/// One picture of any size, segmented in tiles: by one process, or by many that share a folder. The
/// labels are those of the whole picture, to the bit, however it is cut.
///
/// Four steps compute the tiles and then join them; they exchange data through the folder. A tile
/// or a join that is done is not computed again, so you may stop and repeat a run at any time. The
/// last step writes the results.
namespace diacut {

/// A run's settings, kept as plan.json in the folder of the tiles.
struct TilePlan {
  std::string source;      ///< The picture: a file, or another name that GDAL opens.
  std::string output;      ///< The file of the labels (.tif), or of polygons (write_map_regions()).
  std::string contours;    ///< File of the contours, a GeoTIFF of 32-bit floats; empty: none.
  std::vector<int> bands;  ///< Bands of a scene to read; empty: not chosen.
  std::int64_t width = 0;  ///< Width of the picture, pixels.
  std::int64_t height = 0;       ///< Height of the picture, pixels.
  int tile_size = 0;             ///< Side of the tiles, pixels.
  bool cloud_optimised = false;  ///< Whether GeoTIFF files are cloud-optimised.
  bool whole = true;             ///< Whether all pixels have data, as far as the file says.
  std::pair<double, double> range{0, 1};  ///< The stored values that become 0 and 1.
  std::uint64_t source_bytes = 0;         ///< Size of the picture's file; 0: not a file.
  std::int64_t source_time = 0;           ///< When the file was changed; 0: not a file.
  Parameters parameters;                  ///< How the picture is segmented.
};

/// Sets `width`, `height`, `whole`, `range`, `source_bytes` and `source_time` of a plan, and, by
/// `memory`, a tile size of 0. A scene whose type does not fix its range of values is read once.
/// `memory`: main memory that a tile may take, bytes; 0: no limit. `notes` gets sentences for the
/// user. Throws ConfigError when the parameters do not work in tiles; InputError when the picture
/// cannot be read.
TilePlan complete_plan(TilePlan plan, std::uint64_t memory, std::vector<std::string>& notes);

/// Writes a plan into a folder, made if missing. Returns the path of the plan's file. Throws
/// InputError where the folder holds another plan, or cannot be written.
std::string write_tile_plan(const std::string& folder, const TilePlan& plan);

/// The steps of a tiled run.
enum class TileStep {
  kMap,       ///< Tiles: the boundary map. Join: what it is divided by.
  kContours,  ///< Tiles: contours, and plateaus at the edges. Join: distances within plateaus.
  kBasins,    ///< Tiles: pieces of basins. Join: the basins' numbers.
  kRegions,   ///< Tiles: arcs, and merges within the tile. Join: the hierarchy and its cut.
  kPaint,     ///< The files of the results.
  kDone,      ///< Nothing is left to do.
};

/// "map", "contours", "basins", "regions", "paint" or "done", with static storage.
const char* to_string(TileStep step);

/// The tiles of one plan. Several processes may work on different tiles of the step that is due.
class TileRun {
 public:
  /// What the process does in the folder.
  enum class Role {
    kTile,  ///< Some tiles, perhaps beside other processes.
    kAll,   ///< A join, the painting, or everything: no other process may be at work.
  };

  /// Reads the plan's file in the folder of the tiles. Throws InputError where it cannot be read,
  /// or another run is at work in the folder.
  TileRun(const std::string& plan_path, Role role);
  ~TileRun();
  TileRun(const TileRun&) = delete;
  TileRun& operator=(const TileRun&) = delete;

  /// The device that tiles are computed on; it is opened when it is first needed. `device`,
  /// `kernel_dir`: as Segmenter takes them. `memory`: as Segmenter::limit_device_memory() takes it.
  /// `compiling`: as Segmenter::on_compiling() takes it.
  void use_device(const std::string& device, const std::string& kernel_dir, std::uint64_t memory,
                  std::function<void()> compiling);

  const TilePlan& plan() const;          ///< As its file has it; lives as long as the TileRun.
  std::size_t tiles() const;             ///< How many there are, numbered from 0 row by row.
  TileStep due() const;                  ///< The first step whose join is not done.
  bool is_done(std::size_t tile) const;  ///< Whether a tile of the step that is due is done.

  /// Does tiles of the step that is due that are not done: on several cores where the device has no
  /// part in the step, as far as the limit of use_device(), or else half of the free main memory,
  /// holds several. `done` is called after each tile, by one thread at a time, in no order; what it
  /// throws ends the work, once the tiles that are begun are done. Throws of the first tile that
  /// failed InputError, where the picture or what other tiles left cannot be read, and DeviceError.
  void tiles(const std::vector<std::size_t>& tiles, const std::function<void(std::size_t)>& done);

  /// Joins the tiles of the step that is due. `notes` gets sentences for a person. Throws
  /// InputError where a tile is not done, or what it left does not belong to this run.
  void join(std::vector<std::string>& notes);

  /// Writes the results, the labels last. `painted` is called after each part, with the share that
  /// is done. Throws InputError where the labels are not joined yet, or a file cannot be written.
  void paint(const std::function<void(double)>& painted);

  std::int64_t regions() const;  ///< How many there are, once the labels are joined.
  void remove_files();           ///< Removes what the run has left in the folder but the plan.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diacut
