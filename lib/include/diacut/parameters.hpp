#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Every parameter of a run, one struct for each stage, and functions that read, change and print
/// them. configs/default.toml has the same defaults and describes each member in full, in the
/// section of the same name: Parameters::eigen.vectors is `vectors` in `[eigen]`.
namespace diacut {

/// What computes the boundary map.
enum class BoundaryKind {
  kLearned,   ///< A convolutional network, trained on boundaries that people drew in photographs.
  kGradient,  ///< First derivatives of a Gaussian, in the colours of CIE Lab.
};

/// Which of the eight turned and mirrored forms of an image the network sees.
enum class NetworkPose {
  kGiven,      ///< As the image is.
  kCanonical,  ///< Brightest at the top and left by its first moments; where they tie, as it is.
};

/// How networks are applied to an image.
struct NetworkParameters {
  std::string weights;  ///< Names or files, separated by commas; empty: "default".
  std::vector<double> scales = {0.5, 1.0};  ///< The factors that resize the image.
  int turns = 1;                            ///< Number of turned and mirrored forms: 1, 2, 4 or 8.
  NetworkPose pose = NetworkPose::kGiven;   ///< The form that `turns` starts from.
  int tile = 1024;                          ///< Side of the squares that they see at once, pixels.
  int border = 24;                          ///< Width that is mirrored beyond the edges, pixels.
};

/// How the magnitudes of derivatives become strengths of boundaries.
struct GradientParameters {
  double sigma = 1.0;      ///< Standard deviation of the Gaussian, pixels.
  double quantile = 0.99;  ///< The quantile of the magnitudes that becomes strength 1.
  double floor = 2.0;      ///< The least such magnitude, Lab units a pixel.
  bool thin = true;        ///< Whether to keep only the ridge of each boundary.
};

/// How the boundary map is computed: how strong a boundary is at each pixel, in [0, 1].
struct BoundaryParameters : NetworkParameters, GradientParameters {
  BoundaryKind kind = BoundaryKind::kLearned;  ///< What computes it.
};

/// How an intervening contour ic becomes an affinity W.
enum class AffinityFormula {
  kLogistic,     ///< W = exp(-(1 - p)/scale), p = 1/(1 + exp(-(1.8682 - 1.3113 ic/.3130))).
  kExponential,  ///< W = exp(-ic/scale).
};

/// How the distance of two pixels' features f_i and f_j is measured (see diacut::FeatureMap).
enum class FeatureMeasure {
  kCosine,    ///< |f_i/|f_i| - f_j/|f_j||, independent of the vectors' lengths.
  kGaussian,  ///< |f_i - f_j|.
};

/// How the affinity of two pixels is computed from features.
struct FeatureParameters {
  FeatureMeasure feature_measure = FeatureMeasure::kCosine;  ///< How d is measured.
  double feature_scale = 0;  ///< The d at which W is exp(-1/2); 0: by Segmentation::feature_scale.
  bool with_boundary = false;  ///< Whether W is multiplied by the boundary map's.
};

/// How the affinity of two pixels is computed. With a boundary map, from the intervening contour
/// ic, the largest boundary strength on the line between them (T. Leung and J. Malik, "Contour
/// continuity in region based image segmentation", 1998). With your own features, from their
/// distance d: W = exp(-d^2 / (2 feature_scale^2)).
struct AffinityParameters : FeatureParameters {
  int radius = 5;                  ///< Pixels up to this distance apart have an affinity, pixels.
  std::vector<int> strides = {1};  ///< Factors of the offsets within it, ascending from 1.
  AffinityFormula formula = AffinityFormula::kLogistic;  ///< How ic becomes the affinity.
  double scale = 0.1;                                    ///< The formula's scale, strength.
};

/// The kernel of the matrix-vector product, in the file matvec_NAME.cl. All give the same product
/// up to rounding.
enum class MatvecKind {
  kAuto,        ///< The fastest kernel on the device.
  kNaive,       ///< One row a work-item, in the plainest way.
  kAligned,     ///< Diagonals aligned in memory, their offsets in global memory.
  kLocal,       ///< As kAligned, with the offsets in local memory.
  kVectorized,  ///< Four rows a work-item.
  kImage,       ///< As kVectorized, with the vector read as an OpenCL image.
  kCoarsened,   ///< A run of rows a work-item, for CPUs.
  kUnrolled,    ///< With the offsets compiled in.
  kSymmetric,   ///< Half of the matrix, compressed (see MatvecStorage).
};

/// How the kernel `symmetric` stores the weights between pixels.
enum class MatvecStorage {
  kAuto,       ///< kMinifloat; with MatvecKind::kAuto the fastest that keeps the tolerance.
  kFloat32,    ///< 32 bits.
  kHalf,       ///< 16 bits: 5 of exponent, 10 of mantissa.
  kMinifloat,  ///< 8 bits: 4 of exponent, 4 of mantissa.
};

/// How the matrix-vector product is computed.
struct MatvecParameters {
  MatvecKind kernel = MatvecKind::kAuto;         ///< The kernel.
  MatvecStorage storage = MatvecStorage::kAuto;  ///< How the kernel `symmetric` stores the matrix.
};

/// The eigensolver.
enum class SolverKind {
  kAuto,        ///< Multilevel, or Lanczos where memory is short.
  kMultilevel,  ///< Block conjugate gradients under a V-cycle, from a coarse grid to the image's.
  kLanczos,     ///< Thick-restart Lanczos behind a Chebyshev filter.
  kSpectra,     ///< Spectra's SymEigsSolver on the host, with the product on the device.
};

/// How eigenvectors are computed.
struct EigenParameters {
  SolverKind solver = SolverKind::kAuto;  ///< The eigensolver.
  int vectors = 17;         ///< Eigenvectors, with the trivial one, which is known beforehand.
  double tolerance = 1e-4;  ///< Largest residual norm |A x - theta x|; |A| is 1.
  /// Above 0: the norm is also at most this times 1 - theta, or kResidualFloor if that is more.
  double relative_tolerance = 0;
  int basis = 0;              ///< Lanczos: the most basis vectors at once; 0: the solver chooses.
  int filter_degree = 0;      ///< Lanczos: degree of the filter; 1: none; 0: by the image's size.
  int max_products = 20'000;  ///< Products with the matrix after which the solver gives up.
};

/// Which eigenvectors the spectral contour in the contours comes from.
enum class SpectralUse {
  kDecimated,  ///< 16 of a decimated grid; as kFull with features, radius 1 or several strides.
  kFull,       ///< Those of the image's own grid, by EigenParameters.
  kNever,      ///< None: contours are those of the boundary map.
};

/// How the boundary map b and the spectral contour s become one map of contours, at most 1:
/// boundary_weight * b + spectral_weight * min(s / spectral_scale, 1)^spectral_power (P. Arbelaez,
/// M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image segmentation",
/// 2011, equation 14).
struct ContourParameters {
  SpectralUse spectral = SpectralUse::kDecimated;  ///< Eigenvectors of s. kNever: its term is 0.
  double boundary_weight = 0.8;                    ///< Weight of the boundary map.
  double spectral_weight = 0.2;                    ///< Weight of the spectral contour.
  double spectral_power = 0.7071;                  ///< Exponent of the spectral contour.
  double spectral_scale = 100;                     ///< The spectral contour that counts as 1.
};

/// Where a boundary map comes from.
enum class BoundarySource {
  kNetwork,   ///< From the network.
  kGradient,  ///< From derivatives of the image.
  kMap,       ///< From the caller.
};

/// Your choice of ContourParameters. Empty members: the values fitted for the source of the
/// boundaries.
struct ContourChoice {
  SpectralUse spectral = SpectralUse::kDecimated;  ///< As ContourParameters::spectral.
  std::optional<double> boundary_weight = {};      ///< As ContourParameters::boundary_weight.
  std::optional<double> spectral_weight = {};      ///< As ContourParameters::spectral_weight.
  std::optional<double> spectral_power = {};       ///< As ContourParameters::spectral_power.
  std::optional<double> spectral_scale = {};       ///< As ContourParameters::spectral_scale.
};

/// The choice, with its empty members set to what is best for boundaries from this source
/// (docs/accuracy.md, "What the eigenvectors add"), or with SpectralUse::kNever for any source.
ContourParameters contour_parameters(const ContourChoice& choice, BoundarySource source);

/// How regions are found.
enum class RegionMethod {
  kHierarchy,  ///< A cut of a hierarchy of all regions (see diacut::Hierarchy).
  kKway,       ///< Direct cuts by the eigenvectors.
  kWalker,     ///< Growth from seeds, by the random walker (see diacut::Seeds).
  kObjects,    ///< As kHierarchy; only regions of the cut that lie inside objects.
};

/// How a hierarchy chooses the regions to merge.
enum class MergingRule {
  kAuto,      ///< kLearned where a network computes the boundary map, else kStrength.
  kLearned,   ///< By the probability that two regions are different things.
  kStrength,  ///< By the mean strength of their boundary.
};

/// How labels grow from seeds (L. Grady, "Random walks for image segmentation", 2006).
struct WalkerParameters {
  double tolerance = 1e-4;   ///< Relative error of a label's solution, in the system's norm.
  int max_iterations = 500;  ///< Iterations of conjugate gradients after which they give up.
};

/// The least size of a region.
struct LeastSize {
  /// What the size is given in.
  enum class Unit {
    kAutomatic,  ///< See "auto" of region.min_size in configs/default.toml.
    kPixels,     ///< Pixels.
    kShare,      ///< A share of the pixels with data, in [0, 1].
    /// An area on the ground, which readers of scenes convert to kPixels.
    kSquareMetres,
  };
  Unit unit = Unit::kAutomatic;  ///< The unit of `value`.
  double value = 0;              ///< The size in `unit`; 0 for kAutomatic.

  /// Compares units and values.
  bool operator==(const LeastSize&) const = default;
};

/// Reads "auto", a number of pixels ("500"), a share of the pixels with data ("0.2%") or an area on
/// the ground ("200m2", "0.5ha", "1km2"); nothing if the text is of none of these forms.
std::optional<LeastSize> parse_least_size(const std::string& text);

/// Writes a size as parse_least_size() reads it.
std::string to_string(const LeastSize& size);

/// How many regions are found, and how large they are.
struct SizeParameters {
  int regions = 0;  ///< How many to find; 0: as many as the threshold gives.
  /// How even in size a given number of regions of a hierarchy are, in [0, 1]: nodes are divided in
  /// the order of height^(1 - compactness) area^compactness. 0: by heights alone.
  double compactness = 0;
  /// Smaller regions join a neighbour: in a hierarchy by without_small_regions(), with direct cuts
  /// the most similar one. With direct cuts, pixels that are more similar to other regions than to
  /// their own do not count.
  LeastSize min_size;
};

/// How a hierarchy is made and cut.
struct HierarchyParameters {
  MergingRule merging = MergingRule::kAuto;  ///< How regions to merge are chosen.
  std::string merging_weights;      ///< For kLearned: a file or built-in weights; empty: automatic.
  double direction = 1.0;           ///< Strength's factor is 1 - direction + direction |cos|.
  std::optional<double> threshold;  ///< Height of the cut, in [0, 1]; empty: the hierarchy's own.
};

/// Which regions of a cut are objects.
struct ObjectParameters {
  double inside = 0.5;  ///< The least mean of the inside map within an object.
};

/// How direct cuts are made.
struct KwayParameters {
  double max_ncut = 0.01;      ///< The largest normalized cut, for 481 x 321 pixels.
  double max_flatness = 0.25;  ///< Most affinity across a cut, as a share of the region's.
};

/// How regions are found from contours or eigenvectors.
struct RegionParameters : SizeParameters, HierarchyParameters, ObjectParameters, KwayParameters {
  RegionMethod method = RegionMethod::kHierarchy;  ///< The method.
};

/// Every parameter of a run.
struct Parameters {
  ImageParameters image;        ///< How files are read.
  BoundaryParameters boundary;  ///< How the boundary map is computed.
  AffinityParameters affinity;  ///< How affinities are computed.
  MatvecParameters matvec;      ///< How the matrix-vector product is computed.
  EigenParameters eigen;        ///< How eigenvectors are computed.
  ContourChoice contour;        ///< How contours are computed.
  RegionParameters region;      ///< How regions are found.
  WalkerParameters walker;      ///< How labels grow from seeds.
};

/// Whether a run finds regions as cuts of a hierarchy: with kHierarchy and kObjects.
bool makes_hierarchy(const Parameters& parameters);

/// Checks every parameter. Throws ConfigError naming the first parameter out of its range, or two
/// that contradict each other.
void validate(const Parameters& parameters);

/// Reads a configuration. `base`: the values of parameters that the text leaves out. Throws
/// ConfigError naming configuration, line and key: syntax, unknown keys (with the nearest known
/// one), wrong types, values out of range.
Parameters parse_parameters(const std::string& toml, const std::string& name,
                            const Parameters& base = {});

/// Reads a preset (see preset_names()) or a TOML file. Throws ConfigError as parse_parameters()
/// does, and when there is no such preset or file.
Parameters load_parameters(const std::string& preset_or_path);

/// Sets one parameter, such as "eigen.vectors" to "17". Contradictions between two parameters are
/// left to validate(), because one of them is set before the other. Throws ConfigError for an
/// unknown name (with the nearest known one) or a value out of range.
void set_parameter(Parameters& parameters, const std::string& key, const std::string& value);

/// A configuration with every key, its unit and its meaning as a comment, which parse_parameters()
/// reads.
std::string print_parameters(const Parameters& parameters);

/// The keys and the values, as text, of all parameters, in the order of print_parameters().
std::vector<std::pair<std::string, std::string>> list_parameters(const Parameters& parameters);

/// A description of a parameter, for help texts.
struct ParameterInfo {
  std::string key;      ///< Its name in a configuration, such as "affinity.radius".
  std::string unit;     ///< "pixels"; empty for flags, names and pure numbers.
  std::string allowed;  ///< "an integer from 1 to 10".
  std::string meaning;  ///< In sentences, with the source.
};

/// Describes all parameters, in the order of print_parameters().
std::vector<ParameterInfo> describe_parameters();

/// The names of the built-in presets, such as "fast".
std::vector<std::string> preset_names();

}  // namespace diacut
