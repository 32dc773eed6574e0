#include "image/tiff_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>

#include "diacut/errors.hpp"
#include "image/channels.hpp"

namespace diacut {
namespace {

constexpr int kMostPlanes = 1 << 20;

/// How the planes of a stack are numbered.
struct Stack {
  std::string order = "CZT";          ///< The axes, the one that changes fastest first.
  std::map<char, int> sizes;          ///< Of each axis.
  std::vector<std::string> channels;  ///< Names; empty where there are none.
  std::vector<int> directories;       ///< Of each plane; -1: none in this file.
  std::map<int, std::string> files;   ///< Of planes, as OME-XML names them.
  bool is_ome = false;
  std::array<double, 3> pixel =
      {};  ///< Width, height and spacing by OME-XML, micrometres; 0: none.

  int size(char axis) const { return sizes.at(axis); }
  /// How many planes neighbours along an axis are apart; of no axis: how many planes there are.
  int step(char axis) const {
    int planes = 1;
    for (const char each : order.substr(0, order.find(axis))) planes *= size(each);
    return planes;
  }
  int planes() const { return step('\0'); }
  /// The plane at these places along the axes C, Z and T; -1: none.
  int plane_at(int c, int z, int t) const {
    int plane = 0;
    for (const auto& [axis, at] : {std::pair('C', c), std::pair('Z', z), std::pair('T', t)}) {
      if (at < 0 || at >= size(axis)) return -1;
      plane += at * step(axis);
    }
    return plane;
  }
};

/// Whether the sizes are such that they can be multiplied.
bool is_sane(const Stack& stack) {
  std::int64_t planes = 1;
  for (const auto& [axis, size] : stack.sizes) {
    if (size < 1 || size > kMostPlanes) return false;
    planes *= size;
    if (planes > kMostPlanes) return false;
  }
  return true;
}

/// Tells which directory of which file holds which plane, as the TiffData elements say. OME-XML
/// names files by their UUID.
void place_planes(const pugi::xml_node& root, const pugi::xml_node& pixels, int directories,
                  Stack& stack) {
  const std::string own = root.attribute("UUID").as_string();
  std::set<std::string> files;
  const int planes = stack.planes();
  stack.directories.assign(static_cast<std::size_t>(planes), -1);
  bool any = false;
  for (const pugi::xpath_node& each : pixels.select_nodes("*[local-name()='TiffData']")) {
    const pugi::xml_node data = each.node();
    const pugi::xml_node uuid = data.select_node("*[local-name()='UUID']").node();
    any = true;
    const int first =
        stack.plane_at(data.attribute("FirstC").as_int(), data.attribute("FirstZ").as_int(),
                       data.attribute("FirstT").as_int());
    const bool has_directory = !data.attribute("IFD").empty();
    const int directory = data.attribute("IFD").as_int();
    const int count = data.attribute("PlaneCount").as_int(has_directory ? 1 : directories);
    const std::string file = uuid.child_value();
    if (!file.empty()) files.insert(file);
    stack.files[first] = uuid.attribute("FileName").as_string();
    if (first < 0 || directory < 0 || (!own.empty() && !file.empty() && file != own)) continue;
    for (int k = 0; k < count && first + k < planes && directory + k < directories; ++k) {
      stack.directories[static_cast<std::size_t>(first + k)] = directory + k;
    }
  }
  // Nobody knows which of several files this is.
  if (own.empty() && files.size() > 1) stack.directories.assign(stack.directories.size(), -1);
  for (int k = 0; !any && k < std::min(planes, directories); ++k) {
    stack.directories[static_cast<std::size_t>(k)] = k;
  }
}

/// The micrometres of a unit; 0 for one that is not known.
double micrometres_of(const std::string& unit) {
  static const std::map<std::string, double, std::less<>> known = {
      {"", 1},          {"um", 1},        {"micron", 1}, {"microns", 1},  {"micrometer", 1},
      {"\xC2\xB5m", 1}, {"\xCE\xBCm", 1}, {"\xB5m", 1},  {"\\u00B5m", 1}, {"nm", 1e-3},
      {"mm", 1e3},      {"cm", 1e4},      {"m", 1e6},    {"inch", 25400}, {"in", 25400}};
  const auto found = known.find(unit);
  return found == known.end() ? 0 : found->second;
}

/// The stack that an OME-XML text describes.
std::optional<Stack> ome_stack(const std::string& text, int directories) {
  pugi::xml_document document;
  if (text.find("<OME") == std::string::npos && text.find(":OME") == std::string::npos) return {};
  if (!document.load_buffer(text.data(), text.size())) return {};
  const pugi::xml_node pixels =
      document.select_node("/*/*[local-name()='Image'][1]/*[local-name()='Pixels']").node();
  const std::string order = pixels.attribute("DimensionOrder").as_string();
  if (order.size() != 5 || !order.starts_with("XY")) return {};
  Stack stack;
  int samples = 1;
  for (const pugi::xpath_node& each : pixels.select_nodes("*[local-name()='Channel']")) {
    const pugi::xml_node channel = each.node();
    stack.channels.emplace_back(channel.attribute("Name").as_string());
    samples = std::max(samples, channel.attribute("SamplesPerPixel").as_int(1));
  }
  stack.order = order.substr(2);
  for (const char axis : {'C', 'Z', 'T'}) {
    if (stack.order.find(axis) == std::string::npos) return {};
    const int size = pixels.attribute(fmt::format("Size{}", axis).c_str()).as_int(1);
    stack.sizes[axis] = axis == 'C' ? size / samples : size;
  }
  if (!is_sane(stack)) return {};
  stack.is_ome = true;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string name = std::string("PhysicalSize") + "XYZ"[k];
    stack.pixel[k] = pixels.attribute(name.c_str()).as_double() *
                     micrometres_of(pixels.attribute((name + "Unit").c_str()).as_string());
  }
  place_planes(document.document_element(), pixels, directories, stack);
  return stack;
}

/// What follows "key=" in a line of ImageJ's text.
std::string line_text(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\n" + key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 2;
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

/// The number in such a line; 1 where there is none.
int line_value(const std::string& text, const std::string& key) {
  const std::string found = line_text(text, key);
  int value = 1;
  std::from_chars(found.data(), found.data() + found.size(), value);
  return value;
}

std::optional<Stack> imagej_stack(const std::string& text, int directories) {
  if (!text.starts_with("ImageJ=")) return {};
  Stack stack;
  stack.sizes = {{'C', line_value(text, "channels")},
                 {'Z', line_value(text, "slices")},
                 {'T', line_value(text, "frames")}};
  if (!is_sane(stack)) return {};
  const int planes = stack.planes();
  for (int k = 0; k < planes; ++k) stack.directories.push_back(k < directories ? k : -1);
  return stack;
}

/// What the description of a file's first directory tells of its directories.
std::optional<Stack> stack_of(const std::string& description, int directories) {
  std::optional<Stack> stack = ome_stack(description, directories);
  return stack ? stack : imagej_stack(description, directories);
}

void add_pixel_facts(double width, double height, double spacing, std::vector<std::string>& facts) {
  if (!(width > 0 && height > 0 && std::isfinite(width) && std::isfinite(height))) return;
  facts.push_back(fmt::format("pixel {} {}", width, height));
  if (spacing > 0 && std::isfinite(spacing)) facts.push_back(fmt::format("spacing {}", spacing));
}

[[noreturn]] void refuse_channel(const std::string& channel, int count,
                                 std::vector<std::string> names) {
  std::erase(names, "");
  throw InputError(fmt::format("it has no channel '{}': its channels are 1 to {}{}{}", channel,
                               count, names.empty() ? "" : ", or ", fmt::join(names, ", ")));
}

}  // namespace

int imagej_planes(const std::string& description) {
  if (!description.starts_with("ImageJ=")) return 1;
  return std::min(line_value(description, "images"), kMostPlanes);
}

std::vector<std::string> stack_facts(const std::string& description, int directories, int samples,
                                     double across, double down, double micrometres) {
  std::vector<std::string> facts;
  const std::optional<Stack> stack = stack_of(description, directories);
  const bool is_imagej = description.starts_with("ImageJ=");
  const bool planes = stack && stack->size('C') > 1;
  const int channels = planes ? stack->size('C') : samples;
  for (int k = 0; k < channels; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const bool named = stack && at < stack->channels.size() && !stack->channels[at].empty();
    facts.push_back("channel " + (named ? stack->channels[at] : std::to_string(k + 1)));
  }
  if (planes) facts.emplace_back("planes");
  if (stack && stack->is_ome) {
    facts.emplace_back("ome");
    add_pixel_facts(stack->pixel[0], stack->pixel[1], stack->pixel[2], facts);
  } else if (across > 0 && down > 0) {
    const std::string unit = line_text(description, "unit");
    const double of_unit = is_imagej && !unit.empty() ? micrometres_of(unit) : micrometres;
    const std::string spacing = line_text(description, "spacing");
    add_pixel_facts(of_unit / across, of_unit / down,
                    is_imagej ? of_unit * std::strtod(spacing.c_str(), nullptr) : 0, facts);
  }
  if (stack) {
    std::string pages = "pages";
    for (const char axis : stack->order) {
      if (axis != 'C') pages += fmt::format(" {} {}", axis, stack->size(axis));
    }
    facts.push_back(pages);
  }
  return facts;
}

TiffPart find_tiff_part(const std::string& description, int directories, int samples,
                        const ImagePart& part) {
  TiffPart found;
  std::optional<Stack> stack = stack_of(description, directories);
  const bool are_planes = stack && stack->size('C') > 1;
  const int channels = are_planes ? stack->size('C') : samples;
  const std::vector<std::string> names = stack ? stack->channels : std::vector<std::string>();
  int number = 0;
  if (!part.channel.empty()) {
    number = channel_number(part.channel, channels, names);
    if (number == 0) refuse_channel(part.channel, channels, names);
  }
  if (!are_planes || number == 0) {
    for (int k = 0; k < directories; ++k) found.directories.push_back(k);
    found.sample = are_planes ? 0 : number;
    if (are_planes && part.page == 0) {
      found.notes.push_back(
          fmt::format("Its pages are planes of {} channels: --channel chooses.", channels));
    }
    return found;
  }
  std::string file;
  const int planes = stack->planes();
  const int step = stack->step('C');
  for (int plane = 0; plane < planes; ++plane) {
    if (plane / step % channels != number - 1) continue;
    const int directory = stack->directories[static_cast<std::size_t>(plane)];
    if (directory >= 0) found.directories.push_back(directory);
    if (file.empty()) file = stack->files[plane];
  }
  if (found.directories.empty()) {
    throw InputError(fmt::format(
        "it has no page of channel '{}': {}", part.channel,
        file.empty() ? "the file is cut off, or other files hold that channel"
                     : fmt::format("that lies in '{}', which is read without --channel", file)));
  }
  return found;
}

}  // namespace diacut
