// A shim before OpenCL: a device or driver that fails, hangs, or gives wrong data. fault_plan.hpp
// says what shims have in common. The plan is the environment variable DIACUT_FAULT_OPENCL:
//
//   LD_PRELOAD=build/release/tests/libdiacut_opencl_shim.so
//   DIACUT_FAULT_OPENCL=clEnqueueNDRangeKernel:17:skip segment photo.jpg -o labels.png
//
// Every function of OpenCL that diacut calls is a KIND. The actions are
//
//   fail          The call does nothing and gives the error code of the value, or a usual one.
//   hang          The call never returns.
//   kill          The process ends by SIGKILL at the call.
//   skip          A command: the call gives success, and the command is not in the queue.
//   stall         A command: it and all commands after it in the queue never end.
//   abort         clGetEventInfo: the state of the command is the error of the value, or a usual
//   one. never         clGetEventInfo: the state of the command is "running". zero, noise, nan, bit
//                 A read: what comes from the device is spoiled: all bytes 0, pseudo-random bytes,
//                 all bits set (which are NaN as floats), or one bit of the middle word (of a
//                 float, its exponent) flipped. A write: what goes to the device is spoiled so.
//
// DIACUT_FAULT_DEVICE=P:D: only calls for device D of platform P, as `segment --list-devices`
// counts them, are counted and fail. "clEnqueueNDRangeKernel:40+:fail" with it stands for a device
// that fails in the middle of a batch.
//
// DIACUT_FAULT_GPU=1: all devices say that they are GPUs, so that a CPU runs what is made for GPUs.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>

#include "fault_plan.hpp"

namespace {

using namespace diacut::fault;

/// DIACUT_FAULT_DEVICE; null if it is not set.
cl_device_id only_device() {
  static const cl_device_id device = []() -> cl_device_id {
    const char* const index = std::getenv("DIACUT_FAULT_DEVICE");
    if (index == nullptr || *index == '\0') return nullptr;
    char* end = nullptr;
    const unsigned long platform = std::strtoul(index, &end, 10);
    if (*end != ':') fail("DIACUT_FAULT_DEVICE is no index of a device", index);
    const unsigned long number = std::strtoul(end + 1, nullptr, 10);
    cl_platform_id platforms[16] = {};
    cl_device_id devices[16] = {};
    REAL(clGetPlatformIDs)(16, platforms, nullptr);
    if (platform < 16) {
      REAL(clGetDeviceIDs)(platforms[platform], CL_DEVICE_TYPE_ALL, 16, devices, nullptr);
    }
    if (number >= 16 || devices[number] == nullptr) fail("there is no such device", index);
    return devices[number];
  }();
  return device;
}

/// What `get` says of a handle, as clGet...Info() do.
template <class Result, class Get, class Handle>
Result info(Get get, Handle handle, cl_uint name) {
  Result result{};
  get(handle, name, sizeof result, &result, nullptr);
  return result;
}

// The device that a call is for; null: none in particular.
cl_device_id device_of(cl_platform_id) { return nullptr; }
cl_device_id device_of(cl_device_id device) { return device; }
cl_device_id device_of(cl_context context) {
  return info<cl_device_id>(REAL(clGetContextInfo), context, CL_CONTEXT_DEVICES);
}
cl_device_id device_of(cl_command_queue queue) {
  return info<cl_device_id>(REAL(clGetCommandQueueInfo), queue, CL_QUEUE_DEVICE);
}
cl_device_id device_of(cl_program program) {
  return device_of(info<cl_context>(REAL(clGetProgramInfo), program, CL_PROGRAM_CONTEXT));
}
cl_device_id device_of(cl_kernel kernel) {
  return device_of(info<cl_context>(REAL(clGetKernelInfo), kernel, CL_KERNEL_CONTEXT));
}
cl_device_id device_of(cl_mem memory) {
  return device_of(info<cl_context>(REAL(clGetMemObjectInfo), memory, CL_MEM_CONTEXT));
}
cl_device_id device_of(cl_event event) {
  return device_of(info<cl_context>(REAL(clGetEventInfo), event, CL_EVENT_CONTEXT));
}

// The device that a call with these arguments is for: that of the first one, as a rule.
cl_device_id device_for(cl_uint, cl_platform_id*, cl_uint*) { return nullptr; }
cl_device_id device_for(cl_uint, const cl_event* events) { return device_of(events[0]); }
template <class... Rest>
cl_device_id device_for(const cl_context_properties*, cl_uint, const cl_device_id* devices,
                        Rest...) {
  return devices[0];
}
template <class First, class... Rest>
cl_device_id device_for(First first, Rest...) {
  return device_of(first);
}

/// Counts a call. Returns its fault, or null. Does those that are the same for all kinds: hang and
/// kill.
template <class... Arguments>
const Fault* fault_of(Kind& kind, Arguments... arguments) {
  const cl_device_id only = only_device();
  if (only != nullptr && device_for(arguments...) != only) return nullptr;
  const Fault* const fault = kind.count();
  if (fault == nullptr) return nullptr;
  if (fault->is("hang")) hang();
  if (fault->is("kill")) kill_process();
  return fault;
}

/// The error code of the fault "fail"; other faults than that are not known here.
cl_int error_of(const Fault& fault, cl_int usual) {
  if (!fault.is("fail")) fail("no action of this call", fault.action);
  return static_cast<cl_int>(fault.value_or(usual));
}

/// An event that ends with all that is in the queue, for a command that is left out.
cl_int mark(cl_command_queue queue, cl_event* event) {
  return event == nullptr ? CL_SUCCESS
                          : REAL(clEnqueueMarkerWithWaitList)(queue, 0, nullptr, event);
}

/// Lets nothing that is queued from now on begin.
void stall(cl_command_queue queue) {
  const auto context = info<cl_context>(REAL(clGetCommandQueueInfo), queue, CL_QUEUE_CONTEXT);
  const cl_event gate = REAL(clCreateUserEvent)(context, nullptr);
  REAL(clEnqueueBarrierWithWaitList)(queue, 1, &gate, nullptr);
}

/// Whether the fault spoils data; then it does so.
bool spoil(const Fault& fault, void* data, std::size_t size) {
  auto* const bytes = static_cast<unsigned char*>(data);
  if (fault.is("zero") || fault.is("nan")) {
    std::memset(data, fault.is("zero") ? 0 : 0xFF, size);
  } else if (fault.is("noise")) {
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < size; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes[i] = static_cast<unsigned char>(state >> 24);
    }
  } else if (fault.is("bit")) {
    if (size == 0) return true;
    // The last byte of a word: sign and exponent.
    const std::size_t word = size / 2 / 8 * 8;
    bytes[std::min(word + 7, size - 1)] ^= 0x40;
  } else {
    return false;
  }
  return true;
}

/// The function that stands before another one, which `Call` tells of. What it does of a fault goes
/// by what the function returns: an error code, or a new object, whose error code goes to the last
/// argument; the last argument of a command for a queue is its event.
template <class Call, class Function>
struct Before;
template <class Call, class Returned, class... Arguments>
struct Before<Call, Returned(Arguments...)> {
  static Returned run(Arguments... arguments) {
    using All = std::tuple<Arguments...>;
    constexpr std::size_t kLast = sizeof...(Arguments) - 1;
    using First = std::tuple_element_t<0, All>;
    using Last = std::tuple_element_t<kLast, All>;
    const Fault* const fault = fault_of(Call::kind, arguments...);
    if (fault == nullptr) return Call::real()(arguments...);
    const All all(arguments...);
    if constexpr (!std::is_same_v<Returned, cl_int>) {
      const cl_int code = error_of(*fault, Call::kUsual);
      if (std::get<kLast>(all) != nullptr) *std::get<kLast>(all) = code;
      return nullptr;
    } else {
      if constexpr (std::is_same_v<First, cl_command_queue> && std::is_same_v<Last, cl_event*>) {
        if (fault->is("skip")) return mark(std::get<0>(all), std::get<kLast>(all));
        if (fault->is("stall")) {
          stall(std::get<0>(all));
          return Call::real()(arguments...);
        }
      }
      return error_of(*fault, Call::kUsual);
    }
  }
};

__attribute__((constructor)) void begin() { read_plan("DIACUT_FAULT_OPENCL"); }
__attribute__((destructor)) void end() { report_calls(); }

}  // namespace

// Puts the shim before a function of OpenCL. USUAL is the error code if the plan names none. The
// dynamic loader asks for the address of the function that stands there, so that its parameters
// are those of the header.
#define STAND_BEFORE(NAME, USUAL)                                                    \
  struct Call_##NAME {                                                               \
    static constinit inline Kind kind{#NAME};                                        \
    static constexpr cl_int kUsual = USUAL;                                          \
    static auto real() { return REAL(NAME); }                                        \
  };                                                                                 \
  extern "C" {                                                                       \
  static auto resolve_##NAME() { return &Before<Call_##NAME, decltype(NAME)>::run; } \
  decltype(NAME) NAME __attribute__((ifunc("resolve_" #NAME)));                      \
  }

STAND_BEFORE(clGetPlatformIDs, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetPlatformInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetCommandQueueInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetProgramInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetKernelInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetEventProfilingInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clGetProgramBuildInfo, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clCreateProgramWithSource, CL_OUT_OF_HOST_MEMORY)
STAND_BEFORE(clBuildProgram, CL_BUILD_PROGRAM_FAILURE)
STAND_BEFORE(clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)
STAND_BEFORE(clCreateImage, CL_MEM_OBJECT_ALLOCATION_FAILURE)
STAND_BEFORE(clEnqueueMapBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)
STAND_BEFORE(clGetDeviceIDs, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clSetKernelArg, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clFlush, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clFinish, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clWaitForEvents, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clCreateContext, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clCreateCommandQueue, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clCreateKernel, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueNDRangeKernel, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueCopyBuffer, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueCopyBufferToImage, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueFillBuffer, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueUnmapMemObject, CL_OUT_OF_RESOURCES)
STAND_BEFORE(clEnqueueMarkerWithWaitList, CL_OUT_OF_RESOURCES)

#define STAND_BEFORE_LIFE_OF(TYPE)                   \
  STAND_BEFORE(clRelease##TYPE, CL_OUT_OF_RESOURCES) \
  STAND_BEFORE(clRetain##TYPE, CL_OUT_OF_RESOURCES)
STAND_BEFORE_LIFE_OF(Context)
STAND_BEFORE_LIFE_OF(CommandQueue)
STAND_BEFORE_LIFE_OF(MemObject)
STAND_BEFORE_LIFE_OF(Program)
STAND_BEFORE_LIFE_OF(Kernel)
STAND_BEFORE_LIFE_OF(Event)
STAND_BEFORE_LIFE_OF(Device)

extern "C" cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size,
                                              void* value, size_t* used) {
  static constinit Kind kind("clGetDeviceInfo");
  const Fault* const fault = fault_of(kind, device);
  if (fault != nullptr) return error_of(*fault, CL_OUT_OF_HOST_MEMORY);
  const cl_int code = REAL(clGetDeviceInfo)(device, name, size, value, used);
  const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  if (code == CL_SUCCESS && name == CL_DEVICE_TYPE && size == sizeof gpu && value != nullptr &&
      std::getenv("DIACUT_FAULT_GPU") != nullptr) {
    std::memcpy(value, &gpu, sizeof gpu);
  }
  return code;
}

extern "C" cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t size,
                                             void* value, size_t* used) {
  static constinit Kind kind("clGetEventInfo");
  const Fault* const fault = fault_of(kind, event);
  if (fault == nullptr) return REAL(clGetEventInfo)(event, name, size, value, used);
  const bool never = fault->is("never");
  if (!never && !fault->is("abort")) return error_of(*fault, CL_OUT_OF_RESOURCES);
  const cl_int code = REAL(clGetEventInfo)(event, name, size, value, used);
  if (name == CL_EVENT_COMMAND_EXECUTION_STATUS && size == sizeof(cl_int)) {
    const auto state =
        never ? CL_RUNNING : static_cast<cl_int>(fault->value_or(CL_OUT_OF_RESOURCES));
    std::memcpy(value, &state, sizeof state);
  }
  return code;
}

extern "C" cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                  cl_bool blocking, size_t offset, size_t size,
                                                  void* data, cl_uint waits, const cl_event* wait,
                                                  cl_event* event) {
  static constinit Kind kind("clEnqueueReadBuffer");
  const Fault* const fault = fault_of(kind, queue);
  const auto read = [&](cl_bool blocks) {
    return REAL(clEnqueueReadBuffer)(queue, buffer, blocks, offset, size, data, waits, wait, event);
  };
  if (fault == nullptr) return read(blocking);
  if (fault->is("skip")) return mark(queue, event);
  if (fault->is("stall")) {
    stall(queue);
    return read(blocking);
  }
  char nothing = 0;
  if (!spoil(*fault, &nothing, 0)) return error_of(*fault, CL_OUT_OF_RESOURCES);
  const cl_int code = read(CL_TRUE);
  if (code == CL_SUCCESS) spoil(*fault, data, size);
  return code;
}

extern "C" cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                   cl_bool blocking, size_t offset, size_t size,
                                                   const void* data, cl_uint waits,
                                                   const cl_event* wait, cl_event* event) {
  static constinit Kind kind("clEnqueueWriteBuffer");
  const Fault* const fault = fault_of(kind, queue);
  const auto write = [&](cl_bool blocks, const void* from) {
    return REAL(clEnqueueWriteBuffer)(queue, buffer, blocks, offset, size, from, waits, wait,
                                      event);
  };
  if (fault == nullptr) return write(blocking, data);
  if (fault->is("skip")) return mark(queue, event);
  if (fault->is("stall")) {
    stall(queue);
    return write(blocking, data);
  }
  const std::unique_ptr<unsigned char[]> spoiled(new unsigned char[size]);
  std::memcpy(spoiled.get(), data, size);
  if (!spoil(*fault, spoiled.get(), size)) return error_of(*fault, CL_OUT_OF_RESOURCES);
  return write(CL_TRUE, spoiled.get());
}
