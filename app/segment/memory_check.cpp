#include "memory_check.hpp"

#include "diacut/errors.hpp"
#include "diacut/memory_plan.hpp"

namespace diacut::app {

void MemoryCheck::check(const ImageSize& size) {
  std::call_once(chosen_, [this] {
    try {
      device_ = choose_device(options_.device);
    } catch (const Error&) {
      device_.reset();
    }
  });
  if (!device_) return;
  check_host_memory(plan_memory(size, options_.parameters, *device_, options_.memory), size,
                    *device_);
}

}  // namespace diacut::app
