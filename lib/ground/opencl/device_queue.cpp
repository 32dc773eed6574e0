#include "opencl/device_queue.hpp"

namespace diacut {

DeviceQueue::DeviceQueue(const std::string& device, const std::string& kernel_dir)
    : state_(std::make_shared<State>(device, kernel_dir)) {}

DeviceQueue::DeviceQueue(_cl_context* context, _cl_device_id* device)
    : state_(with_device_errors("taking an OpenCL context", [&] {
        return std::make_shared<State>(cl::Context(context, true), cl::Device(device, true));
      })) {}

const DeviceInfo& DeviceQueue::device() const { return state_->context.info(); }

_cl_context* DeviceQueue::context() const { return state_->context.cl()(); }

std::uint64_t DeviceQueue::uploaded() const { return state_->context.uploaded(); }

void DeviceQueue::limit_memory(std::uint64_t bytes) { state_->context.limit_memory(bytes); }

void DeviceQueue::finish() {
  const std::lock_guard lock(state_->turn);
  state_->context.finish();
}

}  // namespace diacut
