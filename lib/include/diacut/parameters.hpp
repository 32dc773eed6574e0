#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"

/// Every number that steers a run, one struct a stage. Defaults here equal configs/default.toml.
namespace diacut {

enum class CueKind { kLearned, kGradient };

/// Boundary strength from the image, in [0, 1].
struct CueParameters {
  CueKind kind = CueKind::kLearned;
  /// Learned: the network built in under this name, or a .safetensors file; empty: "default".
  /// Several, separated by commas, are averaged.
  std::string weights;
  /// Learned: the image is resized by each of these, and what the network gives is averaged.
  std::vector<double> scales = {0.5, 1.0};
  /// Learned: side of the squares in which larger images go through the network, pixels. More takes
  /// more memory and computes less twice.
  int tile = 1024;
  /// Pixels by which the image is mirrored beyond its edges before the network sees it, at each
  /// scale: at the end of what it sees a network finds boundaries that are none.
  int border = 24;
  /// Standard deviation of the Gaussian whose derivative is taken, pixels.
  double sigma = 1.0;
  /// The quantile of the gradient's magnitude that becomes strength 1.
  double quantile = 0.99;
  /// The least magnitude that may become strength 1, in Lab units (L in [0, 100]) a pixel: keeps
  /// noise in flat images from being stretched into boundaries.
  double floor = 2.0;
  /// Keep only the ridge of each boundary (non-maximum suppression across the gradient).
  bool thin = true;
};

enum class AffinityFormula {
  /// What the authors of gPb released: p = 1/(1 + exp(-(1.8682 - 1.3113 ic/.3130))),
  /// W = exp(-(1 - p)/scale).
  kLogistic,
  /// The equation of their paper (Arbelaez et al. 2011, eq. 8): W = exp(-ic/scale).
  kExponential,
};

/// Intervening contour (Leung and Malik 1998): ic is the largest boundary strength on the line
/// between two pixels.
struct AffinityParameters {
  int radius = 5;  ///< Pixels, 1 to 10.
  AffinityFormula formula = AffinityFormula::kLogistic;
  double scale = 0.1;
};

/// The matrix-vector product's kernel, by its name in kernels/matvec_<name>.cl.
enum class MatvecKind {
  kAuto,
  kNaive,
  kAligned,
  kLocal,
  kVectorized,
  kImage,
  kCoarsened,
  kUnrolled,
  kSymmetric,  ///< By the compressed symmetric form: MatvecStorage.
};

/// How the product `symmetric` stores the weights between pixels.
enum class MatvecStorage {
  kAuto,
  kFloat32,
  kHalf,       ///< 16 bits: 5 of exponent, 10 of mantissa.
  kMinifloat,  ///< 8 bits: 4 of exponent, 4 of mantissa.
};

struct MatvecParameters {
  MatvecKind kernel = MatvecKind::kAuto;
  MatvecStorage storage = MatvecStorage::kAuto;
};

/// Auto: multilevel; Lanczos where memory is short.
enum class SolverKind { kAuto, kMultilevel, kLanczos, kSpectra };

struct EigenParameters {
  SolverKind solver = SolverKind::kAuto;
  /// Eigenvectors, the trivial one (which is known) included: 17 gives 16 to work with.
  int vectors = 17;
  /// Norm of A x - theta x at which a pair counts as converged (the norm of A is 1).
  double tolerance = 1e-4;
  /// Basis vectors kept at most; 0 chooses.
  int basis = 0;
  /// Degree of the Chebyshev polynomial between two steps of Lanczos; 1 is plain Lanczos, 0
  /// chooses from the size of the image.
  int filter_degree = 0;
  /// Products with the matrix after which the solver gives up and says so.
  int max_products = 20'000;
};

/// How the cue and the spectral contour become one map; see contour/combined_contour.hpp.
struct ContourParameters {
  double cue_weight = 0.8;
  double spectral_weight = 0.2;
  double spectral_power = 0.7071;
  double spectral_scale = 100;
};

enum class RegionMethod {
  kHierarchy,  ///< Cuts of a hierarchy of all regions (see diacut/hierarchy.hpp).
  kKway,       ///< Direct cuts by the eigenvectors.
};

struct RegionParameters {
  RegionMethod method = RegionMethod::kHierarchy;
  /// Regions wanted: k-way discretisation (Yu and Shi 2003). 0: recursive two-way cuts (Shi and
  /// Malik 2000).
  int regions = 0;
  /// A cut is made while its normalized cut is at most this, in [0, 2]: for a picture of 481 x 321
  /// pixels. For others it is multiplied by sqrt(154,401 / pixels), because the same shapes in a
  /// larger picture have smaller normalized cuts.
  double max_ncut = 0.01;
  /// A cut is made only along a boundary: where the affinity of direct neighbours on both sides of
  /// it is at most this share of their mean affinity in the region. Keeps flat regions, whose
  /// halves have a small normalized cut too, in one piece.
  double max_flatness = 0.25;
  /// Of kway: regions below this join the neighbour they are most alike; pixels.
  int min_size = 50;
  /// Where a hierarchy is cut when nothing else is said: regions merge whose boundary has a mean
  /// strength of at most this, in [0, 1].
  double threshold = 0.3;
  /// How much a hierarchy minds the angle between a boundary's own direction and the line it is
  /// part of: strength counts times 1 - direction + direction |cos|, in [0, 1].
  double direction = 1.0;
};

struct Parameters {
  ImageParameters image;
  CueParameters cue;
  AffinityParameters affinity;
  MatvecParameters matvec;
  EigenParameters eigen;
  ContourParameters contour;
  RegionParameters region;
};

/// Throws ConfigError naming the first parameter out of its range, or a pair that contradict each
/// other.
void validate(const Parameters& parameters);

/// The parameters of a TOML text; keys it leaves out keep the values of `base`. `name` is what
/// messages call it. Throws ConfigError naming file, line and key: syntax, unknown keys (with the
/// nearest known one), wrong types, values out of range.
Parameters parse_parameters(const std::string& toml, const std::string& name,
                            const Parameters& base = {});

/// A shipped preset's name ("default", "fast", "quality"), or the path of a TOML file. Throws
/// ConfigError, as parse_parameters() or because there is no such preset or file.
Parameters load_parameters(const std::string& preset_or_path);

/// Sets one parameter by its name in a configuration ("eigen.vectors") from text ("17"). Throws
/// ConfigError: unknown names (with the nearest known one), values out of range. Pairs are for
/// validate(), because one is set before the other.
void set_parameter(Parameters& parameters, const std::string& key, const std::string& value);

/// As a configuration file, with every key, its unit and its meaning in a comment.
std::string print_parameters(const Parameters& parameters);

/// Every key with its value as text, in the order of the file.
std::vector<std::pair<std::string, std::string>> list_parameters(const Parameters& parameters);

/// What a person should know of a parameter, for help texts.
struct ParameterInfo {
  std::string key;      ///< "affinity.radius".
  std::string unit;     ///< "pixels"; empty for flags, names and pure numbers.
  std::string allowed;  ///< "an integer from 1 to 10".
  std::string meaning;  ///< In sentences, with the source.
};

/// Every parameter, in the order of the file.
std::vector<ParameterInfo> describe_parameters();

/// Names of the shipped presets.
std::vector<std::string> preset_names();

}  // namespace diacut
