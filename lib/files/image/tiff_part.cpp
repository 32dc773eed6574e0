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
  /// Width, height and spacing by OME-XML, micrometres; 0: none.
  std::array<double, 3> pixel = {};

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

/// Finds which directory of which file holds which plane, as the TiffData elements say. OME-XML
/// names files by their UUID.
void place_planes(const pugi::xml_node& root, const pugi::xml_node& pixels, int before,
                  int directories, Stack& stack) {
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
  for (int k = 0; !any && k < std::min(planes, directories - before); ++k) {
    stack.directories[static_cast<std::size_t>(k)] = before + k;
  }
}

/// The micrometres of a unit; 0 for one that is not known.
double micrometres_of(const std::string& unit) {
  // In UTF-8 and in ImageJ's escapes; the signs for micro and angstrom have two codes each.
  static constexpr std::pair<double, std::string_view> kUnits[] = {
      {1, " um micron microns micrometer micrometre \xC2\xB5m \xCE\xBCm \xB5m \\u00B5m \\u03BCm "},
      {1e-4, " A angstrom \xC3\x85 \xE2\x84\xAB \xC5 \\u00C5 \\u212B "},
      {1e-6, " pm "},
      {1e-3, " nm "},
      {1e3, " mm "},
      {1e4, " cm "},
      {1e6, " m "},
      {25400, " inch in "}};
  if (unit.empty()) return 1;
  for (const auto& [micrometres, names] : kUnits) {
    if (names.find(' ' + unit + ' ') != std::string_view::npos) return micrometres;
  }
  return 0;
}

/// The stack that an element of OME-XML describes. `before`: planes of those before.
std::optional<Stack> ome_stack(const pugi::xml_node& root, const pugi::xml_node& pixels, int before,
                               int directories) {
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
  place_planes(root, pixels, before, directories, stack);
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

bool is_ome(const std::string& text) {
  return text.find("<OME") != std::string::npos || text.find(":OME") != std::string::npos;
}

/// What the description of a file's first directory says of its directories: a stack for each
/// Image of OME-XML, or ImageJ's; none where it is damaged or another one.
std::vector<Stack> stacks_of(const std::string& text, int directories) {
  std::vector<Stack> stacks;
  pugi::xml_document document;
  if (!is_ome(text) || !document.load_buffer(text.data(), text.size())) {
    if (std::optional<Stack> stack = imagej_stack(text, directories)) stacks.push_back(*stack);
    return stacks;
  }
  int before = 0;
  for (const pugi::xpath_node& each :
       document.select_nodes("/*/*[local-name()='Image']/*[local-name()='Pixels']")) {
    std::optional<Stack> stack =
        ome_stack(document.document_element(), each.node(), before, directories);
    if (!stack || before > kMostPlanes) return {};
    before += stack->planes();
    stacks.push_back(std::move(*stack));
  }
  return stacks;
}

std::vector<std::string> names_of(const Stack& stack) {
  return unique_names(stack.channels, static_cast<std::size_t>(stack.size('C')));
}

/// Sets the width, height and spacing of pixels, micrometres, unless they make no sense.
void set_size(const std::array<double, 3>& size, PictureFacts& facts) {
  const auto makes_sense = [](double length) { return length > 0 && std::isfinite(length); };
  if (!makes_sense(size[0]) || !makes_sense(size[1])) return;
  facts.pixel = {size[0], size[1], "um"};
  if (makes_sense(size[2])) facts.spacing = size[2];
}

/// What a stack says of one of its planes.
PictureFacts facts_of(const Stack& stack) {
  PictureFacts facts;
  facts.is_ome = stack.is_ome;
  facts.slices = stack.size('Z');
  facts.frames = stack.size('T');
  facts.order = stack.order;
  std::erase(facts.order, 'C');
  set_size(stack.pixel, facts);
  return facts;
}

[[noreturn]] void refuse_channel(const std::string& channel, const std::vector<std::string>& all) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k] != std::to_string(k + 1)) names.push_back(all[k]);
  }
  throw InputError(fmt::format("it has no channel '{}': its channels are 1 to {}{}{}", channel,
                               all.size(), names.empty() ? "" : ", or ", fmt::join(names, ", ")));
}

}  // namespace

bool is_stack(const std::string& description) {
  return description.starts_with("ImageJ=") || is_ome(description);
}

int imagej_planes(const std::string& description) {
  if (!description.starts_with("ImageJ=")) return 1;
  return std::min(line_value(description, "images"), kMostPlanes);
}

void add_resolution(const std::string& description, const Resolution& tags, PictureFacts& facts) {
  if (facts.is_ome || !(tags.across > 0 && tags.down > 0)) return;
  const bool is_imagej = description.starts_with("ImageJ=");
  std::array<double, 3> units = {tags.micrometres, tags.micrometres, 0};
  if (is_imagej) {
    const std::string unit = line_text(description, "unit");
    if (!unit.empty()) units.fill(micrometres_of(unit));
    for (std::size_t k = 1; k < units.size(); ++k) {
      const std::string own = line_text(description, k == 1 ? "yunit" : "zunit");
      if (!own.empty()) units[k] = micrometres_of(own);
    }
  }
  // What programs write where they know nothing.
  const double an_inch = 25400 / units[0] * tags.across;
  const bool is_usual = std::abs(an_inch / 72 - 1) < 0.015 || std::abs(an_inch / 96 - 1) < 0.015;
  const bool is_of_print = units[0] == 25400 || units[0] == 1e4;
  if (is_of_print && (is_usual || (tags.across <= 1 && !is_imagej))) return;
  const std::string spacing = line_text(description, "spacing");
  set_size({units[0] / tags.across, units[1] / tags.down,
            units[2] * std::strtod(spacing.c_str(), nullptr)},
           facts);
}

TiffPart find_tiff_part(const std::string& description, int directories, int samples,
                        bool are_colours, const ImagePart& part) {
  struct Plane {
    const Stack* stack = nullptr;  ///< Null: nobody tells.
    int channel = 0;               ///< From 1.
    int page = 0;                  ///< Among those of its channel in the file, from 1.
  };
  TiffPart found;
  std::vector<Stack> stacks = stacks_of(description, directories);
  std::vector<Plane> planes(static_cast<std::size_t>(directories));
  std::map<int, int> pages;  // Of each channel.
  std::string file;          // That holds the channel, where it is another one.
  int channels = 1;
  for (const Stack& stack : stacks) channels = std::max(channels, stack.size('C'));
  const bool by_planes = channels > 1 && !part.channel.empty();
  bool is_known = false;
  for (Stack& stack : stacks) {
    const int number = by_planes ? channel_number(part.channel, names_of(stack)) : 0;
    is_known = is_known || number > 0;
    if (by_planes && found.notes.empty() &&
        std::count(stack.channels.begin(), stack.channels.end(), part.channel) > 1) {
      found.notes.push_back(
          fmt::format("Several of its channels are called {}: the first was read (--channel takes "
                      "numbers too).",
                      part.channel));
    }
    const int step = stack.step('C');
    const int count = stack.planes();
    for (int plane = 0; plane < count; ++plane) {
      const int channel = plane / step % stack.size('C') + 1;
      const int directory = stack.directories[static_cast<std::size_t>(plane)];
      if (channel == number && file.empty()) file = stack.files[plane];
      if (directory < 0) continue;
      planes[static_cast<std::size_t>(directory)] = {&stack, channel, ++pages[channel]};
      if (channel == number) found.directories.push_back(directory);
    }
  }
  std::vector<std::string> names;
  if (channels > 1) {
    names = names_of(stacks.front());
  } else {
    names = unique_names(stacks.empty() ? std::vector<std::string>() : stacks.front().channels,
                         static_cast<std::size_t>(samples));
    found.sample = channel_number(part.channel, names);
    is_known = found.sample > 0;
  }
  if (!part.channel.empty() && !is_known) refuse_channel(part.channel, names);
  if (by_planes && found.directories.empty()) {
    throw InputError(fmt::format(
        "it has no page of channel '{}': {}", part.channel,
        file.empty() ? "the file is cut off, or other files hold that channel"
                     : fmt::format("that lies in '{}', which is read without --channel", file)));
  }
  for (int k = 0; !by_planes && k < directories; ++k) found.directories.push_back(k);
  if (channels > 1 && !by_planes && part.page == 0) {
    found.notes.push_back(
        fmt::format("Its pages are planes of {} channels: --channel chooses.", channels));
  }
  const int page = std::clamp(part.page, 1, found.pages());
  const int directory = found.directories[static_cast<std::size_t>(page) - 1];
  const Plane& plane = planes[static_cast<std::size_t>(directory)];
  if (plane.stack != nullptr || !stacks.empty()) {
    const Stack& stack = plane.stack != nullptr ? *plane.stack : stacks.front();
    found.facts = facts_of(stack);
    if (channels > 1) names = names_of(stack);
  }
  if (channels > 1) {
    found.facts.channel = plane.channel;
    found.facts.page = plane.page;
  }
  if (channels > 1 || !are_colours) found.facts.channels = names;
  return found;
}

}  // namespace diacut
