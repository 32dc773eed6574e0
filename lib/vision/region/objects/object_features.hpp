#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"

namespace diacut {

/// The figures of the nodes of a merge tree, by node; element 0 is no node. Of each hierarchy here,
/// check() holds.
struct NodeFigures {
  std::vector<std::int64_t> area;  ///< Pixels.
  /// Height of the merge that takes the node less the height of the one that made it, which is 0
  /// for a leaf. Negative for roots.
  std::vector<float> contrast;
};

NodeFigures node_figures(const Hierarchy& hierarchy);

/// The solidity of each node: its area divided by the area of the convex hull of its pixels'
/// corners. Nodes of more than `most` pixels get 0, and so does element 0. `area`: of each node.
std::vector<double> node_solidity(const Hierarchy& hierarchy, const std::vector<std::int64_t>& area,
                                  std::int64_t most);

inline constexpr std::size_t kObjectFeatures = 12;

/// What is known of a node of a merge tree that may be an object, as files name it. The brightness
/// of a pixel is the mean of its channels; the surroundings are the pixels across the node's
/// boundary, each as often as it has neighbours in the node.
inline constexpr std::array<const char*, kObjectFeatures> kObjectFeatureNames = {
    "contrast",                   // NodeFigures::contrast.
    "height",                     // The height at which the node merges.
    "solidity",                   // node_solidity().
    "log_area",                   // The natural logarithm of the pixels.
    "above_sibling",              // Mean brightness less that of the node that it merges with.
    "step",                       // Mean difference of brightness across the boundary.
    "above_surroundings",         // Mean brightness less that of the surroundings.
    "deviation",                  // Standard deviation of the brightness.
    "above_median",               // Mean brightness less the picture's median, in deviations of it.
    "above_surroundings_scaled",  // above_surroundings in standard deviations of the picture.
    "surroundings_above_median",  // As above_median, of the surroundings.
    "roundness"};  // 4 pi area / perimeter^2, the perimeter pi / 4 of its pixel sides.

using ObjectFeatures = std::array<double, kObjectFeatures>;

/// The nodes of a merge tree that do not overlap and whose scores have the greatest sum, by dynamic
/// programming: best(node) = max(score(node), best(first child) + best(second child)). A node that
/// scores as much as the best choice below it is chosen itself, and one of score 0 or less never.
/// Returns the chosen nodes in ascending order. Time and memory grow with the nodes.
std::vector<std::int32_t> best_nodes(const Hierarchy& hierarchy, const std::vector<double>& score);

/// Whether objects are brighter than what is around them, or darker.
enum class Polarity { kBright, kDark };

/// The features of the nodes of one merge tree on its image.
class NodeMeasures {
 public:
  /// Figures and solidity are those of the hierarchy, which must outlive this, and the image has
  /// its size.
  NodeMeasures(const Hierarchy& hierarchy, const NodeFigures& figures,
               const std::vector<double>& solidity, const Image& image);

  /// Precondition: the node is not a root. For Polarity::kDark each difference of brightness has
  /// the other sign.
  ObjectFeatures features(std::size_t node, Polarity polarity) const;

  /// The mean brightness of the node less that of the node that it merges with; 0 for roots.
  double above_sibling(std::size_t node) const {
    const auto sibling = static_cast<std::size_t>(sibling_[node]);
    return sibling == 0 ? 0 : mean(node) - mean(sibling);
  }

 private:
  /// Sums over the pixels of a node and over the sides of pixels on its boundary.
  struct Sums {
    double brightness = 0;
    double squares = 0;
    double sides = 0;
    double within = 0;   ///< Brightness on this side of the boundary.
    double without = 0;  ///< And beyond it.
  };

  void add_pixels(const std::vector<double>& brightness);
  void add_sides(const std::vector<double>& brightness);
  void measure_picture(const std::vector<double>& brightness);
  double mean(std::size_t node) const {
    return sums_[node].brightness / static_cast<double>(area_[node]);
  }

  const Hierarchy& hierarchy_;
  std::vector<std::int64_t> area_;
  std::vector<double> solidity_;
  std::vector<float> contrast_;
  std::vector<float> height_;  ///< Of the merge that takes a node; 0 for roots.
  std::vector<std::int32_t> sibling_;
  std::vector<Sums> sums_;
  double median_ = 0;
  double deviation_ = 0;
};

/// How likely a node is an object: logistic regression on the features and their products of two,
/// each feature as (value - mean) / deviation, limited to -kMostDeviations to kMostDeviations.
struct ObjectModel {
  static constexpr double kMostDeviations = 4;
  static constexpr std::size_t kProducts = kObjectFeatures * (kObjectFeatures + 1) / 2;

  double least = 0.5;  ///< Nodes of at most this probability are no objects.
  double bias = 0;
  ObjectFeatures mean = {};
  ObjectFeatures deviation = {};
  std::array<double, kObjectFeatures> weights = {};
  std::array<double, kProducts> products = {};  ///< Of features i <= j, by i, then by j.

  double probability(const ObjectFeatures& features) const;
};

/// The model that is built in, of nuclei on micrographs (docs/objects.md).
const ObjectModel& nuclei_model();

/// The model in the text of a file that messages call `name`, which comes with the program. Throws
/// ConfigError where it is of other features.
ObjectModel parse_object_model(const std::string& text, const std::string& name);

}  // namespace diacut
