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

#include "fault_plan.hpp"

namespace {

using namespace diacut::fault;

/// The function NAME that the shim stands before, looked up once.
#define REAL(NAME)                                  \
  ([]() -> decltype(&NAME) {                        \
    static const auto function = DIACUT_NEXT(NAME); \
    return function;                                \
  }())

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

/// Counts a call for the device of `handle`. Returns its fault, or null. Does those that are the
/// same for all kinds: hang and kill.
template <class Handle>
const Fault* fault_of(Kind& kind, Handle handle) {
  const cl_device_id only = only_device();
  if (only != nullptr && device_of(handle) != only) return nullptr;
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

/// The call `real()` of a function that returns an error code.
template <class Handle, class Real>
cl_int status_call(Kind& kind, Handle handle, cl_int usual, const Real& real) {
  const Fault* const fault = fault_of(kind, handle);
  return fault == nullptr ? real() : error_of(*fault, usual);
}

/// The call `real()` of a function that returns a new object.
template <class Handle, class Real>
auto creating_call(Kind& kind, Handle handle, cl_int usual, cl_int* error, const Real& real)
    -> decltype(real()) {
  const Fault* const fault = fault_of(kind, handle);
  if (fault == nullptr) return real();
  const cl_int code = error_of(*fault, usual);
  if (error != nullptr) *error = code;
  return nullptr;
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

/// The call `real()` that puts a command into the queue.
template <class Real>
cl_int command_call(Kind& kind, cl_command_queue queue, cl_event* event, const Real& real) {
  const Fault* const fault = fault_of(kind, queue);
  if (fault == nullptr) return real();
  if (fault->is("skip")) return mark(queue, event);
  if (fault->is("stall")) {
    stall(queue);
    return real();
  }
  return error_of(*fault, CL_OUT_OF_RESOURCES);
}

__attribute__((constructor)) void begin() { read_plan("DIACUT_FAULT_OPENCL"); }
__attribute__((destructor)) void end() { report_calls(); }

}  // namespace

// Functions that return an error code. USUAL is the code if the plan names none.
#define STATUS(NAME, USUAL, HANDLE, PARAMETERS, ARGUMENTS)                         \
  extern "C" cl_int CL_API_CALL NAME PARAMETERS {                                  \
    static constinit Kind kind(#NAME);                                             \
    return status_call(kind, HANDLE, USUAL, [&] { return REAL(NAME) ARGUMENTS; }); \
  }

STATUS(clGetPlatformIDs, CL_OUT_OF_HOST_MEMORY, cl_platform_id(),
       (cl_uint count, cl_platform_id* platforms, cl_uint* found), (count, platforms, found))
STATUS(clGetDeviceIDs, CL_OUT_OF_RESOURCES, platform,
       (cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices,
        cl_uint* found),
       (platform, type, count, devices, found))

// clGet...Info(handle, name, size, value, size of the value).
#define INFO(NAME, HANDLE, PARAMETER)                                             \
  STATUS(NAME, CL_OUT_OF_HOST_MEMORY, handle,                                     \
         (HANDLE handle, PARAMETER name, size_t size, void* value, size_t* used), \
         (handle, name, size, value, used))
INFO(clGetPlatformInfo, cl_platform_id, cl_platform_info)
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
INFO(clGetProgramInfo, cl_program, cl_program_info)
INFO(clGetKernelInfo, cl_kernel, cl_kernel_info)
INFO(clGetEventProfilingInfo, cl_event, cl_profiling_info)

STATUS(clGetProgramBuildInfo, CL_OUT_OF_HOST_MEMORY, device,
       (cl_program program, cl_device_id device, cl_program_build_info name, size_t size,
        void* value, size_t* used),
       (program, device, name, size, value, used))
STATUS(clBuildProgram, CL_BUILD_PROGRAM_FAILURE, program,
       (cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
        void(CL_CALLBACK* notify)(cl_program, void*), void* data),
       (program, count, devices, options, notify, data))
STATUS(clSetKernelArg, CL_OUT_OF_RESOURCES, kernel,
       (cl_kernel kernel, cl_uint index, size_t size, const void* value),
       (kernel, index, size, value))
STATUS(clFlush, CL_OUT_OF_RESOURCES, queue, (cl_command_queue queue), (queue))
STATUS(clFinish, CL_OUT_OF_RESOURCES, queue, (cl_command_queue queue), (queue))
STATUS(clWaitForEvents, CL_OUT_OF_RESOURCES, events[0], (cl_uint count, const cl_event* events),
       (count, events))

// clRelease...() and clRetain...().
#define OBJECT(TYPE, HANDLE)                                                      \
  STATUS(clRelease##TYPE, CL_OUT_OF_RESOURCES, object, (HANDLE object), (object)) \
  STATUS(clRetain##TYPE, CL_OUT_OF_RESOURCES, object, (HANDLE object), (object))
OBJECT(Context, cl_context)
OBJECT(CommandQueue, cl_command_queue)
OBJECT(MemObject, cl_mem)
OBJECT(Program, cl_program)
OBJECT(Kernel, cl_kernel)
OBJECT(Event, cl_event)
OBJECT(Device, cl_device_id)

extern "C" cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size,
                                              void* value, size_t* used) {
  static constinit Kind kind("clGetDeviceInfo");
  const cl_int code = status_call(kind, device, CL_OUT_OF_HOST_MEMORY, [&] {
    return REAL(clGetDeviceInfo)(device, name, size, value, used);
  });
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

// Functions that return a new object, with `error` as last parameter.
#define CREATING(TYPE, NAME, USUAL, HANDLE, PARAMETERS, ARGUMENTS)                          \
  extern "C" TYPE CL_API_CALL NAME PARAMETERS {                                             \
    static constinit Kind kind(#NAME);                                                      \
    return creating_call(kind, HANDLE, USUAL, error, [&] { return REAL(NAME) ARGUMENTS; }); \
  }

CREATING(cl_context, clCreateContext, CL_OUT_OF_RESOURCES, devices[0],
         (const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
          void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
          cl_int* error),
         (properties, count, devices, notify, data, error))
CREATING(cl_command_queue, clCreateCommandQueue, CL_OUT_OF_RESOURCES, device,
         (cl_context context, cl_device_id device, cl_command_queue_properties properties,
          cl_int* error),
         (context, device, properties, error))
CREATING(cl_mem, clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE, context,
         (cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error),
         (context, flags, size, host, error))
CREATING(cl_mem, clCreateImage, CL_MEM_OBJECT_ALLOCATION_FAILURE, context,
         (cl_context context, cl_mem_flags flags, const cl_image_format* format,
          const cl_image_desc* description, void* host, cl_int* error),
         (context, flags, format, description, host, error))
CREATING(cl_program, clCreateProgramWithSource, CL_OUT_OF_HOST_MEMORY, context,
         (cl_context context, cl_uint count, const char** texts, const size_t* sizes,
          cl_int* error),
         (context, count, texts, sizes, error))
CREATING(cl_kernel, clCreateKernel, CL_OUT_OF_RESOURCES, program,
         (cl_program program, const char* name, cl_int* error), (program, name, error))
CREATING(void*, clEnqueueMapBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE, queue,
         (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
          size_t offset, size_t size, cl_uint waits, const cl_event* wait, cl_event* event,
          cl_int* error),
         (queue, buffer, blocking, flags, offset, size, waits, wait, event, error))

// Functions that put a command into the queue.
#define COMMAND(NAME, PARAMETERS, ARGUMENTS)                                       \
  extern "C" cl_int CL_API_CALL NAME PARAMETERS {                                  \
    static constinit Kind kind(#NAME);                                             \
    return command_call(kind, queue, event, [&] { return REAL(NAME) ARGUMENTS; }); \
  }

COMMAND(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
         const size_t* global, const size_t* local, cl_uint waits, const cl_event* wait,
         cl_event* event),
        (queue, kernel, dimensions, offset, global, local, waits, wait, event))
COMMAND(clEnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
         size_t size, cl_uint waits, const cl_event* wait, cl_event* event),
        (queue, from, to, from_offset, to_offset, size, waits, wait, event))
COMMAND(clEnqueueCopyBufferToImage,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t* origin,
         const size_t* region, cl_uint waits, const cl_event* wait, cl_event* event),
        (queue, from, to, offset, origin, region, waits, wait, event))
COMMAND(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
         size_t offset, size_t size, cl_uint waits, const cl_event* wait, cl_event* event),
        (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
COMMAND(clEnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem memory, void* mapped, cl_uint waits, const cl_event* wait,
         cl_event* event),
        (queue, memory, mapped, waits, wait, event))
COMMAND(clEnqueueMarkerWithWaitList,
        (cl_command_queue queue, cl_uint waits, const cl_event* wait, cl_event* event),
        (queue, waits, wait, event))

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
