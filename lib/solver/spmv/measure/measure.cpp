#include "spmv/measure/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "matrix/device_matrix.hpp"

namespace diacut {

namespace {

constexpr std::size_t kMeasureGroup = 256;
constexpr std::size_t kMemorySteps = 8;
constexpr std::size_t kFlopSteps = 256;
constexpr std::size_t kGroupsPerUnit = 32;

KernelFile control_kernels(Context& context, int floats, std::size_t steps) {
  return {context, "spmv/measure/control.cl",
          fmt::format("-DELEMENT=float{} -DSTEPS={}", floats == 1 ? "" : std::to_string(floats),
                      steps)};
}

std::uint32_t mix(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

}  // namespace

Control::Control(Context& context, int floats)
    : context_(&context),
      floats_(static_cast<std::size_t>(floats)),
      group_(std::min(kMeasureGroup, context.info().max_work_group)),
      memory_(control_kernels(context, floats, kMemorySteps)),
      arithmetic_(control_kernels(context, floats, kFlopSteps)) {}

std::size_t Control::granularity() const { return floats_ * group_ * kMemorySteps; }

void Control::read(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  memory_.launch("control_read", cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_),
                 in, out);
}

void Control::write(Buffer<float>& out, std::size_t count) {
  memory_.launch("control_write", cl::NDRange(count / floats_ / kMemorySteps), cl::NDRange(group_),
                 out, 1.5f);
}

double Control::flops(Buffer<float>& out) {
  const std::size_t items = context_->info().compute_units * kGroupsPerUnit * group_;
  arithmetic_.launch("control_flops", cl::NDRange(items), cl::NDRange(group_), out, 0.5f);
  return 2.0 * 16.0 * static_cast<double>(kFlopSteps * floats_ * items);
}

void Control::copy(const Buffer<float>& in, Buffer<float>& out, std::size_t count) {
  const std::size_t elements = count / floats_;
  memory_.launch("control_copy", cl::NDRange(round_up(elements, group_)), cl::NDRange(group_), in,
                 out, elements);
}

void random_matrix(Context& context, const RandomMatrixShape& shape, std::uint32_t seed,
                   Buffer<float>& values) {
  auto steps = context.allocate<StencilOffset>(shape.steps.size(), "a random matrix's neighbours");
  steps.upload(shape.steps);
  KernelFile(context, "spmv/measure/random_matrix.cl", {})
      .launch("random_matrix", cl::NDRange(shape.pitch, shape.steps.size()), cl::NullRange, steps,
              shape.grid.width, shape.grid.height, seed, shape.pitch, values);
  context.finish();
}

float reference_random_element(const RandomMatrixShape& shape, std::uint32_t seed, std::size_t d,
                               std::size_t row) {
  const Grid& grid = shape.grid;
  const auto width = static_cast<std::size_t>(grid.width);
  const auto x = static_cast<std::int64_t>(row % width);
  const auto y = static_cast<std::int64_t>(row / width);
  const std::int64_t to_x = x + shape.steps[d].dx;
  const std::int64_t to_y = y + shape.steps[d].dy;
  if (y >= grid.height) return 0.0f;
  if (to_x < 0 || to_x >= grid.width || to_y < 0 || to_y >= grid.height) return 0.0f;
  const std::uint32_t hash = mix(static_cast<std::uint32_t>(row) + 0x9e3779b9U);
  const std::uint32_t bits = mix(hash ^ (seed + static_cast<std::uint32_t>(d))) >> 8;
  return static_cast<float>(bits | 1) * 0x1p-24f;
}

double median_milliseconds(Context& context, int repeats, const std::function<void()>& enqueue) {
  const auto batch = [&](int calls) {
    const cl::Event begin = context.mark();
    for (int i = 0; i < calls; ++i) enqueue();
    const cl::Event end = context.mark();
    context.finish();
    return milliseconds_between(begin, end) / calls;
  };
  constexpr double kBatchMilliseconds = 20.0;
  constexpr int kMaxCalls = 500;
  batch(1);  // Compiles, and brings memory in.
  const double once = std::max(batch(2), 1e-4);
  const int calls = std::clamp(static_cast<int>(kBatchMilliseconds / once), 1, kMaxCalls);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(batch(calls));
  return median(std::move(times));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

RandomMatrixShape random_vector_shape(std::size_t count) {
  return {{static_cast<int>(count), 1}, count, {{0, 0}}};
}

CopyBandwidth copy_bandwidth(Context& context, int floats, std::size_t bytes, int repeats) {
  constexpr std::size_t kWidest = 16;
  const std::size_t count = round_up(bytes / (2 * sizeof(float)), kWidest);
  Buffer<float> in = context.allocate<float>(count, "what is copied");
  Buffer<float> out = context.allocate<float>(count, "its copy");
  random_matrix(context, random_vector_shape(count), 1, in);
  Control control(context, floats);
  CopyBandwidth result;
  result.floats = floats;
  result.bytes = 2 * count * sizeof(float);
  result.milliseconds =
      median_milliseconds(context, repeats, [&] { control.copy(in, out, count); });
  result.gigabytes_per_second = static_cast<double>(result.bytes) / result.milliseconds * 1e-6;
  return result;
}

CopyBandwidth best_copy_bandwidth(Context& context, std::size_t bytes, int repeats) {
  CopyBandwidth best;
  for (const int floats : {1, 2, 4}) {
    const CopyBandwidth copy = copy_bandwidth(context, floats, bytes, repeats);
    if (copy.gigabytes_per_second > best.gigabytes_per_second) best = copy;
  }
  return best;
}

std::size_t memory_yardstick(Context& context, std::size_t bytes) {
  constexpr std::size_t kLeast = std::size_t{256} << 20;
  const std::size_t cache = with_device_errors("asking for the cache's size", [&] {
    return context.queue().getInfo<CL_QUEUE_DEVICE>().getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  });
  const std::size_t most = context.info().global_memory / 4;
  return std::min(std::max({bytes, kLeast, 2 * cache}), most);
}

ProductRate measure_product(const DeviceMatrix& matrix, int repeats) {
  DeviceMatrix::State& state = matrix.state();
  const auto turn = state.turn();
  Context& context = state.context();
  ProductRate rate;
  double& copy = state.queue.state().copy;
  if (copy == 0) {
    copy = best_copy_bandwidth(context, memory_yardstick(context), repeats).gigabytes_per_second;
  }
  rate.copy = copy;
  if (state.rows == 0 || state.cols == 0) return rate;
  auto in = context.allocate<float>(state.cols, "a vector");
  auto out = context.allocate<float>(state.rows, "a product");
  in.fill(1);
  rate.milliseconds =
      median_milliseconds(context, repeats, [&] { state.launch(in, out, {}, false); });
  if (rate.milliseconds > 0) {
    rate.gflops = 2e-6 * static_cast<double>(state.nonzeros) / rate.milliseconds;
    rate.gigabytes_per_second = 1e-6 * static_cast<double>(matrix.bytes()) / rate.milliseconds;
  }
  return rate;
}

}  // namespace diacut
