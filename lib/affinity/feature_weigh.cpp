#include "affinity/feature_weigh.hpp"

#include <fmt/format.h>

#include <string>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "affinity/feature_weigh.cl";

std::string options_of(const Stencil& stencil, const FeatureKernels& kernels) {
  return fmt::format("-DCENTRE={} -DFRONT={} -DCHANNELS={} -DUNIT={} -DBOUNDARY={} -DLOGISTIC={}",
                     stencil.centre(), FeatureWeigh::front(stencil), kernels.channels,
                     kernels.unit ? 1 : 0, kernels.boundary ? 1 : 0, kernels.logistic ? 1 : 0);
}

}  // namespace

FeatureWeigh::FeatureWeigh(Context& context, const Grid& grid, const Stencil& stencil,
                           const FeatureKernels& kernels)
    : context_(&context),
      grid_(grid),
      shape_(dia_shape(grid, stencil)),
      centre_(stencil.centre()),
      plane_(plane(grid, stencil)),
      offsets_(context.allocate<std::int64_t>(stencil.size(), "the matrix's offsets")),
      entries_(context.allocate<cl_int2>(stencil.size(), "the stencil's entries")) {
  offsets_.upload(shape_.offsets);
  std::vector<cl_int2> entries;
  for (const auto& [dx, dy] : stencil.entries) entries.push_back({{dx, dy}});
  entries_.upload(entries);
  const std::string options = options_of(stencil, kernels);
  norms_ = context.kernel(kFile, "feature_norms", options);
  invert_ = context.kernel(kFile, "feature_inverse_norms", options);
  distances_ = context.kernel(kFile, "feature_distances", options);
  weights_ = context.kernel(kFile, "feature_weights", options);
  mirror_ = context.kernel(kFile, "feature_mirror", options);
}

// In an image narrower than the stencil, offsets of later neighbours may lead back, by less than
// the radius.
std::size_t FeatureWeigh::front(const Stencil& stencil) {
  return static_cast<std::size_t>(stencil.radius);
}

std::size_t FeatureWeigh::plane(const Grid& grid, const Stencil& stencil) {
  const auto radius = static_cast<std::size_t>(stencil.radius);
  const std::size_t behind = radius * static_cast<std::size_t>(grid.stride) + radius;
  return front(stencil) + grid.rows() + behind;
}

void FeatureWeigh::add_norms(const Buffer<float>& block, Buffer<float>& norms) {
  set_arguments(norms_, block, plane_, grid_.rows(), norms);
  launch_rows(*context_, norms_, grid_.rows(), 1);
}

void FeatureWeigh::invert_norms(Buffer<float>& norms) {
  set_arguments(invert_, norms, grid_.rows());
  launch_rows(*context_, invert_, grid_.rows(), 1);
}

void FeatureWeigh::add_distances(const Buffer<float>& block, const Buffer<float>& norms, bool first,
                                 Buffer<float>& values) {
  if (centre_ == 0) return;
  set_arguments(distances_, block, plane_, norms, offsets_, grid_.rows(), shape_.pitch,
                first ? 1 : 0, values);
  launch_rows(*context_, distances_, grid_.rows(), centre_);
}

void FeatureWeigh::weights(const Buffer<std::uint8_t>& valid, float inverse_scale,
                           const AffinityWeight& weight, Buffer<float>& values) {
  set_arguments(weights_, values, valid, entries_, grid_.width, grid_.height, grid_.stride,
                shape_.pitch, inverse_scale, weight.inverse_scale, weight.bias, weight.slope);
  launch_rows(*context_, weights_, shape_.pitch, centre_ + 1);
  set_arguments(mirror_, values, offsets_, grid_.rows(), shape_.pitch);
  launch_rows(*context_, mirror_, shape_.pitch, centre_);
}

}  // namespace diacut
