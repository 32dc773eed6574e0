#include "formats/calls.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "diacut/errors.hpp"
#include "diacut/version.hpp"

namespace diacut {
namespace {

constexpr const char* kModule = "diacut-formats.so";

[[noreturn]] void refuse(const char* why) {
  throw InputError(fmt::format(
      "what reads and writes this format cannot be loaded ({}): install diacut with its "
      "module {} and the libraries that this needs",
      why, kModule));
}

/// The module lies where the RUNPATH of the program or library that holds this code says.
const FormatCalls& load() {
  void* module = ::dlopen(kModule, RTLD_LAZY | RTLD_LOCAL);
  if (module == nullptr) refuse(::dlerror());
  auto* entry = reinterpret_cast<FormatEntry*>(::dlsym(module, "diacut_formats"));
  const FormatCalls* calls = entry == nullptr ? nullptr : entry(kVersion);
  if (calls == nullptr) refuse("it is of another version of diacut");
  return *calls;
}

const FormatCalls& formats() {
  static const FormatCalls& calls = load();
  return calls;
}

}  // namespace

Decoder* module_decoder(std::string_view id) { return formats().module_decoder(id); }
void load_decoders() { formats().load_decoders(); }

bool gdal_knows(const std::string& name) { return formats().gdal_knows(name); }
Map read_map(const std::string& name, const ImageParameters& parameters,
             const std::vector<int>& bands, const SizeCheck& accepts) {
  return formats().read_map(name, parameters, bands, accepts);
}
MapFrame read_map_frame(const std::string& name) { return formats().read_map_frame(name); }
int turn_onto(const MapFrame& scene, const std::string& name) {
  return formats().turn_onto(scene, name);
}
PixelSize ground_pixel(const MapFrame& frame) { return formats().ground_pixel(frame); }
std::vector<double> ground_areas(const MapFrame& frame, const Outlines& outlines) {
  return formats().ground_areas(frame, outlines);
}
void read_map_channels(const MapFrame& frame, const std::string& wanted,
                       const std::function<void(Channel&&)>& visit) {
  formats().read_map_channels(frame, wanted, visit);
}
void check_map_regions(const std::string& path, const MapFrame& frame) {
  formats().check_map_regions(path, frame);
}
void write_map_regions(const std::string& path, const Labels& labels, const MapFrame& frame,
                       std::optional<double> simplify) {
  formats().write_map_regions(path, labels, frame, simplify);
}
void write_region_blocks(const std::string& path, const std::string& labels, std::int64_t count,
                         const MapFrame& frame, const std::function<void(double)>& done) {
  formats().write_region_blocks(path, labels, count, frame, done);
}
std::unique_ptr<RasterBlocks> start_raster(const std::string& path, const MapFrame& frame,
                                           RasterKind kind, bool cloud_optimised) {
  return formats().start_raster(path, frame, kind, cloud_optimised);
}
std::unique_ptr<PictureBlocks> open_scene(const std::string& name, const std::vector<int>& bands,
                                          ValueRange rule) {
  return formats().open_scene(name, bands, rule);
}

}  // namespace diacut
