#include "core/parameter_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/enum_names.hpp"
#include "core/split_text.hpp"

namespace diacut {

namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();

using Table = std::vector<ParameterEntry>;

/// What a value holds, if it is of this type.
template <class Held>
std::optional<Held> held(const ParameterValue& value) {
  const Held* found = std::get_if<Held>(&value);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

/// A real number, for which an integer may stand.
std::optional<double> real_in(const ParameterValue& value) {
  const auto integer = held<std::int64_t>(value);
  return integer ? static_cast<double>(*integer) : held<double>(value);
}

/// Adds the entries of one section, whose struct is the member `group` of Parameters.
template <class Group>
class Section {
 public:
  Section(std::vector<ParameterEntry>& entries, std::string_view table, Group Parameters::*group)
      : entries_(entries), table_(table), group_(group) {}

  /// A parameter with values of its own. `what`: these, for messages. `read`: the member for a
  /// value that a person gave; nothing if it is none of them. `write`: the value of a member.
  template <class Member, class Read, class Write>
  ParameterEntry& form(std::string_view name, Member Group::*member, std::string what,
                       const Read& read, const Write& write) {
    return entries_.emplace_back(
        ParameterEntry{table_,
                       name,
                       std::move(what),
                       {},
                       [read](const ParameterValue& value) { return read(value).has_value(); },
                       [group = group_, member, write](const Parameters& p) -> ParameterValue {
                         return write(p.*group.*member);
                       },
                       [group = group_, member, read](Parameters& p, const ParameterValue& value) {
                         p.*group.*member = static_cast<Member>(read(value).value());
                       }});
  }

  void flag(std::string_view name, bool Group::*member) {
    form(name, member, "true or false", held<bool>, std::identity());
  }

  template <class Integer>
  void integer(std::string_view name, Integer Group::*member, std::int64_t least,
               std::int64_t most) {
    static_assert(std::is_signed_v<Integer> && sizeof(Integer) <= sizeof(std::int64_t));
    const auto read = [=](const ParameterValue& value) {
      const auto integer = held<std::int64_t>(value);
      return integer && *integer >= least && *integer <= most ? integer : std::nullopt;
    };
    form(name, member, fmt::format("an integer from {} to {}", least, most), read,
         [](Integer value) { return std::int64_t{value}; });
  }

  void real(std::string_view name, double Group::*member, double least, double most) {
    const auto read = [=](const ParameterValue& value) {
      const auto number = real_in(value);
      return number && *number >= least && *number <= most ? number : std::nullopt;
    };
    form(name, member, fmt::format("a number from {} to {}", least, most), read, std::identity());
  }

  template <class Enum, std::size_t kCount>
  void names(std::string_view name, Enum Group::*member, const EnumNames<Enum, kCount>& of) {
    const auto read = [of](const ParameterValue& value) -> std::optional<Enum> {
      const auto text = held<std::string>(value);
      return text ? enum_value(of, *text) : std::nullopt;
    };
    ParameterEntry& entry = form(name, member, "", read,
                                 [of](Enum value) { return std::string(enum_name(of, value)); });
    entry.names.assign(of.names.begin(), of.names.end());
    entry.allowed =
        fmt::format("{}\"{}\"", kCount > 1 ? "one of " : "", fmt::join(entry.names, "\", \""));
  }

 private:
  std::vector<ParameterEntry>& entries_;
  std::string_view table_;
  Group Parameters::*group_;
};

/// A text of one line.
std::optional<std::string> line_in(const ParameterValue& value) {
  const auto text = held<std::string>(value);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (!text || std::any_of(text->begin(), text->end(), is_control)) return std::nullopt;
  return text;
}

/// The numbers of a text like "0.5, 1"; nothing if it is no such text.
std::optional<std::vector<double>> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    const auto number = number_in<double>(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

/// Factors by which an image is resized.
constexpr std::size_t kMostScales = 8;
constexpr double kLeastScale = 0.1;
constexpr double kLargestScale = 4;

std::optional<std::vector<double>> scales_in(const ParameterValue& value) {
  const auto text = held<std::string>(value);
  auto scales = text ? numbers_of(*text) : std::nullopt;
  const auto fits = [](double each) { return each >= kLeastScale && each <= kLargestScale; };
  if (!scales || scales->size() > kMostScales ||
      !std::all_of(scales->begin(), scales->end(), fits)) {
    return std::nullopt;
  }
  return scales;
}
template <class Number>
ParameterValue list_value(const std::vector<Number>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

constexpr std::string_view kNative = "native";
/// A picture that is smaller than this says nothing.
constexpr int kLeastDetail = 16;

std::optional<int> detail_in(const ParameterValue& value) {
  if (held<std::string>(value) == kNative) return 0;
  const auto side = held<std::int64_t>(value);
  if (!side || *side < kLeastDetail || *side > kMaxInt) return std::nullopt;
  return static_cast<int>(*side);
}
ParameterValue detail_value(int side) {
  if (side == 0) return std::string(kNative);
  return std::int64_t{side};
}

/// An integer is a number of pixels.
std::optional<LeastSize> least_size_in(const ParameterValue& value) {
  if (const auto text = held<std::string>(value)) return parse_least_size(*text);
  const auto pixels = held<std::int64_t>(value);
  return pixels ? parse_least_size(std::to_string(*pixels)) : std::nullopt;
}
ParameterValue least_size_value(const LeastSize& size) {
  if (size.unit == LeastSize::Unit::kPixels) return static_cast<std::int64_t>(size.value);
  return to_string(size);
}

constexpr std::string_view kAutomatic = "auto";

using Threshold = std::optional<double>;

std::optional<Threshold> threshold_in(const ParameterValue& value) {
  const auto text = held<std::string>(value);
  if (text == kAutomatic) return Threshold();
  const auto numbers = text ? numbers_of(*text) : std::nullopt;
  const Threshold number = numbers && numbers->size() == 1 ? numbers->front() : real_in(value);
  if (!number || !(*number >= 0 && *number <= 1)) return std::nullopt;
  return number;
}
ParameterValue threshold_value(const Threshold& threshold) {
  if (!threshold) return std::string(kAutomatic);
  return *threshold;
}

std::optional<int> turns_in(const ParameterValue& value) {
  for (const int turns : {1, 2, 4, 8}) {
    if (held<std::int64_t>(value) == turns) return turns;
  }
  return std::nullopt;
}

/// The most strides of a stencil, and the largest.
constexpr std::size_t kMostStrides = 4;
constexpr int kLargestStride = 16;

std::optional<std::vector<int>> strides_in(const ParameterValue& value) {
  const auto integer = held<std::int64_t>(value);
  const auto numbers =
      numbers_of(integer ? std::to_string(*integer) : held<std::string>(value).value_or(""));
  if (!numbers || numbers->size() > kMostStrides || numbers->front() != 1) return std::nullopt;
  std::vector<int> strides;
  for (const double number : *numbers) {
    const bool fits = number <= kLargestStride && (strides.empty() || number > strides.back());
    if (!fits || number != static_cast<int>(number)) return std::nullopt;
    strides.push_back(static_cast<int>(number));
  }
  return strides;
}

Table make_table() {
  Table table;
  Section image(table, "image", &Parameters::image);
  image.names("range", &ImageParameters::range, kValueRangeNames);
  image.form("detail", &ImageParameters::detail, "an integer of 16 or more, or \"native\"",
             detail_in, detail_value);
  image.integer("max_pixels", &ImageParameters::max_pixels, 1, kMaxInt);
  image.flag("untrusted", &ImageParameters::untrusted);
  image.integer("decoding_memory", &ImageParameters::decoding_memory, 64, 1 << 20);
  image.integer("decoding_seconds", &ImageParameters::decoding_seconds, 1, 86'400);

  Section boundary(table, "boundary", &Parameters::boundary);
  boundary.names("kind", &BoundaryParameters::kind, kBoundaryKindNames);
  boundary.form("weights", &BoundaryParameters::weights,
                "a text of one line, a network's name or file", line_in, std::identity());
  boundary.form("scales", &BoundaryParameters::scales,
                "a text of 1 to 8 numbers from 0.1 to 4, separated by commas", scales_in,
                list_value<double>);
  boundary.form("turns", &BoundaryParameters::turns, "1, 2, 4 or 8", turns_in,
                [](int turns) { return std::int64_t{turns}; });
  boundary.names("pose", &BoundaryParameters::pose, kNetworkPoseNames);
  boundary.integer("border", &BoundaryParameters::border, 0, 256);
  boundary.integer("tile", &BoundaryParameters::tile, 64, 16'384);
  boundary.real("sigma", &BoundaryParameters::sigma, 0.3, 10);
  boundary.real("quantile", &BoundaryParameters::quantile, 0.01, 1);
  boundary.real("floor", &BoundaryParameters::floor, 1e-3, 1e3);
  boundary.flag("thin", &BoundaryParameters::thin);

  Section affinity(table, "affinity", &Parameters::affinity);
  affinity.integer("radius", &AffinityParameters::radius, 1, 10);
  affinity.form(
      "strides", &AffinityParameters::strides,
      "\"1\", or 1 to 4 ascending integers from 1 to 16, separated by commas, the first 1",
      strides_in, list_value<int>);
  affinity.names("formula", &AffinityParameters::formula, kAffinityFormulaNames);
  affinity.real("scale", &AffinityParameters::scale, 0.01, 100);
  affinity.names("feature_measure", &AffinityParameters::feature_measure, kFeatureMeasureNames);
  affinity.real("feature_scale", &AffinityParameters::feature_scale, 0, 1e30);
  affinity.flag("with_boundary", &AffinityParameters::with_boundary);

  Section matvec(table, "matvec", &Parameters::matvec);
  matvec.names("kernel", &MatvecParameters::kernel, kMatvecNames);
  matvec.names("storage", &MatvecParameters::storage, kMatvecStorageNames);

  Section eigen(table, "eigen", &Parameters::eigen);
  eigen.names("solver", &EigenParameters::solver, kSolverNames);
  eigen.integer("vectors", &EigenParameters::vectors, 2, 1000);
  eigen.real("tolerance", &EigenParameters::tolerance, 1e-7, 0.1);
  eigen.real("relative_tolerance", &EigenParameters::relative_tolerance, 0, 1);
  eigen.integer("basis", &EigenParameters::basis, 0, 10'000);
  eigen.integer("filter_degree", &EigenParameters::filter_degree, 0, 1000);
  eigen.integer("max_products", &EigenParameters::max_products, 1, kMaxInt);

  Section contour(table, "contour", &Parameters::contour);
  contour.names("spectral", &ContourParameters::spectral, kSpectralUseNames);
  contour.real("boundary_weight", &ContourParameters::boundary_weight, 0, 10);
  contour.real("spectral_weight", &ContourParameters::spectral_weight, 0, 10);
  contour.real("spectral_power", &ContourParameters::spectral_power, 0.1, 10);
  contour.real("spectral_scale", &ContourParameters::spectral_scale, 1e-6, 1e6);

  Section region(table, "region", &Parameters::region);
  region.names("method", &RegionParameters::method, kRegionMethodNames);
  region.integer("regions", &RegionParameters::regions, 0, kMaxInt);
  region.real("max_ncut", &RegionParameters::max_ncut, 0, 2);
  region.real("max_flatness", &RegionParameters::max_flatness, 0, 1);
  region.form("min_size", &RegionParameters::min_size,
              "a number of pixels, a share of the pixels with data as \"0.2%\", or \"auto\"",
              least_size_in, least_size_value);
  region.names("merging", &RegionParameters::merging, kMergingRuleNames);
  region.form("merging_weights", &RegionParameters::merging_weights,
              "a text of one line, a file of weights", line_in, std::identity());
  region.form("threshold", &RegionParameters::threshold, "a number from 0 to 1, or \"auto\"",
              threshold_in, threshold_value);
  region.real("direction", &RegionParameters::direction, 0, 1);
  region.real("inside", &RegionParameters::inside, 0, 1);

  Section walker(table, "walker", &Parameters::walker);
  walker.real("tolerance", &WalkerParameters::tolerance, 1e-7, 0.1);
  walker.integer("max_iterations", &WalkerParameters::max_iterations, 1, kMaxInt);
  return table;
}

}  // namespace

std::string ParameterEntry::key() const { return fmt::format("{}.{}", table, name); }

const std::vector<ParameterEntry>& parameter_table() {
  static const std::vector<ParameterEntry> table = make_table();
  return table;
}

std::string parameter_problem(const ParameterEntry& entry, const ParameterValue& value) {
  if (entry.accepts(value)) return {};
  return fmt::format("is {}, expected {}", parameter_text(value), entry.allowed);
}

std::string parameter_text(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double real) const {
      const std::string text =
          fmt::format("{}", real);  // The shortest text that is read as this number.
      // TOML tells a float from an integer by these characters.
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::string& name) const {
      std::string quoted;
      for (const char c : name) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
      }
      return fmt::format("\"{}\"", quoted);
    }
  };
  return std::visit(Visitor{}, value);
}

std::optional<LeastSize> parse_least_size(const std::string& text) {
  if (text == kAutomatic) return LeastSize{};
  if (text.ends_with('%')) {
    const auto percent =
        number_in<double>(std::string_view(text).substr(0, text.size() - 1), 0, 100);
    if (!percent) return std::nullopt;
    return LeastSize{LeastSize::Unit::kShare, *percent / 100};
  }
  const auto pixels = number_in<std::int32_t>(text, 0);
  if (!pixels) return std::nullopt;
  return LeastSize{LeastSize::Unit::kPixels, static_cast<double>(*pixels)};
}

std::string to_string(const LeastSize& size) {
  switch (size.unit) {
    case LeastSize::Unit::kPixels:
      return fmt::format("{:.0f}", size.value);
    case LeastSize::Unit::kShare:
      // Twelve digits do not show that a hundredth is no binary fraction.
      return fmt::format("{:.12g}%", size.value * 100);
    case LeastSize::Unit::kAutomatic:
      break;
  }
  return std::string(kAutomatic);
}

}  // namespace diacut
