#include "doctor/examine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "doctor/checks.hpp"
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

/// Measures the copy and the product on a device. Throws DeviceError.
DeviceSpeed measure_speed(Context& context) {
  DeviceSpeed speed;
  measure_copy(context, speed);
  measure_product(context, speed);
  speed.profile = find_profile(context.info(), [&](const nlohmann::json& root) {
                    speed.profile_copy_gigabytes = root.value("copy_gigabytes_per_second", 0.0);
                  }).source;
  return speed;
}

/// A check computes for far less than a second; the driver's compiler does not count.
constexpr double kWaitLimitSeconds = 60;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// All checks, in the order of the stages.
const std::vector<DeviceCheck>& device_checks() {
  static const std::vector<DeviceCheck> checks = [] {
    std::vector<DeviceCheck> all;
    for (const auto& of_stage :
         {boundary_checks(), affinity_checks(), product_checks(), solver_checks(), contour_checks(),
          region_checks(), walker_checks()}) {
      all.insert(all.end(), of_stage.begin(), of_stage.end());
    }
    return all;
  }();
  return checks;
}

/// Adds the names of the kernels that a kernel file defines.
void add_kernels(std::string_view file, std::string_view text, std::vector<std::string>& names) {
  constexpr std::string_view kKernel = "\n__kernel ";
  constexpr std::string_view kVoid = "void ";
  for (std::size_t at = text.find(kKernel); at != std::string_view::npos;
       at = text.find(kKernel, at + 1)) {
    const std::size_t name = text.find(kVoid, at) + kVoid.size();
    names.push_back(fmt::format("{}:{}", file, text.substr(name, text.find('(', name) - name)));
  }
}

/// One examination: a context that is opened anew after an error of the device.
class Examination {
 public:
  explicit Examination(const ExaminationOrder& order) : order_(order) {
    open();
    result_.device = context_->info();
  }

  DeviceExamination run(const Watch& watch) && {
    const Clock::time_point start = Clock::now();
    const std::vector<DeviceCheck>& checks = device_checks();
    for (std::size_t k = 0; k < checks.size() && result_.failure.empty(); ++k) {
      if (order_.quick && !checks[k].quick) continue;
      watch.report(checks[k].name, static_cast<double>(k) / static_cast<double>(checks.size()));
      result_.checks.push_back(checked(checks[k]));
    }
    if (order_.speed && result_.failure.empty()) measure(watch);
    list_kernels_not_run();
    result_.milliseconds = milliseconds_since(start);
    return std::move(result_);
  }

 private:
  void open() {
    context_.emplace(order_.device, order_.kernel_dir);
    if (order_.as_kind) context_->treat_as(*order_.as_kind);
    context_->set_wait_limit_seconds(kWaitLimitSeconds);
    context_->blank_allocations();
    context_->record_launches();
  }

  /// After an error a driver may refuse all further work in the context.
  void open_anew() {
    if (context_->lost()) {
      result_.failure = fmt::format(
          "{} no longer answers: restart the computer or its driver, or use another device",
          result_.device.name);
      return;
    }
    try {
      context_.reset();
      open();
    } catch (const Error& error) {
      result_.failure = error.what();
    }
  }

  CheckResult checked(const DeviceCheck& check) {
    CheckResult result;
    result.name = check.name;
    const Clock::time_point start = Clock::now();
    context_->forget_launches();
    Trial trial(*context_);
    try {
      with_device_errors(check.name, [&] {
        check.run(trial);
        context_->finish();
      });
      result.passed = true;
    } catch (const CancelledError&) {
      throw;
    } catch (const WrongAnswer& wrong) {
      result.finding = wrong.what();
    } catch (const Error& error) {
      result.finding = error.what();
    }
    result.error = trial.worst();
    result.kernels.assign(context_->launched().begin(), context_->launched().end());
    launched_.insert(result.kernels.begin(), result.kernels.end());
    result.milliseconds = milliseconds_since(start);
    if (!result.passed) open_anew();
    return result;
  }

  void measure(const Watch& watch) {
    watch.report("speed", 1);
    try {
      result_.speed =
          with_device_errors("measuring its speed", [&] { return measure_speed(*context_); });
    } catch (const DeviceMemoryError&) {
      // A small device is no broken one.
    } catch (const DeviceError& error) {
      result_.failure = error.what();
    }
  }

  void list_kernels_not_run() {
    const std::vector<std::string> all = kernels_of_library();
    std::set_difference(all.begin(), all.end(), launched_.begin(), launched_.end(),
                        std::back_inserter(result_.not_run));
  }

  const ExaminationOrder& order_;
  std::optional<Context> context_;
  DeviceExamination result_;
  std::set<std::string> launched_;
};

}  // namespace

bool DeviceExamination::sound() const {
  return failure.empty() && std::all_of(checks.begin(), checks.end(),
                                        [](const CheckResult& check) { return check.passed; });
}

std::vector<std::string> DeviceExamination::suspects() const {
  std::set<std::string> right;
  for (const CheckResult& check : checks) {
    if (check.passed) right.insert(check.kernels.begin(), check.kernels.end());
  }
  const auto failed = std::find_if(checks.begin(), checks.end(),
                                   [](const CheckResult& check) { return !check.passed; });
  std::set<std::string> suspects;
  for (auto check = failed; check != checks.end(); ++check) {
    for (const std::string& kernel : check->kernels) {
      if (!check->passed && !right.contains(kernel)) suspects.insert(kernel);
    }
  }
  if (suspects.empty() && failed != checks.end()) return failed->kernels;
  return {suspects.begin(), suspects.end()};
}

std::size_t DeviceExamination::kernels_checked() const {
  std::set<std::string> all;
  for (const CheckResult& check : checks) all.insert(check.kernels.begin(), check.kernels.end());
  return all.size();
}

DeviceExamination examine(const ExaminationOrder& order, const Watch& watch) {
  return Examination(order).run(watch);
}

DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir,
                                 const Watch& watch) {
  return examine({device, kernel_dir}, watch);
}

void check_device(const std::string& device, const std::string& kernel_dir) {
  const DeviceExamination found =
      examine({.device = device, .kernel_dir = kernel_dir, .speed = false, .quick = true}, {});
  if (found.sound()) return;
  std::string what = found.failure;
  for (const CheckResult& check : found.checks) {
    if (!check.passed && what.empty()) what = fmt::format("{}: {}", check.name, check.finding);
  }
  throw DeviceError(
      fmt::format("{} computes wrongly ({}; suspect: {}): run segment doctor, or use another "
                  "device (--list-devices)",
                  found.device.name, what, fmt::join(found.suspects(), ", ")));
}

std::vector<std::string> kernels_of_library() {
  std::vector<std::string> names;
  for (const EmbeddedText& kernel : embedded_kernels())
    add_kernels(kernel.name, kernel.text, names);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace diacut
