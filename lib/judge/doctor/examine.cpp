#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "doctor/checks.hpp"

namespace diacut {

namespace {

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
    for (const auto& of_stage : {boundary_checks(), affinity_checks(), product_checks(),
                                 solver_checks(), contour_checks(), walker_checks()}) {
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

void open(const ExaminationOrder& order, std::optional<Context>& context) {
  context.emplace(order.device, order.kernel_dir);
  if (order.as_kind) context->treat_as(*order.as_kind);
  context->set_wait_limit_seconds(kWaitLimitSeconds);
  context->guard_allocations();
  context->record_launches();
}

CheckResult checked(const DeviceCheck& check, Context& context) {
  CheckResult result;
  result.name = check.name;
  const Clock::time_point start = Clock::now();
  context.forget_launches();
  Trial trial(context);
  try {
    with_device_errors(check.name, [&] {
      check.run(trial);
      context.finish();
      trial.require_bounds();
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
  result.kernels.assign(context.launched().begin(), context.launched().end());
  result.milliseconds = milliseconds_since(start);
  return result;
}

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
  std::optional<Context> context;
  open(order, context);
  DeviceExamination result;
  result.device = context->info();
  const Clock::time_point start = Clock::now();
  const std::vector<DeviceCheck>& checks = device_checks();
  std::set<std::string> launched;
  for (std::size_t k = 0; k < checks.size() && result.failure.empty(); ++k) {
    if (checks[k].name.find(order.only) == std::string::npos) continue;
    watch.report(checks[k].name, static_cast<double>(k) / static_cast<double>(checks.size()));
    const CheckResult& done = result.checks.emplace_back(checked(checks[k], *context));
    launched.insert(done.kernels.begin(), done.kernels.end());
    if (done.passed) continue;
    // After an error a driver may refuse all further work in the context.
    if (context->lost()) {
      result.failure = fmt::format(
          "{} no longer answers: restart the computer or its driver, or use another device",
          result.device.name);
      continue;
    }
    try {
      context.reset();
      open(order, context);
    } catch (const Error& error) {
      result.failure = error.what();
    }
  }
  const std::vector<std::string> all = kernels_of_library();
  std::set_difference(all.begin(), all.end(), launched.begin(), launched.end(),
                      std::back_inserter(result.not_run));
  result.milliseconds = milliseconds_since(start);
  return result;
}

DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir,
                                 const Watch& watch) {
  return examine({device, kernel_dir}, watch);
}

std::vector<std::string> kernels_of_library() {
  std::vector<std::string> names;
  for (const EmbeddedText& kernel : embedded_kernels()) {
    if (!kernel.name.starts_with("spmv/measure/")) add_kernels(kernel.name, kernel.text, names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace diacut
