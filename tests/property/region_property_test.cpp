#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "boundary_maps.hpp"
#include "drawn_graph.hpp"
#include "label_checks.hpp"
#include "region/arcs/parts.hpp"
#include "region/region.hpp"

namespace diacut::testing {
namespace {

/// Rectangles of up to four classes, no data among them, on one background.
Drawing random_drawing(std::mt19937& random) {
  const int width = random_int(random, 1, 14);
  const int height = random_int(random, 1, 14);
  Drawing drawing(static_cast<std::size_t>(height),
                  std::string(static_cast<std::size_t>(width), 'a'));
  const int shapes = random_int(random, 0, 6);
  for (int s = 0; s < shapes; ++s) {
    const int left = random_int(random, 0, width - 1);
    const int top = random_int(random, 0, height - 1);
    const int right = random_int(random, left, width - 1);
    const int bottom = random_int(random, top, height - 1);
    const char c = " bcd"[random_int(random, 0, 3)];
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        drawing[y][x] = c;
      }
    }
  }
  return drawing;
}

/// Labels that have a neighbour of another label.
std::set<std::int32_t> with_neighbours(const Labels& labels) {
  std::set<std::int32_t> found;
  const auto touch = [&](std::size_t i, std::size_t j) {
    const std::int32_t a = labels.values[i];
    const std::int32_t b = labels.values[j];
    if (a != b && a != 0 && b != 0) found.insert({a, b});
  };
  const auto width = static_cast<std::size_t>(labels.width);
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if ((i + 1) % width != 0) touch(i, i + 1);
    if (i + width < labels.values.size()) touch(i, i + width);
  }
  return found;
}

TEST(RegionProperties, LabelsKeepTheirContractForAnyInput) {
  std::mt19937 random(20240518);
  for (int trial = 0; trial < 300; ++trial) {
    const Drawing drawing = random_drawing(random);
    DrawnGraph graph(drawing, std::uniform_real_distribution<double>(0.0, 0.5)(random),
                     random_int(random, 1, 3));
    // Noise in the weights, kept symmetric.
    std::uniform_real_distribution<double> noise(0.2, 1.0);
    for (Eigen::Index i = 0; i < graph.weights().rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        graph.weights()(i, j) *= noise(random);
        graph.weights()(j, i) = graph.weights()(i, j);
      }
    }
    Eigenvectors eigenvectors = graph.eigenvectors(random_int(random, 1, 9));
    const std::vector<float>& root = eigenvectors.sqrt_degree;
    if (trial % 3 == 0) {
      std::normal_distribution<float> rough(0.0f, 0.1f);
      for (std::vector<float>& vector : eigenvectors.vectors) {
        for (std::size_t i = 0; i < vector.size(); ++i)
          vector[i] += root[i] > 0 ? rough(random) : 0;
      }
    }
    std::vector<std::int32_t> data(root.size());
    std::transform(root.begin(), root.end(), data.begin(), [](float s) { return s > 0 ? 1 : 0; });
    const int pixels = static_cast<int>(std::count(data.begin(), data.end(), 1));
    const auto pieces =
        static_cast<int>(connected_parts(graph.width(), graph.height(), data).count);

    RegionParameters parameters;
    const int min_size = random_int(random, 1, 12);
    parameters.method = RegionMethod::kKway;
    parameters.min_size = {LeastSize::Unit::kPixels, static_cast<double>(min_size)};
    parameters.max_ncut = std::uniform_real_distribution<double>(0.0, 1.0)(random);
    parameters.regions = trial % 2 == 0 ? 0 : random_int(random, 0, pixels);
    SCOPED_TRACE(::testing::Message()
                 << "trial " << trial << ", " << graph.width() << "x" << graph.height() << ", "
                 << parameters.regions << " regions of " << pixels << " pixels, at least "
                 << min_size);
    std::vector<std::string> notes;
    const Labels labels = segment_regions(eigenvectors, graph, parameters, notes).labels;
    expect_labels_contract(labels, graph.width(), graph.height(), {data.begin(), data.end()});
    if (parameters.regions > 0) {
      EXPECT_EQ(labels.count, std::max(parameters.regions, pieces));
      EXPECT_EQ(notes.size(), pieces > parameters.regions ? 1u : 0u);
    } else {
      std::vector<std::int64_t> size(static_cast<std::size_t>(labels.count) + 1, 0);
      for (const std::int32_t label : labels.values) ++size[label];
      for (const std::int32_t label : with_neighbours(labels)) {
        EXPECT_GE(size[label], min_size);
      }
    }
    std::vector<std::string> again;
    EXPECT_EQ(segment_regions(eigenvectors, graph, parameters, again).labels.values, labels.values);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace diacut::testing
