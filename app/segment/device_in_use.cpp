#include "device_in_use.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"
#include "exit_code.hpp"
#include "freed_memory.hpp"
#include "interrupt.hpp"
#include "prepare_results.hpp"

namespace diacut::app {

DeviceInUse::DeviceInUse(const Options& options, const Plan& plan, RunLog& log, MemoryCheck& memory)
    : options_(options), plan_(plan), log_(log), memory_(memory) {}

Segmenter& DeviceInUse::segmenter() {
  if (segmenter_) return *segmenter_;
  if (devices_.empty()) list();
  for (;;) {
    try {
      open(devices_.front());
      if (plan_.jobs.size() > 1) check();
      return *segmenter_;
    } catch (const DeviceError&) {
      if (!is_replaceable()) throw;
      give_up(std::current_exception());
    }
  }
}

void DeviceInUse::list() {
  const std::vector<DeviceInfo> devices = devices_to_try(options_.device);
  devices_.assign(devices.begin(), devices.end());
  if (!options_.kernel_dir.empty()) devices_.resize(1);
  handle_crashes();  // Drivers have taken these signals over.
}

void DeviceInUse::open(const DeviceInfo& device) {
  segmenter_.emplace(options_.parameters, device.index(), options_.kernel_dir);
  handle_crashes();
  set_freed_memory(freed_memory_for(segmenter_->device().kind));
  segmenter_->limit_device_memory(options_.memory);
  segmenter_->keep_probabilities(!plan_.roots.results[Result::kProbabilities].empty());
  segmenter_->keep_eigenvectors(options_.results.has(Result::kEigenvectors));
  segmenter_->verify_results(options_.verify);
  segmenter_->on_compiling([this] { log_.compiling(segmenter_->device()); });
  log_.opened(segmenter_->device());
}

void DeviceInUse::check() {
  const bool own_maps =
      options_.companions.has(Companion::kEdges) || options_.companions.has(Companion::kFeatures);
  try {
    segmenter_->check_device(own_maps);
  } catch (const DeviceMemoryError&) {
    throw;
  } catch (const DeviceError&) {
    segmenter_->check_device(own_maps);  // Once more, as images are tried twice on a device.
  }
}

void DeviceInUse::give_up(const std::exception_ptr& failure) {
  segmenter_.reset();
  const DeviceInfo lost = devices_.front();
  devices_.pop_front();
  const DeviceInfo& next = devices_.front();
  memory_.use(next);
  log_.gave_up(lost, attempt("", [&] { std::rethrow_exception(failure); })->message, next);
  note_ = fmt::format("device {} ({}) failed and was given up: segmented on device {} ({})",
                      lost.index(), lost.name, next.index(), next.name);
}

bool is_device_failure(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const DeviceMemoryError&) {
    return false;
  } catch (const DeviceError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace diacut::app
