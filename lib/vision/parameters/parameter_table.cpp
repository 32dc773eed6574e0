#include "parameters/parameter_table.hpp"

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

/// The numbers of a text like "0.5, 1"; nothing if it is no such text.
std::optional<std::vector<double>> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  const std::string ended = fmt::format("{},", text);  // Which shows an empty last number.
  for (std::string_view item : split_text(ended, ',')) {
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    const auto number = number_in<double>(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

constexpr std::string_view kAutomatic = "auto";

/// Adds the entries of one section, whose struct is the member `group` of Parameters.
template <class Group>
class Section {
 public:
  Section(std::vector<ParameterEntry>& entries, std::string_view table, std::string_view meaning,
          Group Parameters::*group)
      : entries_(entries), table_(table), meaning_(meaning), group_(group) {}

  /// A parameter with values of its own; `Owner` is the struct or one that it derives from. `what`:
  /// these, for messages. `read`: the member for a value that a person gave; nothing if it is none
  /// of them. `write`: the value of a member.
  template <class Member, class Owner, class Read, class Write>
  ParameterEntry& form(std::string_view name, Member Owner::*member, std::string what,
                       const Read& read, const Write& write, ParameterText text) {
    return entries_.emplace_back(
        ParameterEntry{table_,
                       meaning_,
                       name,
                       std::move(text),
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

  void flag(std::string_view name, bool Group::*member, ParameterText text) {
    form(name, member, "true or false", held<bool>, std::identity(), std::move(text));
  }

  template <class Integer, class Owner>
  void integer(std::string_view name, Integer Owner::*member, std::int64_t least, std::int64_t most,
               ParameterText text) {
    static_assert(std::is_signed_v<Integer> && sizeof(Integer) <= sizeof(std::int64_t));
    const auto read = [=](const ParameterValue& value) {
      const auto integer = held<std::int64_t>(value);
      return integer && *integer >= least && *integer <= most ? integer : std::nullopt;
    };
    form(
        name, member, fmt::format("an integer from {} to {}", least, most), read,
        [](Integer value) { return std::int64_t{value}; }, std::move(text));
  }

  void real(std::string_view name, double Group::*member, double least, double most,
            ParameterText text) {
    const auto read = [=](const ParameterValue& value) {
      const auto number = real_in(value);
      return number && *number >= least && *number <= most ? number : std::nullopt;
    };
    form(name, member, fmt::format("a number from {} to {}", least, most), read, std::identity(),
         std::move(text));
  }

  void real_or_auto(std::string_view name, std::optional<double> Group::*member, double least,
                    double most, ParameterText text) {
    using Number = std::optional<double>;
    const auto read = [=](const ParameterValue& value) -> std::optional<Number> {
      const auto given = held<std::string>(value);
      if (given == kAutomatic) return Number();
      const auto numbers = given ? numbers_of(*given) : std::nullopt;
      const Number number = numbers && numbers->size() == 1 ? numbers->front() : real_in(value);
      if (!number || !(*number >= least && *number <= most)) return std::nullopt;
      return number;
    };
    const auto write = [](const Number& number) {
      return number ? ParameterValue(*number) : ParameterValue(std::string(kAutomatic));
    };
    form(name, member, fmt::format("a number from {} to {}, or \"auto\"", least, most), read, write,
         std::move(text));
  }

  template <class Enum, class Owner, std::size_t kCount>
  void names(std::string_view name, Enum Owner::*member, const EnumNames<Enum, kCount>& of,
             ParameterText text) {
    const auto read = [of](const ParameterValue& value) -> std::optional<Enum> {
      const auto given = held<std::string>(value);
      return given ? enum_value(of, *given) : std::nullopt;
    };
    ParameterEntry& entry = form(
        name, member, "", read, [of](Enum value) { return std::string(enum_name(of, value)); },
        std::move(text));
    entry.names.assign(of.names.begin(), of.names.end());
    entry.allowed =
        fmt::format("{}\"{}\"", kCount > 1 ? "one of " : "", fmt::join(entry.names, "\", \""));
  }

 private:
  std::vector<ParameterEntry>& entries_;
  std::string_view table_;
  std::string_view meaning_;
  Group Parameters::*group_;
};

std::optional<std::string> line_in(const ParameterValue& value) {
  auto text = held<std::string>(value);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (!text || std::any_of(text->begin(), text->end(), is_control)) return std::nullopt;
  return text;
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

/// The name of a rule, or "LOW:HIGH".
std::optional<ValueRange> range_in(const ParameterValue& value) {
  const auto text = held<std::string>(value);
  if (!text) return std::nullopt;
  if (const auto rule = enum_value(kValueRangeNames, *text)) return *rule;
  const std::size_t colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto low = number_in<double>(std::string_view(*text).substr(0, colon));
  const auto high = number_in<double>(std::string_view(*text).substr(colon + 1));
  if (!low || !high || !(*low < *high)) return std::nullopt;
  return ValueRange(ValueRange::kLimits, *low, *high);
}
ParameterValue range_value(const ValueRange& range) {
  if (range.rule != ValueRange::kLimits)
    return std::string(enum_name(kValueRangeNames, range.rule));
  return fmt::format("{}:{}", range.low, range.high);
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
  Section image(table, "image", "How files are read.", &Parameters::image);
  image.form(
      "range", &ImageParameters::range, "\"auto\", \"type\", \"data\", \"robust\", or \"LOW:HIGH\"",
      range_in, range_value,
      {"How stored values become [0, 1]. type: by the whole range of an integer type; floats must "
       "lie within [0, 1]. data: from the least to the greatest value of the image. robust: as "
       "data, but the lowest and the highest thousandth of the values are clipped. auto: type for "
       "integers and for floats in [0, 1] if the values fill at least half of the range; otherwise "
       "robust, where 8 bits are stretched 20 times at most. LOW:HIGH: these two values become 0 "
       "and 1, as \"-200:300\" of a CT; what lies beyond is clipped."});
  image.form("detail", &ImageParameters::detail, "an integer of 16 or more, or \"native\"",
             detail_in, detail_value,
             {"Regions are found in the image reduced so that its longer side is at most this, and "
              "their boundaries are placed in the image itself; the network sees three quarters of "
              "it. An image more elongated than 2:1 is reduced as much as a 2:1 image of the same "
              "area. native: regions are found in the image itself, for micrographs and other "
              "images whose objects have a size in pixels.",
              "pixels",
              {"--detail", "SIZE|native",
               "Find regions in the image reduced to this longer side, in pixels; native: in the "
               "image itself, for objects whose size in pixels matters"}});
  image.integer("max_pixels", &ImageParameters::max_pixels, 1, kMaxInt,
                {"Larger images are refused before they are decoded, so that a forged header "
                 "cannot exhaust the memory.",
                 "pixels"});
  image.flag("untrusted", &ImageParameters::untrusted,
             {"Decode untrusted files in a sandboxed process, which can reach nothing but the "
              "file's bytes (Linux's seccomp)."});
  image.flag("damaged", &ImageParameters::damaged,
             {"Read JPEG files whose data are damaged inside, with what could be decoded."});
  image.integer("decoding_memory", &ImageParameters::decoding_memory, 64, 1 << 20,
                {"untrusted: the most memory that decoding one image may use.", "MiB"});
  image.integer("decoding_seconds", &ImageParameters::decoding_seconds, 1, 86'400,
                {"untrusted: the longest time that decoding one image may take.", "seconds"});

  Section boundary(table, "boundary", "Boundary strength from the image, in [0, 1].",
                   &Parameters::boundary);
  boundary.names(
      "kind", &BoundaryParameters::kind, kBoundaryKindNames,
      {"Where boundary strength comes from. learned: a small convolutional network, trained on "
       "boundaries that people drew in photographs. gradient: first derivatives of a Gaussian in "
       "CIE Lab, for images that are nothing like photographs.",
       "",
       {"--boundary", "NAME", "Where boundaries come from"}});
  boundary.form("weights", &BoundaryParameters::weights,
                "a text of one line, a network's name or file", line_in, std::identity(),
                {"learned: the name of a built-in network, or a .safetensors file; empty: the "
                 "network named default. Several, separated by commas, are averaged.",
                 "",
                 {"--weights", "NAME|FILE",
                  "The network: built in, or a .safetensors file; several, separated by commas, "
                  "are averaged"}});
  boundary.form("scales", &BoundaryParameters::scales,
                "a text of 1 to 8 numbers from 0.1 to 4, separated by commas", scales_in,
                list_value<double>,
                {"learned: the image is resized by each of these factors, separated by commas, and "
                 "the network's maps are averaged."});
  boundary.form(
      "turns", &BoundaryParameters::turns, "1, 2, 4 or 8", turns_in,
      [](int turns) { return std::int64_t{turns}; },
      {"learned: the network sees the image in this many turned and mirrored forms, and its maps, "
       "turned back, are averaged; its time grows in proportion. 1: the image itself. 2: also "
       "mirrored left to right. 4: turned by 0, 90, 180 and 270 degrees. 8: these and their mirror "
       "images, so that a turned or mirrored image has the turned or mirrored boundary map."});
  boundary.names("pose", &BoundaryParameters::pose, kNetworkPoseNames,
                 {"learned: the form of the image that turns starts from. given: the image itself. "
                  "canonical: of its eight turned and mirrored forms, the one that is brightest at "
                  "the top and brighter on the left than on the right, so that a turned or "
                  "mirrored image has the turned or mirrored boundary map."});
  boundary.integer("border", &BoundaryParameters::border, 0, 256,
                   {"learned: at each scale the image is mirrored beyond its edges by this, "
                    "because a network finds false boundaries along the edge of its input.",
                    "pixels"});
  boundary.integer("tile", &BoundaryParameters::tile, 64, 16'384,
                   {"learned: larger images go through the network in overlapping squares of about "
                    "this side, which limits its memory. The result does not depend on it.",
                    "pixels"});
  boundary.real("sigma", &BoundaryParameters::sigma, 0.3, 10,
                {"gradient: standard deviation of the Gaussian (Canny 1986).", "pixels"});
  boundary.real("quantile", &BoundaryParameters::quantile, 0.01, 1,
                {"gradient: the quantile of the gradient's magnitude that becomes strength 1."});
  boundary.real("floor", &BoundaryParameters::floor, 1e-3, 1e3,
                {"gradient: the least magnitude that may become strength 1, so that noise in a "
                 "flat image does not become boundaries.",
                 "Lab units a pixel (L in [0, 100])"});
  boundary.flag("thin", &BoundaryParameters::thin,
                {"gradient: keep only the ridge of each boundary, by non-maximum suppression "
                 "across the gradient (Canny 1986)."});

  Section affinity(table, "affinity",
                   "How alike two pixels are: by the boundaries between them (intervening contour, "
                   "Leung and Malik 1998), or by your own features.",
                   &Parameters::affinity);
  affinity.integer("radius", &AffinityParameters::radius, 1, 10,
                   {"Pixels within this distance are neighbours; 5 gives 81 diagonals (Arbelaez, "
                    "Maire, Fowlkes and Malik 2011).",
                    "pixels",
                    {"--radius", "PIXELS", "Compare pixels up to this far apart, 1 to 10"}});
  affinity.form(
      "strides", &AffinityParameters::strides,
      "\"1\", or 1 to 4 ascending integers from 1 to 16, separated by commas, the first 1",
      strides_in, list_value<int>,
      {"A pixel is compared with the pixels at each offset within the radius, multiplied by each "
       "of these strides: 1,2,4 reaches four times as far as 1, with 201 diagonals instead of 81 "
       "(radius 5). Strides other than 1 exclude --seeds and compressed matrices.",
       "pixels"});
  affinity.names(
      "formula", &AffinityParameters::formula, kAffinityFormulaNames,
      {"How the largest strength on the line, ic, becomes the affinity W. logistic: p = 1/(1 + "
       "exp(-(1.8682 - 1.3113 ic/.3130))), W = exp(-(1 - p)/scale), as the authors of gPb released "
       "it. exponential: W = exp(-ic/scale), equation 8 of Arbelaez et al. 2011."});
  affinity.real("scale", &AffinityParameters::scale, 0.01, 100,
                {"The scale in affinity.formula; .1 in Arbelaez et al. 2011.", "strength"});
  affinity.names("feature_measure", &AffinityParameters::feature_measure, kFeatureMeasureNames,
                 {"With features (--features): how the distance d of two pixels' features is "
                  "measured; W = exp(-d^2/(2 feature_scale^2)). cosine: between the features "
                  "divided by their length, d^2 = 2 - 2 cos (Ng, Jordan and Weiss 2001). gaussian: "
                  "between the features themselves (Shi and Malik 2000, equation 11)."});
  affinity.real(
      "feature_scale", &AffinityParameters::feature_scale, 0, 1e30,
      {"With features: the distance at which W is exp(-1/2). 0: 0.15 of the range of distances, as "
       "Shi and Malik (2000) advise; the range is the quantile 0.999 of the distances of pixels "
       "affinity.radius apart in a row or a column. The report states the scale.",
       "distance"});
  affinity.flag(
      "with_boundary", &AffinityParameters::with_boundary,
      {"With features: whether W is multiplied by the affinity of the boundary map. false: there "
       "is no boundary map, no network runs, and contours are the spectral contour alone."});

  Section matvec(table, "matvec", "The product of the affinity matrix with a vector.",
                 &Parameters::matvec);
  matvec.names(
      "kernel", &MatvecParameters::kernel, kMatvecNames,
      {"The kernel of the product, kernels/matrix/matvec_<name>.cl. auto chooses the fastest on "
       "the device; for lanczos, the storages of symmetric are candidates too. All kernels give "
       "the same product up to rounding.",
       "",
       {"--matvec", "NAME", "The kernel of the product of lanczos and spectra", kForRegions}});
  matvec.names(
      "storage", &MatvecParameters::storage, kMatvecStorageNames,
      {"How the kernel symmetric stores weights: float32, half (16 bits) or minifloat (8 bits: 4 "
       "of exponent, 4 of mantissa). auto: minifloat if the kernel is symmetric; if the kernel is "
       "auto, the storages that keep eigen.tolerance, which at 1e-4 are half and float32."});

  Section eigen(table, "eigen", "Eigenvectors of the normalized cut.", &Parameters::eigen);
  eigen.names("solver", &EigenParameters::solver, kSolverNames,
              {"auto: multilevel, or lanczos if memory is short. multilevel: starts on a grid of a "
               "few hundred pixels and improves each finer grid by locally optimal block conjugate "
               "gradients (Knyazev 2001) with a V-cycle over the coarser grids; lanczos takes over "
               "if the image cannot be coarsened or does not converge. lanczos: thick restarts on "
               "the device (Wu and Simon 2000). spectra: Spectra's SymEigsSolver on the host, with "
               "the product on the device. All: images of up to 400 pixels are solved densely.",
               "",
               {"--solver", "NAME", "The eigensolver (spectra runs on the host)", kForRegions}});
  eigen.integer(
      "vectors", &EigenParameters::vectors, 2, 1000,
      {"Number of eigenvectors, including the trivial one, which is known; 17 leaves the 16 of "
       "Arbelaez et al. 2011.",
       "",
       {"--vectors", "N", "Number of eigenvectors, including the trivial one", kForRegions}});
  eigen.real("tolerance", &EigenParameters::tolerance, 1e-7, 0.1,
             {"Norm of A x - theta x at which a pair has converged; the norm of A is 1. On "
              "photographs of 481x321 pixels, contours from vectors solved to 5e-4 correlate .994 "
              "with exact ones, and .9999 at 4e-5.",
              "",
              {"--tolerance", "X", "Residual at which an eigenvector has converged", kForRegions}});
  eigen.real(
      "relative_tolerance", &EigenParameters::relative_tolerance, 0, 1,
      {"Also requires that the norm is at most this times the pair's eigenvalue, 1 - theta, or "
       "5e-7 if that is more, which is what float32 reaches: 0.5 resolves eigenvalues above 1e-6. "
       "Eigenvalues fall as 1/pixels. 0: not required. Not for the solver spectra."});
  eigen.integer("basis", &EigenParameters::basis, 0, 10'000,
                {"The most basis vectors, more than eigen.vectors; 0 chooses. More need fewer "
                 "products and more memory.",
                 "vectors"});
  eigen.integer("filter_degree", &EigenParameters::filter_degree, 0, 1000,
                {"Degree of the Chebyshev polynomial between two steps of Lanczos (Zhou and Saad "
                 "2007); 1 is plain Lanczos, 0 chooses from the size of the image."});
  eigen.integer(
      "max_products", &EigenParameters::max_products, 1, kMaxInt,
      {"The solver gives up after this many products with the matrix, and says so.", "products"});

  Section contour(table, "contour",
                  "Contours from the boundary map and the eigenvectors (Arbelaez, Maire, Fowlkes "
                  "and Malik 2011).",
                  &Parameters::contour);
  contour.names("spectral", &ContourChoice::spectral, kSpectralUseNames,
                {"The eigenvectors that the spectral contour in contours is made of. decimated: 16 "
                 "of a grid of every other pixel, decimated repeatedly, which is as exact as "
                 "contours need. full: those of the image's own grid, as section eigen describes "
                 "them; always with features. never: none; contours are those of the boundary map. "
                 "With decimated and never, diacut skips the eigenvectors of the image's own grid "
                 "unless they are a result or region.method is kway.",
                 "",
                 {"--spectral", "NAME",
                  "The eigenvectors in contours: of a decimated grid, of the image's own grid "
                  "(full), or none (never)",
                  kForHierarchies}});
  const auto by_source = [](double ContourParameters::*member) {
    const auto fitted = [&](BoundarySource source) {
      return contour_parameters({}, source).*member;
    };
    return fmt::format(
        "auto: {} with boundaries from a network, {} with those of gradient, {} with a map of your "
        "own.",
        fitted(BoundarySource::kNetwork), fitted(BoundarySource::kGradient),
        fitted(BoundarySource::kMap));
  };
  contour.real_or_auto(
      "boundary_weight", &ContourChoice::boundary_weight, 0, 10,
      {fmt::format(
          "The weight of the boundary map in the contours. {} Without eigenvectors {}.",
          by_source(&ContourParameters::boundary_weight),
          contour_parameters({SpectralUse::kNever}, BoundarySource::kMap).boundary_weight)});
  contour.real_or_auto(
      "spectral_weight", &ContourChoice::spectral_weight, 0, 10,
      {"The weight of the spectral contour, which is made of derivatives of the eigenvectors. " +
       by_source(&ContourParameters::spectral_weight)});
  contour.real_or_auto("spectral_power", &ContourChoice::spectral_power, 0.1, 10,
                       {"The spectral contour is raised to this power. " +
                        by_source(&ContourParameters::spectral_power)});
  contour.real_or_auto("spectral_scale", &ContourChoice::spectral_scale, 1e-6, 1e6,
                       {"The spectral contour that counts as 1, before it is raised to "
                        "spectral_power; stronger ones count as 1 too. " +
                        by_source(&ContourParameters::spectral_scale)});

  Section region(table, "region",
                 "Regions from the contours, from the eigenvectors, or from seeds.",
                 &Parameters::region);
  region.names("method", &RegionParameters::method, kRegionMethodNames,
               {"hierarchy: an oriented watershed and greedy merging of its regions (Arbelaez, "
                "Maire, Fowlkes and Malik 2011), cut at region.threshold or into region.regions. "
                "kway: recursive two-way cuts by the eigenvectors (Shi and Malik 2000). walker: "
                "labels grow from seeds. objects: as hierarchy, but 0 outside.",
                "",
                {"--method", "NAME", "How regions are found"}});
  region.integer(
      "regions", &RegionParameters::regions, 0, kMaxInt,
      {"Number of regions; kway: the recursive cuts' regions are joined or cut until there are so "
       "many. 0: the automatic cut of the hierarchy; kway: what the recursive cuts give.",
       "regions",
       {"--regions", "K", "Number of regions; 0: decided by --threshold or --max-ncut",
        kForCuts | kForDirectCuts}});
  region.real(
      "compactness", &RegionParameters::compactness, 0, 1,
      {"How even the sizes of region.regions are. Regions of the merge tree are divided in the "
       "order of height^(1 - compactness) area^compactness: 0 divides at the strongest boundary, 1 "
       "the largest region. The finest regions stay whole. Only with method hierarchy.",
       "",
       {"--compactness", "C", "How even the sizes of --regions are, from 0 to 1", kForCuts}});
  region.real_or_auto(
      "threshold", &RegionParameters::threshold, 0, 1,
      {"The automatic cut of the hierarchy: regions merge while the probability or mean strength "
       "of the boundary between them is at most this. auto: the threshold of the merging weights; "
       "with strength 0.3.",
       "",
       {"--threshold", "T",
        "Merge regions across boundaries of a probability or mean strength of at most T",
        kForCuts | kForObjects}});
  region.names(
      "merging", &RegionParameters::merging, kMergingRuleNames,
      {"How regions are merged. learned: by the probability that two regions are different things, "
       "computed from their boundary, areas, colours and embedding and fitted to segmentations "
       "that people drew; half of the people separate regions that merge at .5. strength: by the "
       "mean strength of their boundary. auto: learned if the boundary map comes from a network; "
       "strength with the gradient, with your own map, and with features alone.",
       "",
       {"--merging", "NAME",
        "Merge regions by the probability that they are different things (learned), or by the mean "
        "strength of their boundary",
        kForHierarchies}});
  region.form("merging_weights", &RegionParameters::merging_weights,
              "a text of one line, a file of weights", line_in, std::identity(),
              {"learned: a file of weights from app/learn/fit_merging.py; empty: the built-in "
               "weights for networks with an embedding or without."});
  region.real(
      "max_ncut", &RegionParameters::max_ncut, 0, 2,
      {"A two-way cut is made while its normalized cut is at most this (Shi and Malik 2000) in a "
       "picture of 481 x 321 pixels; in others, this times sqrt(154401/pixels), because the same "
       "shapes in a larger picture have smaller normalized cuts. Lower values give fewer regions.",
       "",
       {"--max-ncut", "X", "Cut while the normalized cut is at most X", kForDirectCuts}});
  region.real("max_flatness", &RegionParameters::max_flatness, 0, 1,
              {"A two-way cut is made only if the affinity of direct neighbours across it is at "
               "most this share of the region's own: along a boundary, not through a flat area."});
  region.form("min_size", &RegionParameters::min_size,
              "a number of pixels, a share of the pixels with data as \"0.2%\", an area on the "
              "ground as \"0.5ha\" or \"200m2\", or \"auto\"",
              least_size_in, least_size_value,
              {"Smaller regions join the neighbour across the weakest boundary; kway: the most "
               "similar neighbour. auto: 0.1%; with a number of regions 0.03%, but at most a "
               "quarter of their mean size; kway: 50 pixels.",
               "pixels",
               {"--min-size", "SIZE",
                "Merge smaller regions into a neighbour: pixels, a share of the picture such as "
                "0.2%, of a scene an area such as 0.5ha or 200m2, or auto",
                kForAll & ~kForSeeds}});
  region.real("direction", &RegionParameters::direction, 0, 1,
              {"How much the angle between a boundary's own direction and the line that it is part "
               "of counts: strength is multiplied by 1 - direction + direction |cos|. 1 is the "
               "oriented watershed of Arbelaez et al. 2011."});
  region.real("inside", &RegionParameters::inside, 0, 1,
              {"objects: a region is an object if the mean of its inside map is above this."});

  Section walker(table, "walker", "Labels that grow from seeds by the random walker (Grady 2006).",
                 &Parameters::walker);
  walker.real("tolerance", &WalkerParameters::tolerance, 1e-7, 0.1,
              {"Relative error of a label's probabilities at which its linear system is solved, in "
               "the norm of the system's matrix."});
  walker.integer("max_iterations", &WalkerParameters::max_iterations, 1, kMaxInt,
                 {"Conjugate gradients give up after this many iterations.", "iterations"});
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
      // In TOML these characters make a number a float.
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

std::string plain_text(const ParameterValue& value) {
  return held<std::string>(value).value_or(parameter_text(value));
}

std::optional<LeastSize> parse_least_size(const std::string& text) {
  if (text == kAutomatic) return LeastSize{};
  for (const auto& [unit, metres] :
       {std::pair("km2", 1e6), std::pair("ha", 1e4), std::pair("m2", 1.0)}) {
    if (!text.ends_with(unit)) continue;
    const auto area = number_in<double>(
        std::string_view(text).substr(0, text.size() - std::string_view(unit).size()), 0, 1e15);
    if (!area) return std::nullopt;
    return LeastSize{LeastSize::Unit::kSquareMetres, *area * metres};
  }
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
    case LeastSize::Unit::kSquareMetres:
      return fmt::format("{:.12g}m2", size.value);
    case LeastSize::Unit::kAutomatic:
      break;
  }
  return std::string(kAutomatic);
}

}  // namespace diacut
