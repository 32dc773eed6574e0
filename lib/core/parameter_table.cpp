#include "core/parameter_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "core/enum_names.hpp"

namespace diacut {

namespace {

constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();

using Table = std::vector<ParameterEntry>;

/// What is said of a parameter.
struct Text {
  std::string_view unit;
  std::string_view meaning;
};

/// Adds the entries of one section, whose struct is the member `group` of Parameters.
template <class Group>
class Section {
 public:
  Section(std::vector<ParameterEntry>& entries, std::string_view table, Group Parameters::*group)
      : entries_(entries), table_(table), group_(group) {}

  void flag(std::string_view name, bool Group::*member, Text text) {
    add(name, FlagDomain{}, member, text, same<bool>, held<bool>);
  }

  template <class Integer>
  void integer(std::string_view name, Integer Group::*member, std::int64_t least, std::int64_t most,
               Text text) {
    static_assert(std::is_signed_v<Integer> && sizeof(Integer) <= sizeof(std::int64_t));
    add(name, IntegerDomain{least, most}, member, text, same<std::int64_t>, held<std::int64_t>);
  }

  void real(std::string_view name, double Group::*member, double least, double most, Text text) {
    add(name, RealDomain{least, most}, member, text, same<double>, [](const ParameterValue& value) {
      const auto* integer = std::get_if<std::int64_t>(&value);  // May stand for a real number.
      return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    });
  }

  void text(std::string_view name, std::string Group::*member, std::string_view what, Text text) {
    add(name, TextDomain{what}, member, text, same<std::string>, held<std::string>);
  }

  void numbers(std::string_view name, std::vector<double> Group::*member, NumbersDomain domain,
               Text text) {
    add(name, domain, member, text, numbers_text, [](const ParameterValue& value) {
      return numbers_of(std::get<std::string>(value)).value();
    });
  }

  /// A parameter that reads and writes itself: get gives an integer or a text, set takes what
  /// domain.accepts() does.
  template <class Member>
  void form(std::string_view name, Member Group::*member, FormDomain domain,
            ParameterValue (*get)(const Member&), Member (*set)(const ParameterValue&), Text text) {
    add(name, domain, member, text, get, set);
  }

  template <class Enum>
  void names(std::string_view name, Enum Group::*member,
             std::span<const EnumName<std::type_identity_t<Enum>>> names,
             std::string_view meaning) {
    NameDomain domain;
    for (const EnumName<Enum>& entry : names) domain.names.push_back(entry.name);
    add(
        name, domain, member, {"", meaning},
        [names](Enum value) { return std::string(enum_name(names, value)); },
        [names](const ParameterValue& value) {
          const auto is_named = [&](const EnumName<Enum>& entry) {
            return entry.name == std::get<std::string>(value);
          };
          return std::find_if(names.begin(), names.end(), is_named)->value;
        });
  }

 private:
  template <class Value>
  static Value same(const Value& value) {
    return value;
  }
  template <class Value>
  static Value held(const ParameterValue& value) {
    return std::get<Value>(value);
  }

  template <class Member, class Get, class Set>
  void add(std::string_view name, ParameterDomain domain, Member Group::*member, Text text,
           const Get& get, const Set& set) {
    entries_.push_back({table_, name, text.unit, text.meaning, std::move(domain),
                        [group = group_, member, get](const Parameters& p) -> ParameterValue {
                          return get(p.*group.*member);
                        },
                        [group = group_, member, set](Parameters& p, const ParameterValue& value) {
                          p.*group.*member = static_cast<Member>(set(value));
                        }});
  }

  std::vector<ParameterEntry>& entries_;
  std::string_view table_;
  Group Parameters::*group_;
};

constexpr std::string_view kNative = "native";
/// A picture that is smaller than this says nothing.
constexpr int kLeastDetail = 16;

bool accepts_detail(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text == kNative;
  const auto* side = std::get_if<std::int64_t>(&value);
  return side != nullptr && *side >= kLeastDetail && *side <= kMaxInt;
}
ParameterValue detail_value(const int& side) {
  if (side == 0) return std::string(kNative);
  return std::int64_t{side};
}
int detail_of(const ParameterValue& value) {
  const auto* side = std::get_if<std::int64_t>(&value);
  return side != nullptr ? static_cast<int>(*side) : 0;
}

/// The least size that a person gave, where an integer is a number of pixels; nothing if it is
/// none.
std::optional<LeastSize> least_size_in(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return parse_least_size(*text);
  const auto* pixels = std::get_if<std::int64_t>(&value);
  return pixels != nullptr ? parse_least_size(std::to_string(*pixels)) : std::nullopt;
}
bool accepts_least_size(const ParameterValue& value) { return least_size_in(value).has_value(); }
ParameterValue least_size_value(const LeastSize& size) {
  if (size.unit == LeastSize::Unit::kPixels) return static_cast<std::int64_t>(size.value);
  return to_string(size);
}
LeastSize least_size_of(const ParameterValue& value) { return least_size_in(value).value(); }

constexpr std::string_view kAutomatic = "auto";

/// A threshold that a person gave; nothing if it is neither a number nor automatic.
std::optional<double> threshold_number(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const auto* text = std::get_if<std::string>(&value);
  const auto numbers = text != nullptr ? numbers_of(*text) : std::nullopt;
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}
bool accepts_threshold(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && *text == kAutomatic) return true;
  const std::optional<double> number = threshold_number(value);
  return number && *number >= 0 && *number <= 1;
}
ParameterValue threshold_value(const std::optional<double>& threshold) {
  if (!threshold) return std::string(kAutomatic);
  return *threshold;
}
std::optional<double> threshold_of(const ParameterValue& value) { return threshold_number(value); }

bool accepts_turns(const ParameterValue& value) {
  const auto* turns = std::get_if<std::int64_t>(&value);
  return turns != nullptr && (*turns == 1 || *turns == 2 || *turns == 4 || *turns == 8);
}
ParameterValue turns_value(const int& turns) { return std::int64_t{turns}; }
int turns_of(const ParameterValue& value) {
  return static_cast<int>(std::get<std::int64_t>(value));
}

/// The most strides of a stencil, and the largest.
constexpr std::size_t kMostStrides = 4;
constexpr int kLargestStride = 16;

/// The strides that a person gave; nothing if they are none.
std::optional<std::vector<int>> strides_in(const ParameterValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* text = std::get_if<std::string>(&value);
  const auto numbers = numbers_of(integer != nullptr ? std::to_string(*integer)
                                  : text != nullptr  ? *text
                                                     : std::string());
  if (!numbers || numbers->size() > kMostStrides || numbers->front() != 1) return std::nullopt;
  std::vector<int> strides;
  for (const double number : *numbers) {
    const bool fits = number <= kLargestStride && (strides.empty() || number > strides.back());
    if (!fits || number != static_cast<int>(number)) return std::nullopt;
    strides.push_back(static_cast<int>(number));
  }
  return strides;
}
bool accepts_strides(const ParameterValue& value) { return strides_in(value).has_value(); }
ParameterValue strides_value(const std::vector<int>& strides) {
  return fmt::format("{}", fmt::join(strides, ","));
}
std::vector<int> strides_of(const ParameterValue& value) { return strides_in(value).value(); }

void add_image(Table& table) {
  Section image(table, "image", &Parameters::image);
  image.names("range", &ImageParameters::range, kValueRangeNames,
              "How stored values become [0, 1]. type: by the whole range of an integer type; "
              "floats must lie within [0, 1]. data: from the least to the greatest value of the "
              "image. robust: as data, but the lowest and the highest thousandth of the values are "
              "clipped. auto: type for integers and for floats in [0, 1] if the values fill at "
              "least half of the range; otherwise robust, where 8 bits are stretched 20 times at "
              "most.");
  image.form("detail", &ImageParameters::detail,
             {"an integer of 16 or more, or \"native\"", accepts_detail}, detail_value, detail_of,
             {"pixels",
              "Regions are found in the image reduced so that its longer side is at most this, and "
              "their boundaries are placed in the image itself; the network sees three quarters of "
              "it. An image more than twice as long as it is wide counts as one of 2:1 with its "
              "area. native: regions are found in the image itself, for micrographs and other "
              "images whose objects have a size in pixels."});
  image.integer("max_pixels", &ImageParameters::max_pixels, 1, kMaxInt,
                {"pixels",
                 "Larger images are refused before they are decoded, so that a forged header "
                 "cannot exhaust the memory."});
  image.flag("untrusted", &ImageParameters::untrusted,
             {"",
              "Decode untrusted files in a sandboxed process, which can reach nothing but the "
              "file's bytes (Linux's seccomp)."});
  image.integer("decoding_memory", &ImageParameters::decoding_memory, 64, 1 << 20,
                {"MiB", "untrusted: the most memory that decoding one image may use."});
  image.integer("decoding_seconds", &ImageParameters::decoding_seconds, 1, 86'400,
                {"seconds", "untrusted: the longest time that decoding one image may take."});
}

void add_cue(Table& table) {
  Section cue(table, "cue", &Parameters::cue);
  cue.names("kind", &CueParameters::kind, kCueNames,
            "Where boundary strength comes from. learned: a small convolutional network, trained "
            "on boundaries that people drew in photographs. gradient: first derivatives of a "
            "Gaussian in CIE Lab, for images that are nothing like photographs.");
  cue.text("weights", &CueParameters::weights, "a network's name or file",
           {"",
            "learned: the name of a built-in network, or a .safetensors file; empty: the network "
            "named default. Several, separated by commas, are averaged."});
  cue.numbers("scales", &CueParameters::scales, {0.1, 4, 8},
              {"",
               "learned: the image is resized by each of these factors, separated by commas, and "
               "the network's maps are averaged."});
  cue.form(
      "turns", &CueParameters::turns, {"1, 2, 4 or 8", accepts_turns}, turns_value, turns_of,
      {"",
       "learned: the network sees the image in this many turned and mirrored forms, and its maps, "
       "turned back, are averaged; its time grows in proportion. 1: the image itself. 2: also "
       "mirrored left to right. 4: turned by 0, 90, 180 and 270 degrees. 8: these and their mirror "
       "images, so that a turned or mirrored image has the turned or mirrored boundary map."});
  cue.names("pose", &CueParameters::pose, kCuePoseNames,
            "learned: the form of the image that turns starts from. given: the image itself. "
            "canonical: of its eight turned and mirrored forms, the one that is brightest at the "
            "top and brighter on the left than on the right, so that a turned or mirrored image "
            "has the turned or mirrored boundary map.");
  cue.integer("border", &CueParameters::border, 0, 256,
              {"pixels",
               "learned: at each scale the image is mirrored beyond its edges by this, because a "
               "network finds false boundaries along the edge of its input."});
  cue.integer("tile", &CueParameters::tile, 64, 16'384,
              {"pixels",
               "learned: larger images go through the network in overlapping squares of about this "
               "side, which limits its memory. The result does not depend on it."});
  cue.real("sigma", &CueParameters::sigma, 0.3, 10,
           {"pixels", "gradient: standard deviation of the Gaussian (Canny 1986)."});
  cue.real("quantile", &CueParameters::quantile, 0.01, 1,
           {"", "gradient: the quantile of the gradient's magnitude that becomes strength 1."});
  cue.real("floor", &CueParameters::floor, 1e-3, 1e3,
           {"Lab units a pixel (L in [0, 100])",
            "gradient: the least magnitude that may become strength 1, so that noise in a flat "
            "image does not become boundaries."});
  cue.flag("thin", &CueParameters::thin,
           {"",
            "gradient: keep only the ridge of each boundary, by non-maximum suppression across the "
            "gradient (Canny 1986)."});
}

void add_affinity(Table& table) {
  Section affinity(table, "affinity", &Parameters::affinity);
  affinity.integer("radius", &AffinityParameters::radius, 1, 10,
                   {"pixels",
                    "Pixels within this distance are neighbours; 5 gives 81 diagonals (Arbelaez, "
                    "Maire, Fowlkes and Malik 2011)."});
  affinity.form(
      "strides", &AffinityParameters::strides,
      {"\"1\", or 1 to 4 ascending integers from 1 to 16, separated by commas, the first 1",
       accepts_strides},
      strides_value, strides_of,
      {"pixels",
       "A pixel is compared with the pixels at each offset within the radius, multiplied by each "
       "of these strides: 1,2,4 reaches four times as far as 1, with 201 diagonals instead of 81 "
       "(radius 5). Strides other than 1 exclude --seeds and compressed matrices."});
  affinity.names("formula", &AffinityParameters::formula, kAffinityFormulaNames,
                 "How the largest strength on the line, ic, becomes the affinity W. logistic: p = "
                 "1/(1 + exp(-(1.8682 - 1.3113 ic/.3130))), W = exp(-(1 - p)/scale), as the "
                 "authors of gPb released it. exponential: W = exp(-ic/scale), equation 8 of "
                 "Arbelaez et al. 2011.");
  affinity.real("scale", &AffinityParameters::scale, 0.01, 100,
                {"strength", "The scale in affinity.formula; .1 in Arbelaez et al. 2011."});
  affinity.names("feature_measure", &AffinityParameters::feature_measure, kFeatureMeasureNames,
                 "With features (--features): how the distance d of two pixels' features is "
                 "measured; W = exp(-d^2/(2 feature_scale^2)). cosine: between the features "
                 "divided by their length, d^2 = 2 - 2 cos (Ng, Jordan and Weiss 2001). gaussian: "
                 "between the features themselves (Shi and Malik 2000, equation 11).");
  affinity.real(
      "feature_scale", &AffinityParameters::feature_scale, 0, 1e30,
      {"distance",
       "With features: the distance at which W is exp(-1/2). 0: 0.15 of the range of distances, as "
       "Shi and Malik (2000) advise; the range is the quantile 0.999 of the distances of pixels "
       "affinity.radius apart in a row or a column. The report states the scale."});
  affinity.flag("with_boundary", &AffinityParameters::with_boundary,
                {"",
                 "With features: whether W is multiplied by the affinity of the boundary map. "
                 "false: there is no boundary map, no network runs, and contours are the spectral "
                 "contour alone."});
}

void add_matvec(Table& table) {
  Section matvec(table, "matvec", &Parameters::matvec);
  matvec.names("kernel", &MatvecParameters::kernel, kMatvecNames,
               "The kernel of the product, kernels/matrix/matvec_<name>.cl. auto chooses the "
               "fastest on the device; for lanczos, the storages of symmetric are candidates too. "
               "All kernels give the same product up to rounding.");
  matvec.names(
      "storage", &MatvecParameters::storage, kMatvecStorageNames,
      "How the kernel symmetric stores weights: float32, half (16 bits) or minifloat (8 bits: 4 of "
      "exponent, 4 of mantissa). auto: minifloat if the kernel is symmetric; if the kernel is "
      "auto, the storages that keep eigen.tolerance, which at 1e-4 are half and float32.");
}

void add_eigen(Table& table) {
  Section eigen(table, "eigen", &Parameters::eigen);
  eigen.names("solver", &EigenParameters::solver, kSolverNames,
              "auto: multilevel, or lanczos if memory is short. multilevel: starts on a grid of a "
              "few hundred pixels and improves each finer grid by locally optimal block conjugate "
              "gradients (Knyazev 2001) with a V-cycle over the coarser grids; lanczos takes over "
              "if the image cannot be coarsened or does not converge. lanczos: thick restarts on "
              "the device (Wu and Simon 2000). spectra: Spectra's SymEigsSolver on the host, with "
              "the product on the device. All: images of up to 400 pixels are solved densely.");
  eigen.integer(
      "vectors", &EigenParameters::vectors, 2, 1000,
      {"",
       "Number of eigenvectors, including the trivial one, which is known; 17 leaves the 16 of "
       "Arbelaez et al. 2011."});
  eigen.real("tolerance", &EigenParameters::tolerance, 1e-7, 0.1,
             {"",
              "Norm of A x - theta x at which a pair has converged; the norm of A is 1. On "
              "photographs of 481x321 pixels, contours from vectors solved to 5e-4 correlate .994 "
              "with exact ones, and .9999 at 4e-5."});
  eigen.real(
      "relative_tolerance", &EigenParameters::relative_tolerance, 0, 1,
      {"",
       "Also requires that the norm is at most this times the pair's eigenvalue, 1 - theta, or "
       "5e-7 if that is more, which is what float32 reaches: 0.5 resolves eigenvalues above 1e-6. "
       "Eigenvalues fall as 1/pixels. 0: not required. Not for the solver spectra."});
  eigen.integer("basis", &EigenParameters::basis, 0, 10'000,
                {"vectors",
                 "The most basis vectors, more than eigen.vectors; 0 chooses. More need fewer "
                 "products and more memory."});
  eigen.integer("filter_degree", &EigenParameters::filter_degree, 0, 1000,
                {"",
                 "Degree of the Chebyshev polynomial between two steps of Lanczos (Zhou and Saad "
                 "2007); 1 is plain Lanczos, 0 chooses from the size of the image."});
  eigen.integer(
      "max_products", &EigenParameters::max_products, 1, kMaxInt,
      {"products", "The solver gives up after this many products with the matrix, and says so."});
}

void add_contour(Table& table) {
  Section contour(table, "contour", &Parameters::contour);
  contour.names(
      "spectral", &ContourParameters::spectral, kSpectralUseNames,
      "The eigenvectors that the spectral contour in contours is made of. decimated: 16 of a grid "
      "of every other pixel, decimated repeatedly, which is as exact as contours need. full: those "
      "of the image's own grid, as section eigen describes them; always with features. never: "
      "none; contours are those of the boundary map. With decimated and never, diacut skips the "
      "eigenvectors of the image's own grid unless they are a result or region.method is kway.");
  contour.real("cue_weight", &ContourParameters::cue_weight, 0, 10,
               {"", "The weight of the boundary map in the contours."});
  contour.real(
      "spectral_weight", &ContourParameters::spectral_weight, 0, 10,
      {"",
       "The weight of the spectral contour, which is made of derivatives of the eigenvectors."});
  contour.real("spectral_power", &ContourParameters::spectral_power, 0.1, 10,
               {"", "The spectral contour is raised to this power."});
  contour.real("spectral_scale", &ContourParameters::spectral_scale, 1e-6, 1e6,
               {"",
                "The spectral contour that counts as 1, before it is raised to spectral_power; "
                "stronger ones count as 1 too."});
}

void add_region(Table& table) {
  Section region(table, "region", &Parameters::region);
  region.names(
      "method", &RegionParameters::method, kRegionMethodNames,
      "hierarchy: an oriented watershed and greedy merging of its regions (Arbelaez, Maire, "
      "Fowlkes and Malik 2011), cut at region.threshold or into region.regions. kway: recursive "
      "two-way cuts by the eigenvectors (Shi and Malik 2000). walker: labels grow from seeds. "
      "objects: as hierarchy, but 0 outside.");
  region.integer(
      "regions", &RegionParameters::regions, 0, kMaxInt,
      {"regions",
       "Number of regions; kway: the recursive cuts' regions are joined or cut until there are so "
       "many. 0: the automatic cut of the hierarchy; kway: what the recursive cuts give."});
  region.real("max_ncut", &RegionParameters::max_ncut, 0, 2,
              {"",
               "A two-way cut is made while its normalized cut is at most this (Shi and Malik "
               "2000) in a picture of 481 x 321 pixels; in others, this times sqrt(154401/pixels), "
               "because the same shapes in a larger picture have smaller normalized cuts. Lower "
               "values give fewer regions."});
  region.real("max_flatness", &RegionParameters::max_flatness, 0, 1,
              {"",
               "A two-way cut is made only if the affinity of direct neighbours across it is at "
               "most this share of the region's own: along a boundary, not through a flat area."});
  region.form(
      "min_size", &RegionParameters::min_size,
      {"a number of pixels, a share of the pixels with data as \"0.2%\", or \"auto\"",
       accepts_least_size},
      least_size_value, least_size_of,
      {"pixels",
       "Smaller regions join the neighbour across the weakest boundary; kway: the most "
       "similar neighbour. auto: 0.1%; with a number of regions 0.03%, but at most a quarter "
       "of their mean size; kway: 50 pixels."});
  region.names(
      "merging", &RegionParameters::merging, kMergingRuleNames,
      "How regions are merged. learned: by the probability that two regions are different things, "
      "computed from their boundary, areas, colours and embedding and fitted to segmentations that "
      "people "
      "drew; half of the people separate regions that merge at .5. strength: by the mean strength "
      "of their boundary. auto: learned if the boundary map comes from a network; strength with "
      "the gradient, with your own map, and with features alone.");
  region.text("merging_weights", &RegionParameters::merging_weights, "a file of weights",
              {"",
               "learned: a file of weights from app/learn/fit_merging.py, or \"boundary\" for the "
               "built-in weights fitted to contours without eigenvectors; empty: the built-in "
               "weights that suit contour.spectral and the network."});
  region.form("threshold", &RegionParameters::threshold,
              {"a number from 0 to 1, or \"auto\"", accepts_threshold}, threshold_value,
              threshold_of,
              {"",
               "The automatic cut of the hierarchy: regions merge while the probability or mean "
               "strength of the boundary between them is at most this. auto: the threshold of the "
               "merging weights; with strength 0.3."});
  region.real("direction", &RegionParameters::direction, 0, 1,
              {"",
               "How much the angle between a boundary's own direction and the line that it is part "
               "of counts: strength is multiplied by 1 - direction + direction |cos|. 1 is the "
               "oriented watershed of Arbelaez et al. 2011."});
  region.real("inside", &RegionParameters::inside, 0, 1,
              {"", "objects: a region is an object if the mean of its inside map is above this."});
}

void add_walker(Table& table) {
  Section walker(table, "walker", &Parameters::walker);
  walker.real("tolerance", &WalkerParameters::tolerance, 1e-7, 0.1,
              {"",
               "Relative error of a label's probabilities at which its linear system is solved, in "
               "the norm of the system's matrix."});
  walker.integer("max_iterations", &WalkerParameters::max_iterations, 1, kMaxInt,
                 {"iterations", "Conjugate gradients give up after this many iterations."});
}

Table make_table() {
  Table table;
  for (const auto add : {add_image, add_cue, add_affinity, add_matvec, add_eigen, add_contour,
                         add_region, add_walker}) {
    add(table);
  }
  return table;
}

std::string bound_text(double bound) { return fmt::format("{}", bound); }

struct AllowedText {
  std::string operator()(const FlagDomain&) const { return "true or false"; }
  std::string operator()(const IntegerDomain& domain) const {
    return fmt::format("an integer from {} to {}", domain.least, domain.most);
  }
  std::string operator()(const RealDomain& domain) const {
    return fmt::format("a number from {} to {}", bound_text(domain.least), bound_text(domain.most));
  }
  std::string operator()(const NameDomain& domain) const {
    if (domain.names.size() == 1) return fmt::format("\"{}\"", domain.names.front());
    return fmt::format("one of \"{}\"", fmt::join(domain.names, "\", \""));
  }
  std::string operator()(const TextDomain& domain) const {
    return fmt::format("a text of one line, {}", domain.what);
  }
  std::string operator()(const FormDomain& domain) const { return std::string(domain.what); }
  std::string operator()(const NumbersDomain& domain) const {
    return fmt::format("a text of 1 to {} numbers from {} to {}, separated by commas", domain.count,
                       bound_text(domain.least), bound_text(domain.most));
  }
};

struct Accepts {
  const ParameterValue& value;

  bool operator()(const FlagDomain&) const { return std::holds_alternative<bool>(value); }
  bool operator()(const IntegerDomain& domain) const {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer != nullptr && *integer >= domain.least && *integer <= domain.most;
  }
  bool operator()(const RealDomain& domain) const {
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (integer == nullptr && real == nullptr) return false;
    const double number = real != nullptr ? *real : static_cast<double>(*integer);
    return number >= domain.least && number <= domain.most;  // False for NaN.
  }
  bool operator()(const NameDomain& domain) const {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr &&
           std::find(domain.names.begin(), domain.names.end(), *text) != domain.names.end();
  }
  bool operator()(const TextDomain&) const {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && std::none_of(text->begin(), text->end(), [](char c) {
             return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
           });
  }
  bool operator()(const FormDomain& domain) const { return domain.accepts(value); }
  bool operator()(const NumbersDomain& domain) const {
    const auto* text = std::get_if<std::string>(&value);
    const auto numbers = text != nullptr ? numbers_of(*text) : std::nullopt;
    return numbers && numbers->size() <= domain.count &&
           std::all_of(numbers->begin(), numbers->end(), [&](double number) {
             return number >= domain.least && number <= domain.most;
           });
  }
};

}  // namespace

std::string ParameterEntry::key() const { return fmt::format("{}.{}", table, name); }

const std::vector<ParameterEntry>& parameter_table() {
  static const std::vector<ParameterEntry> table = make_table();
  return table;
}

const std::vector<ParameterSection>& parameter_sections() {
  static const std::vector<ParameterSection> sections = {
      {"image", "How files are read."},
      {"cue", "Boundary strength from the image, in [0, 1]."},
      {"affinity",
       "How alike two pixels are: by the boundaries between them (intervening contour, Leung and "
       "Malik 1998), or by your own features."},
      {"matvec", "The product of the affinity matrix with a vector."},
      {"eigen", "Eigenvectors of the normalized cut."},
      {"contour",
       "Contours from the cue and the eigenvectors (Arbelaez, Maire, Fowlkes and Malik 2011)."},
      {"region", "Regions from the contours, from the eigenvectors, or from seeds."},
      {"walker", "Labels that grow from seeds by the random walker (Grady 2006)."},
  };
  return sections;
}

std::string allowed_text(const ParameterEntry& entry) {
  return std::visit(AllowedText{}, entry.domain);
}

std::optional<std::vector<double>> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    const auto number = number_of<double>(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

std::string numbers_text(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::string parameter_problem(const ParameterEntry& entry, const ParameterValue& value) {
  if (std::visit(Accepts{value}, entry.domain)) return {};
  return fmt::format("is {}, expected {}", parameter_text(value), allowed_text(entry));
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
    const auto percent = number_of<double>(std::string_view(text).substr(0, text.size() - 1));
    if (!percent || !(*percent >= 0 && *percent <= 100)) return std::nullopt;
    return LeastSize{LeastSize::Unit::kShare, *percent / 100};
  }
  const auto pixels = number_of<std::int32_t>(text);
  if (!pixels || *pixels < 0) return std::nullopt;
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
