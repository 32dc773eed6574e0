#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "doctor/examine.hpp"
#include "eigen/lanczos/basis.hpp"
#include "matrix/device_profile.hpp"
#include "matrix/matvec.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

namespace {

constexpr double kGiga = 1e9;

/// Seconds of one call of `work` on the device: the shortest of some runs after the first one.
double seconds_of(Context& context, const std::function<void()>& work) {
  constexpr int kRuns = 7;
  work();
  context.finish();
  double shortest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const cl::Event begin = context.mark();
    work();
    const cl::Event end = context.mark();
    context.finish();
    shortest = std::min(shortest, milliseconds_between(begin, end) / 1000);
  }
  // A device whose clock is too coarse for it gets the least time that the clock tells.
  return std::max(shortest, 1e-9);
}

/// The sides of an image whose matrix is far larger than any cache, and still quickly multiplied.
Grid measured_grid(const DeviceInfo& device) {
  const int side = device.kind == DeviceKind::kCpu ? 512 : 1024;
  return {side, side, side};
}

void measure_copy(Context& context, DeviceSpeed& speed) {
  const std::size_t floats = std::size_t{1} << (context.info().kind == DeviceKind::kCpu ? 23 : 26);
  BasisKernels kernels(context, floats, 1);
  Buffer<float> from = context.allocate<float>(floats, "values to copy");
  Buffer<float> to = context.allocate<float>(floats, "copied values");
  from.fill(1);
  const double seconds = seconds_of(context, [&] { kernels.copy(from, 0, 1, to); });
  speed.copy_gigabytes = 2 * static_cast<double>(floats * sizeof(float)) / seconds / kGiga;
}

void measure_product(Context& context, DeviceSpeed& speed) {
  const Grid grid = measured_grid(context.info());
  const Stencil stencil = disc_stencil(5);
  const DiaShape shape = dia_shape(grid, stencil);
  Buffer<float> values = context.allocate<float>(shape.stored(), "the matrix");
  Buffer<float> degrees = context.allocate<float>(grid.rows(), "degrees");
  values.fill(1.0F / 128);
  degrees.fill(1);
  const NormalizedMatrix matrix(Batch(grid), stencil, std::move(values), std::move(degrees));
  const MatvecChoice choice = choose_matvec({}, context.info(), shape);
  const std::unique_ptr<DeviceOperator> op = make_matvec(context, matrix, choice);
  Buffer<float> in = context.allocate<float>(grid.rows(), "a vector");
  Buffer<float> out = context.allocate<float>(grid.rows(), "its product");
  in.fill(1);
  const double seconds = seconds_of(context, [&] { op->perform_op(in, out); });
  const auto entries = static_cast<double>(shape.rows * stencil.size());
  const double bytes = (entries + 2.0 * static_cast<double>(shape.rows)) * sizeof(float);
  speed.product = choice.name();
  speed.product_gigabytes = bytes / seconds / kGiga;
  speed.product_gflops = 2 * entries / seconds / kGiga;
  const MatvecProfileChoice profile = find_matvec_profile(context.info());
  if (profile.profile) {
    if (const auto rate = profile.profile->fastest(shape.rows)) {
      speed.profile_product_gflops = rate->gflops;
    }
  }
}

}  // namespace

DeviceSpeed measure_speed(Context& context) {
  DeviceSpeed speed;
  measure_copy(context, speed);
  measure_product(context, speed);
  speed.profile = find_profile(context.info(), [&](const nlohmann::json& root) {
                    speed.profile_copy_gigabytes = root.value("copy_gigabytes_per_second", 0.0);
                  }).source;
  return speed;
}

}  // namespace diacut
