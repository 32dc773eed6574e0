#include "image/tiff_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <pugixml.hpp>

#include "diacut/errors.hpp"
#include "image/channels.hpp"

namespace diacut {
namespace {

constexpr int kMostPlanes = 1 << 20;
constexpr std::int64_t kMostVisits = 1 << 24;

/// How the planes of a stack are numbered.
struct Stack {
  int image = 0;                      ///< Its place among the stacks of the file.
  std::string order = "CZT";          ///< The axes, the one that changes fastest first.
  std::map<char, int> sizes;          ///< Of each axis; empty: the file describes no axes.
  std::vector<std::string> given;     ///< Names of channels; empty where there are none.
  std::vector<std::string> channels;  ///< Names, no two alike.
  std::vector<int> directories;       ///< Of each plane; -1: none in this file.
  std::map<int, std::string> files;   ///< Other files by the first of their planes.
  bool is_ome = false;
  /// Width, height and spacing by OME-XML, micrometres; 0: none.
  std::array<double, 3> pixel = {};

  int size(char axis) const { return sizes.contains(axis) ? sizes.at(axis) : 1; }
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
  /// Where a plane lies along an axis.
  int at(char axis, int plane) const { return plane / step(axis) % size(axis); }
};

/// Whether the sizes are such that they can be multiplied.
bool is_sane(const Stack& stack) {
  std::int64_t planes = 1;
  for (const auto& [axis, size] : stack.sizes) {
    if (size < 1 || size > kMostPlanes) return false;
    planes *= size;
    if (planes > kMostPlanes) return false;
  }
  return planes * stack.size('C') <= kMostVisits;
}

/// Finds which directory holds which plane, as the TiffData elements say. They name files by UUIDs,
/// and by names where the file does not state its own UUID. `name`: of this file.
void place_planes(const pugi::xml_node& root, const pugi::xml_node& pixels, int before,
                  int directories, const std::string& name, Stack& stack) {
  const std::string own = root.attribute("UUID").as_string();
  const pugi::xpath_node_set parts = pixels.select_nodes("*[local-name()='TiffData']");
  const auto uuid_of = [](const pugi::xpath_node& part) {
    return part.node().select_node("*[local-name()='UUID']").node();
  };
  const auto is_own = [&](const pugi::xpath_node& part) {
    return !own.empty() && uuid_of(part).child_value() == own;
  };
  const auto is_named = [&](const pugi::xpath_node& part) {
    return !name.empty() && uuid_of(part).attribute("FileName").as_string() == name;
  };
  const bool by_uuid = std::any_of(parts.begin(), parts.end(), is_own);
  const bool by_name = std::any_of(parts.begin(), parts.end(), is_named);
  // Without either nobody knows which of several files this is.
  const bool is_only =
      own.empty() && std::all_of(parts.begin(), parts.end(), [&](const pugi::xpath_node& part) {
        return uuid_of(part).child_value() == std::string(uuid_of(parts[0]).child_value());
      });
  const int planes = stack.planes();
  stack.directories.assign(static_cast<std::size_t>(planes), -1);
  for (const pugi::xpath_node& part : parts) {
    const pugi::xml_node data = part.node();
    const int first =
        stack.plane_at(data.attribute("FirstC").as_int(), data.attribute("FirstZ").as_int(),
                       data.attribute("FirstT").as_int());
    const bool has_directory = !data.attribute("IFD").empty();
    const int directory = data.attribute("IFD").as_int();
    const int count = data.attribute("PlaneCount").as_int(has_directory ? 1 : directories);
    const bool is_here = !uuid_of(part) || (by_uuid   ? is_own(part)
                                            : by_name ? is_named(part)
                                                      : is_only);
    if (!is_here && first >= 0) {
      stack.files[first] = uuid_of(part).attribute("FileName").as_string();
    }
    if (!is_here || first < 0 || directory < 0) continue;
    const int end = first + std::min({count, planes - first, directories - directory});
    for (int k = first; k < end; ++k) {
      stack.directories[static_cast<std::size_t>(k)] = directory + k - first;
    }
  }
  for (int k = 0; parts.empty() && k < std::min(planes, directories - before); ++k) {
    stack.directories[static_cast<std::size_t>(k)] = before + k;
  }
}

/// The micrometres of a unit; 0 for one that is not known.
double micrometres_of(std::string unit) {
  // In UTF-8 and in ImageJ's escapes; the signs for micro and angstrom have two codes each.
  static constexpr std::pair<double, std::string_view> kUnits[] = {
      {1, " um micron micrometer \xC2\xB5m \xCE\xBCm \xB5m \\u00B5m \\u03BCm "},
      {1e-4, " A angstrom \xC3\x85 \xE2\x84\xAB \xC5 \\u00C5 \\u212B "},
      {1e-6, " pm picometer "},
      {1e-3, " nm nanometer "},
      {1e3, " mm millimeter "},
      {1e4, " cm centimeter "},
      {1e6, " m meter "},
      {25400, " inch inche in "}};
  if (unit.empty()) return 1;
  std::erase(unit, ' ');
  if (unit.size() > 2 && unit.ends_with('s')) unit.pop_back();
  if (unit.ends_with("metre")) unit.replace(unit.size() - 2, 2, "er");
  for (const auto& [micrometres, names] : kUnits) {
    if (names.find(' ' + unit + ' ') != std::string_view::npos) return micrometres;
  }
  return 0;
}

/// The stack that an element of OME-XML describes. `before`: planes of those before.
std::optional<Stack> ome_stack(const pugi::xml_node& root, const pugi::xml_node& pixels, int before,
                               int directories, const std::string& name) {
  const std::string order = pixels.attribute("DimensionOrder").as_string();
  if (order.size() != 5 || !order.starts_with("XY")) return {};
  Stack stack;
  int samples = 1;
  for (const pugi::xpath_node& each : pixels.select_nodes("*[local-name()='Channel']")) {
    const pugi::xml_node channel = each.node();
    stack.given.emplace_back(channel.attribute("Name").as_string());
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
    const std::string size = std::string("PhysicalSize") + "XYZ"[k];
    stack.pixel[k] = pixels.attribute(size.c_str()).as_double() *
                     micrometres_of(pixels.attribute((size + "Unit").c_str()).as_string());
  }
  place_planes(root, pixels, before, directories, name, stack);
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
  const std::string order = line_text(text, "order");
  static constexpr std::string_view kOrders = " czt ctz zct ztc tcz tzc ";
  if (order.size() == 3 && kOrders.find(' ' + order + ' ') != std::string_view::npos) {
    for (std::size_t k = 0; k < 3; ++k) stack.order[k] = static_cast<char>(order[k] - 'a' + 'A');
  }
  if (!is_sane(stack)) return {};
  const int planes = stack.planes();
  if (stack.size('C') == 1 && planes < directories) return {};  // Many programs give too few.
  for (int k = 0; k < planes; ++k) stack.directories.push_back(k < directories ? k : -1);
  return stack;
}

bool is_ome(const std::string& text) {
  return text.find("<OME") != std::string::npos || text.find(":OME") != std::string::npos;
}

/// What the description of a file's first directory says of its directories: a stack for each
/// Image of OME-XML, or ImageJ's; none where it is damaged or another one.
std::vector<Stack> described_stacks(const std::string& text, int directories,
                                    const std::string& name) {
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
        ome_stack(document.document_element(), each.node(), before, directories, name);
    if (!stack || before > kMostPlanes) return {};
    before += stack->planes();
    stack->image = static_cast<int>(stacks.size());
    stacks.push_back(std::move(*stack));
  }
  return stacks;
}

/// The stacks that the text describes, each directory in one of them, and then the other
/// directories.
std::vector<Stack> stacks_of(const std::string& text, int directories, const std::string& name) {
  std::vector<Stack> stacks = described_stacks(text, directories, name);
  Stack rest;
  if (!stacks.empty()) rest.pixel = stacks.front().pixel;
  rest.image = static_cast<int>(stacks.size());
  rest.is_ome = rest.image > 0 && stacks.front().is_ome;
  std::vector<bool> taken(static_cast<std::size_t>(directories), false);
  for (Stack& stack : stacks) {
    stack.channels = unique_names(stack.given, static_cast<std::size_t>(stack.size('C')));
    for (int& directory : stack.directories) {
      if (directory < 0) continue;
      auto is_taken = taken[static_cast<std::size_t>(directory)];
      if (is_taken) directory = -1;
      is_taken = true;
    }
  }
  for (int k = 0; k < directories; ++k) {
    if (!taken[static_cast<std::size_t>(k)]) rest.directories.push_back(k);
  }
  if (!rest.directories.empty()) stacks.push_back(std::move(rest));
  return stacks;
}

/// Sets the width, height and spacing of pixels, micrometres, unless they make no sense.
void set_size(const std::array<double, 3>& size, PictureFacts& facts) {
  const auto makes_sense = [](double length) { return length > 0 && std::isfinite(length); };
  if (!makes_sense(size[0]) || !makes_sense(size[1])) return;
  facts.pixel = {size[0], size[1], "um"};
  if (makes_sense(size[2])) facts.spacing = size[2];
}

/// A plane that lies in the file.
struct Plane {
  const Stack* stack = nullptr;
  int number = 0;  ///< In its stack.

  int directory() const { return stack->directories[static_cast<std::size_t>(number)]; }
  int at(char axis) const { return stack->at(axis, number); }
};

/// The planes of a channel, in the order of their stacks. `channel`: empty: of all channels.
std::vector<Plane> pages_of(const std::vector<Stack>& stacks, const std::string& channel) {
  std::vector<Plane> pages;
  for (const Stack& stack : stacks) {
    const int number = channel.empty() ? 0 : channel_number(channel, stack.channels);
    if (!channel.empty() && (number == 0 || stack.sizes.empty())) continue;
    for (int k = 0; k < static_cast<int>(stack.directories.size()); ++k) {
      const Plane plane{&stack, k};
      if (plane.directory() < 0 || (number > 0 && plane.at('C') + 1 != number)) continue;
      pages.push_back(plane);
    }
  }
  return pages;
}

/// What the file says of a plane. `all`: the stacks of the file.
PictureFacts facts_of(const Plane& plane, const std::vector<Stack>& all, bool has_channels) {
  const Stack& stack = *plane.stack;
  PictureFacts facts;
  facts.is_ome = stack.is_ome;
  facts.image = stack.image;
  set_size(stack.pixel, facts);
  if (stack.sizes.empty()) return facts;
  facts.slices = stack.size('Z');
  facts.frames = stack.size('T');
  facts.slice = plane.at('Z');
  facts.frame = plane.at('T');
  if (!has_channels) return facts;
  facts.channel = plane.at('C') + 1;
  facts.channels = stack.channels;
  for (const std::string& name : facts.channels) {
    const std::vector<Plane> pages = pages_of(all, name);
    const auto beside = std::find_if(pages.begin(), pages.end(), [&](const Plane& page) {
      return page.stack == &stack && page.at('Z') == facts.slice && page.at('T') == facts.frame;
    });
    facts.pages.push_back(beside == pages.end() ? 0 : static_cast<int>(beside - pages.begin()) + 1);
  }
  return facts;
}

/// Says how many planes that the description names are not in the file; empty: none.
std::string missing_planes(const std::vector<Stack>& stacks) {
  std::string file;  // One of those that hold them.
  std::ptrdiff_t planes = 0;
  std::ptrdiff_t missing = 0;
  for (const Stack& stack : stacks) {
    if (!stack.files.empty()) file = fmt::format(" (as in '{}')", stack.files.begin()->second);
    if (stack.sizes.empty()) continue;
    planes += stack.planes();
    missing += std::count(stack.directories.begin(), stack.directories.end(), -1);
  }
  if (missing == 0) return {};
  if (missing < planes) {
    return fmt::format("Missing here: {} of the {} planes that it describes{}.", missing, planes,
                       file);
  }
  return fmt::format(
      "It does not say which of the {} planes that it describes it holds: its pages count as they "
      "lie. Give it the name that it had{}.",
      planes, file);
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
                        bool are_colours, const ImagePart& part, const std::string& name) {
  TiffPart found;
  const std::vector<Stack> stacks = stacks_of(description, directories, name);
  const std::string& channel = part.channel;
  int channels = 1;
  for (const Stack& stack : stacks) channels = std::max(channels, stack.size('C'));
  const bool by_planes = channels > 1 && !channel.empty();
  std::vector<std::string> names = stacks.front().channels;
  if (channels == 1) {
    names = unique_names(stacks.front().given, static_cast<std::size_t>(samples));
    found.sample = channel_number(channel, names);
  }
  std::string file;  // That holds the channel, where it is another one.
  bool is_known = channel.empty() || found.sample > 0;
  for (std::size_t k = 0; by_planes && k < stacks.size(); ++k) {
    const Stack& stack = stacks[k];
    if (stack.sizes.empty()) continue;
    const int number = channel_number(channel, stack.channels);
    is_known = is_known || number > 0;
    for (const auto& [first, other] : stack.files) {
      if (file.empty() && stack.at('C', first) + 1 == number) file = other;
    }
    if (found.notes.empty() && std::count(stack.given.begin(), stack.given.end(), channel) > 1) {
      found.notes.push_back(
          fmt::format("Several of its channels are called {}: the first was read (--channel takes "
                      "numbers too).",
                      channel));
    }
  }
  if (!is_known) refuse_channel(channel, names);
  const std::vector<Plane> pages = pages_of(stacks, by_planes ? channel : "");
  if (pages.empty()) {
    throw InputError(fmt::format(
        "it has no page of channel '{}': {}", channel,
        file.empty() ? "the file is cut off, or other files hold that channel"
                     : fmt::format("that lies in '{}': give that, or leave out --channel", file)));
  }
  for (const Plane& page : pages) found.directories.push_back(page.directory());
  if (channels > 1 && !by_planes && part.page == 0) {
    found.notes.push_back(
        fmt::format("Its pages are planes of {} channels: --channel chooses.", channels));
  }
  const std::string missing = part.page <= 1 ? missing_planes(stacks) : "";
  if (!missing.empty()) found.notes.push_back(missing);
  const int page = std::clamp(part.page, 1, found.pages());
  found.facts = facts_of(pages[static_cast<std::size_t>(page) - 1], stacks, channels > 1);
  if (channels == 1 && !are_colours) found.facts.channels = names;
  return found;
}

}  // namespace diacut
