#pragma once

#include <cstddef>

#include "affinity/feature_affinity.hpp"
#include "diacut/features.hpp"
#include "matrix/grid.hpp"

namespace diacut {

/// Features of the caller's, which are resized to a grid some channels at a time. The map must
/// outlive the object.
class HostFeatures final : public FeatureSource {
 public:
  HostFeatures(const FeatureMap& features, const Grid& grid) : features_(features), grid_(grid) {}

  int channels() const override { return features_.channels; }
  /// Waits for the device.
  void load(int first, int count, std::size_t pitch, std::size_t offset,
            Buffer<float>& block) override;

 private:
  const FeatureMap& features_;
  Grid grid_;
};

}  // namespace diacut
