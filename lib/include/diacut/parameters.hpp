#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"

/// @file
/// Every number that steers a run, one struct for each stage, and how they are read from
/// configurations, changed and printed. The defaults here equal configs/default.toml.
namespace diacut {

/// What computes the boundary map.
enum class CueKind {
  kLearned,   ///< A convolutional network, trained on boundaries that people drew in photographs.
  kGradient,  ///< First derivatives of a Gaussian, in the colours of CIE Lab.
};

/// In which of the eight turned and mirrored forms of an image a network sees it.
enum class CuePose {
  kGiven,  ///< As the image is.
  /// In the form whose brightness grows upwards more than it grows sideways, and grows to the left:
  /// the same for an image and for its turned and mirrored forms, which thereby get the turned and
  /// mirrored boundary map, up to rounding. Brightness is measured by its first moments. An image
  /// whose moments tie is seen as it is.
  kCanonical,
};

/// How the boundary map is computed from the image: at each pixel, how strong a boundary is, in
/// [0, 1].
struct CueParameters {
  CueKind kind = CueKind::kLearned;  ///< What computes it.
  /// kLearned: the name of a network that is built in, or a .safetensors file; empty: "default".
  /// Several, separated by commas, are averaged.
  std::string weights;
  /// kLearned: the factors by which the image is resized; the network's maps are averaged.
  std::vector<double> scales = {0.5, 1.0};
  /// kLearned: in how many turned and mirrored forms the network sees the image; its maps, turned
  /// back, are averaged. 1: as it is; 2: and mirrored left to right; 4: turned by multiples of 90
  /// degrees; 8: those and their mirror images, so that a turned or mirrored image gets the turned
  /// or mirrored map, up to rounding.
  int turns = 1;
  /// kLearned: the form of the image that counts as the one as it is for `turns`.
  CuePose pose = CuePose::kGiven;
  /// kLearned: side of the squares in which larger images go through the network, pixels. Larger
  /// squares take more memory, and less is computed twice.
  int tile = 1024;
  /// kLearned: width by which the image is mirrored beyond its edges at each scale, pixels. Without
  /// it the network finds boundaries along the edges of the image.
  int border = 24;
  double sigma = 1.0;  ///< kGradient: standard deviation of the Gaussian, pixels.
  /// kGradient: the quantile of the gradient's magnitude that becomes strength 1.
  double quantile = 0.99;
  /// kGradient: the least magnitude that may become strength 1, Lab units (L in [0, 100]) a pixel.
  /// It keeps the noise of flat images from becoming boundaries.
  double floor = 2.0;
  /// kGradient: whether to keep the ridge of each boundary alone, by non-maximum suppression across
  /// the gradient.
  bool thin = true;
};

/// How an intervening contour ic becomes an affinity W.
enum class AffinityFormula {
  /// As the authors of gPb released it: p = 1/(1 + exp(-(1.8682 - 1.3113 ic/.3130))),
  /// W = exp(-(1 - p)/scale).
  kLogistic,
  /// W = exp(-ic/scale) (P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, "Contour detection and
  /// hierarchical image segmentation", 2011, equation 8).
  kExponential,
};

/// How the distance of two pixels' features f_i and f_j is measured, where an image comes with
/// features (see diacut::FeatureMap).
enum class FeatureMeasure {
  /// |f_i/|f_i| - f_j/|f_j||, the root of 2 - 2 cos(f_i, f_j): how long a pixel's features are does
  /// not count (A. Ng, M. Jordan and Y. Weiss, "On spectral clustering", 2001, normalize rows so).
  kCosine,
  /// |f_i - f_j| (J. Shi and J. Malik, "Normalized cuts and image segmentation", 2000, equation
  /// 11).
  kGaussian,
};

/// How the affinity of two pixels is computed. From the boundary map: by the intervening contour
/// ic, the largest boundary strength on the line between them (T. Leung and J. Malik, "Contour
/// continuity in region based image segmentation", 1998). From features of the caller's: by their
/// distance d, as W = exp(-d^2 / (2 feature_scale^2)).
struct AffinityParameters {
  int radius = 5;  ///< Pixels up to this distance apart have an affinity; 1 to 10 pixels.
  /// A pixel has an affinity to those at each offset within `radius` times each of these strides.
  /// Ascending, the first is 1, the largest at most 16, at most 4 of them. {1, 2, 4} reaches four
  /// times as far as {1}.
  std::vector<int> strides = {1};
  AffinityFormula formula = AffinityFormula::kLogistic;  ///< How ic becomes the affinity.
  double scale = 0.1;                                    ///< The formula's scale.
  /// With features: how their distance is measured.
  FeatureMeasure feature_measure = FeatureMeasure::kCosine;
  /// With features: the distance at which the affinity is exp(-1/2). 0: 0.15 of the range of the
  /// distances of pixels `radius` apart in a row or column (Segmentation::feature_scale tells it).
  double feature_scale = 0;
  /// With features: whether the affinity is multiplied by that of the boundary map. Otherwise there
  /// is no boundary map: no network runs, and contours are the spectral contour alone.
  bool with_boundary = false;
};

/// The kernel of the matrix-vector product, by its name in the kernel's file, matvec_NAME.cl. All
/// give one product up to rounding.
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
  kAuto,       ///< kMinifloat if `symmetric` is asked for; with MatvecKind::kAuto the fastest of
               ///< those that keep EigenParameters::tolerance.
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
  /// Eigenvectors, with the trivial eigenvector, which is known beforehand: 17 leaves 16 to
  /// compute.
  int vectors = 17;
  /// Residual norm |A x - theta x| at which an eigenvector counts as converged. The norm of A is 1.
  double tolerance = 1e-4;
  /// With a number above 0, at most 1, an eigenvector also has to have a residual norm of at most
  /// this times its eigenvalue 1 - theta, or of kResidualFloor if that is more. Not for
  /// SolverKind::kSpectra.
  double relative_tolerance = 0;
  int basis = 0;  ///< Lanczos: the most basis vectors at once; 0: chosen by the solver.
  /// Lanczos: degree of the Chebyshev polynomial between two steps; 1: no filter; 0: chosen from
  /// the size of the image.
  int filter_degree = 0;
  int max_products = 20'000;  ///< Products with the matrix after which the solver gives up.
};

/// By which eigenvectors contours take the spectral contour in.
enum class SpectralUse {
  /// By 16 eigenvectors of a decimated grid, interpolated: as exact as contours need them. With
  /// features, a radius of 1 or several strides as kFull.
  kDecimated,
  kFull,   ///< By those of the image's own grid, as EigenParameters asks for them.
  kNever,  ///< By none: contours are those of the boundary map.
};

/// How the boundary map b and the spectral contour s become one map of contours, at most 1:
/// cue_weight * b + spectral_weight * min(s / spectral_scale, 1)^spectral_power (P. Arbelaez,
/// M. Maire, C. Fowlkes and J. Malik, "Contour detection and hierarchical image segmentation",
/// 2011, equation 14).
struct ContourParameters {
  /// By which eigenvectors s is computed. With kNever its term is 0. With kNever and kDecimated,
  /// eigenvectors of the image's own grid are computed for RegionMethod::kKway and for who wants
  /// them (Segmenter::keep_eigenvectors()) alone.
  SpectralUse spectral = SpectralUse::kDecimated;
  double cue_weight = 0.8;         ///< Weight of the boundary map.
  double spectral_weight = 0.2;    ///< Weight of the spectral contour.
  double spectral_power = 0.7071;  ///< Exponent of the spectral contour.
  double spectral_scale = 100;     ///< The spectral contour that counts as 1.
};

/// How regions are found.
enum class RegionMethod {
  kHierarchy,  ///< As a cut of a hierarchy of all regions (see diacut::Hierarchy).
  kKway,       ///< As direct cuts by the eigenvectors.
  kWalker,     ///< From seeds, by the random walker (see diacut::Seeds).
  kObjects,    ///< As kHierarchy; the regions of its cut that lie inside of objects alone.
};

/// By what a hierarchy merges regions.
enum class MergingRule {
  /// kLearned where the boundary map comes from a network, kStrength elsewhere: with a boundary map
  /// of the user's, with features alone and with CueKind::kGradient, whose strengths mean something
  /// else.
  kAuto,
  /// By the probability that two regions are different things, which is computed from their
  /// boundary, areas and colours by weights that were fitted to segmentations that people drew.
  kLearned,
  /// By the mean strength of their boundary.
  kStrength,
};

/// How labels grow from seeds (L. Grady, "Random walks for image segmentation", 2006).
struct WalkerParameters {
  /// Error of the solution at which a label's linear system counts as solved, relative to the
  /// solution, in the norm that the system's matrix defines.
  double tolerance = 1e-4;
  int max_iterations = 500;  ///< Iterations of conjugate gradients after which they give up.
};

/// The least size of a region.
struct LeastSize {
  /// What the size is given in.
  enum class Unit {
    /// kHierarchy: 0.1% of the pixels with data; where K regions are asked for 0.03%, but at most a
    /// quarter of the mean size of K regions. kKway: 50 pixels.
    kAutomatic,
    kPixels,  ///< Pixels.
    kShare,   ///< A share of the pixels with data, in [0, 1].
  };
  Unit unit = Unit::kAutomatic;  ///< How `value` is meant.
  double value = 0;              ///< The size in `unit`; 0 for kAutomatic.

  /// Compares units and values.
  bool operator==(const LeastSize&) const = default;
};

/// Reads "auto", a number of pixels ("500") or a share of the pixels with data ("0.2%"). Returns
/// the size; nothing if the text is of none of these forms.
std::optional<LeastSize> parse_least_size(const std::string& text);

/// Writes a size as parse_least_size() reads it.
std::string to_string(const LeastSize& size);

/// How regions are found from contours or eigenvectors.
struct RegionParameters {
  RegionMethod method = RegionMethod::kHierarchy;  ///< How regions are found.
  /// How many regions are wanted; 0 leaves it to the image. kHierarchy: cut_to_count(), and for 0 a
  /// cut at `threshold`. kKway: recursive two-way cuts (J. Shi and J. Malik, "Normalized cuts and
  /// image segmentation", 2000) while they are cheap, whose regions are then joined or cut further
  /// until there are so many.
  int regions = 0;
  /// kKway: a two-way cut is made while its normalized cut, in [0, 2], is at most this in an image
  /// of 481 x 321 pixels. In other images the limit is multiplied by sqrt(154401 / pixels), because
  /// equal shapes in a larger image have smaller normalized cuts.
  double max_ncut = 0.01;
  /// kKway: a two-way cut is made only where the mean affinity of the direct neighbours that it
  /// parts is at most this share of the mean affinity of direct neighbours in the region. It keeps
  /// flat regions in one piece: their halves have a small normalized cut too.
  double max_flatness = 0.25;
  /// Smaller regions join a neighbour: kHierarchy: the one across the weakest boundary (see
  /// without_small_regions()). kKway: the one that they are most alike; pixels that are more
  /// alike to other regions than to their own do not count in a region's size.
  LeastSize min_size;
  MergingRule merging = MergingRule::kAuto;  ///< kHierarchy, kObjects: by what regions merge.
  /// MergingRule::kLearned: a file of weights, or "boundary", weights that are built in and were
  /// fitted to contours without eigenvectors; empty: those built in that suit ContourParameters and
  /// the network.
  std::string merging_weights;
  /// kHierarchy, kObjects: height of the automatic cut, in [0, 1]: regions merge over boundaries of
  /// at most this probability or mean strength. Empty: for MergingRule::kLearned what the weights
  /// say, for MergingRule::kStrength 0.3.
  std::optional<double> threshold;
  /// kHierarchy: how much the angle counts between a boundary's own direction and the line that it
  /// is part of, in [0, 1]: strength is multiplied by 1 - direction + direction |cos(angle)|.
  double direction = 1.0;
  /// kObjects: a region is an object if the mean of the inside map over its pixels is above this;
  /// in [0, 1].
  double inside = 0.5;
};

/// Every parameter of a run.
struct Parameters {
  ImageParameters image;        ///< How files are read.
  CueParameters cue;            ///< How the boundary map is computed.
  AffinityParameters affinity;  ///< How affinities are computed.
  MatvecParameters matvec;      ///< How the matrix-vector product is computed.
  EigenParameters eigen;        ///< How eigenvectors are computed.
  ContourParameters contour;    ///< How contours are computed.
  RegionParameters region;      ///< How regions are found.
  WalkerParameters walker;      ///< How labels grow from seeds.
};

/// Whether a run finds regions as cuts of a hierarchy (see diacut::Hierarchy). Returns true with
/// RegionMethod::kHierarchy and RegionMethod::kObjects.
bool makes_hierarchy(const Parameters& parameters);

/// Checks every parameter. Throws ConfigError naming the first parameter out of its range, or two
/// that contradict each other.
void validate(const Parameters& parameters);

/// Reads a configuration. `base`: the values of parameters that the text leaves out. Throws
/// ConfigError naming configuration, line and key: syntax, unknown keys (with the nearest known
/// one), wrong types, values out of range.
Parameters parse_parameters(const std::string& toml, const std::string& name,
                            const Parameters& base = {});

/// Reads a preset or a configuration file. `preset_or_path`: the name of a preset (see
/// preset_names()), or the path of a TOML file. Throws ConfigError as parse_parameters() does, and
/// when there is no such preset or file.
Parameters load_parameters(const std::string& preset_or_path);

/// Sets one parameter. Contradictions between two parameters are left to validate(), because one of
/// them is set before the other. `key`: its name in a configuration, as "eigen.vectors". `value`:
/// its value as text, as "17". Throws ConfigError for an unknown name (with the nearest known one)
/// or a value out of range.
void set_parameter(Parameters& parameters, const std::string& key, const std::string& value);

/// Prints a configuration with every key, its unit and its meaning as a comment. Returns the text,
/// which parse_parameters() reads.
std::string print_parameters(const Parameters& parameters);

/// Lists every parameter. Returns keys with their values as text, in the order of
/// print_parameters().
std::vector<std::pair<std::string, std::string>> list_parameters(const Parameters& parameters);

/// What a person should know of a parameter, for help texts.
struct ParameterInfo {
  std::string key;      ///< Its name in a configuration, as "affinity.radius".
  std::string unit;     ///< "pixels"; empty for flags, names and pure numbers.
  std::string allowed;  ///< "an integer from 1 to 10".
  std::string meaning;  ///< In sentences, with the source.
};

/// Describes every parameter. Returns the parameters in the order of print_parameters().
std::vector<ParameterInfo> describe_parameters();

/// The presets that are built in. Returns their names, as "fast".
std::vector<std::string> preset_names();

}  // namespace diacut
