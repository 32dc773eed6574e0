#include "opencl/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <thread>

#include "core/parallel.hpp"
#include "opencl/devices.hpp"
#include "opencl/pocl_cache.hpp"

namespace diacut {

namespace {

/// Building a program that the driver has kept takes less.
constexpr double kSlowBuildMs = 200;
/// Drivers keep what they build. What is kept may be damaged, and a program with another option is
/// another one to them.
constexpr char kSecondBuild[] = " -DDIACUT_SECOND_BUILD";
/// Kernels that a CPU is given while it runs another one. A kernel may take a second.
constexpr std::size_t kMostAhead = 2;

/// Empty where the driver gives none.
ProgramStore::Binary binary_of(const cl::Program& program) {
  try {
    return program.getInfo<CL_PROGRAM_BINARIES>().at(0);
  } catch (const cl::Error&) {
    return {};
  }
}

/// "CL_OUT_OF_RESOURCES" for -5.
std::string error_name(cl_int code) {
  switch (code) {
#define DIACUT_ERROR_NAME(name) \
  case name:                    \
    return #name
    DIACUT_ERROR_NAME(CL_DEVICE_NOT_FOUND);
    DIACUT_ERROR_NAME(CL_DEVICE_NOT_AVAILABLE);
    DIACUT_ERROR_NAME(CL_COMPILER_NOT_AVAILABLE);
    DIACUT_ERROR_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    DIACUT_ERROR_NAME(CL_OUT_OF_RESOURCES);
    DIACUT_ERROR_NAME(CL_OUT_OF_HOST_MEMORY);
    DIACUT_ERROR_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    DIACUT_ERROR_NAME(CL_BUILD_PROGRAM_FAILURE);
    DIACUT_ERROR_NAME(CL_INVALID_VALUE);
    DIACUT_ERROR_NAME(CL_INVALID_CONTEXT);
    DIACUT_ERROR_NAME(CL_INVALID_MEM_OBJECT);
    DIACUT_ERROR_NAME(CL_INVALID_IMAGE_SIZE);
    DIACUT_ERROR_NAME(CL_INVALID_BUILD_OPTIONS);
    DIACUT_ERROR_NAME(CL_INVALID_KERNEL_NAME);
    DIACUT_ERROR_NAME(CL_INVALID_KERNEL_ARGS);
    DIACUT_ERROR_NAME(CL_INVALID_ARG_INDEX);
    DIACUT_ERROR_NAME(CL_INVALID_ARG_SIZE);
    DIACUT_ERROR_NAME(CL_INVALID_WORK_GROUP_SIZE);
    DIACUT_ERROR_NAME(CL_INVALID_WORK_ITEM_SIZE);
    DIACUT_ERROR_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
    DIACUT_ERROR_NAME(CL_INVALID_BUFFER_SIZE);
#undef DIACUT_ERROR_NAME
    default:
      return fmt::format("OpenCL error {}", code);
  }
}

/// As list_devices() describes it.
OpenedDevice known_device(const cl::Context& context, const cl::Device& device) {
  const auto devices = with_device_errors("asking for a context's devices",
                                          [&] { return context.getInfo<CL_CONTEXT_DEVICES>(); });
  const auto same = [&](const cl::Device& each) { return each() == device(); };
  if (std::any_of(devices.begin(), devices.end(), same)) {
    for (OpenedDevice& each : open_devices()) {
      if (same(each.device)) return std::move(each);
    }
  }
  throw InputError("the OpenCL context has no such device: give one that it was made for");
}

}  // namespace

void throw_device_error(std::string_view doing, const cl::Error& error) {
  const std::string message =
      fmt::format("{} failed: {} returned {}", doing, error.what(), error_name(error.err()));
  if (error.err() == CL_MEM_OBJECT_ALLOCATION_FAILURE || error.err() == CL_OUT_OF_HOST_MEMORY) {
    throw DeviceMemoryError(message);
  }
  throw DeviceError(message);
}

double milliseconds_between(const cl::Event& begin, const cl::Event& end) {
  return with_device_errors("reading device times", [&] {
    const cl_ulong from = begin.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    const cl_ulong to = end.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return to > from ? static_cast<double>(to - from) * 1e-6 : 0.0;
  });
}

Context::Context(std::string_view device, std::string kernel_dir)
    : Context(open_device(device), {}, std::move(kernel_dir)) {}

Context::Context(const cl::Context& context, const cl::Device& device)
    : Context(known_device(context, device), context, {}) {}

Context::Context(OpenedDevice opened, const cl::Context& context, std::string kernel_dir)
    : info_(std::move(opened.info)),
      kernel_dir_(std::move(kernel_dir)),
      device_(opened.device),
      context_(context) {
  if (!kernel_dir_.empty() && !std::filesystem::is_directory(kernel_dir_)) {
    throw ConfigError(fmt::format("--kernel-dir: there is no folder '{}'", kernel_dir_));
  }
  fp64_ = info_.fp64;
  together_ = together_on(info_);
  store_ = store_for(info_);
  if (info_.kind == DeviceKind::kCpu) pool_ = std::make_unique<MemoryPool>(info_.global_memory);
  with_device_errors(fmt::format("opening {}", info_.name), [&] {
    if (context_() == nullptr) context_ = cl::Context(device_);
    queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
  });
}

Context::Context(const Context& other)
    : Context(OpenedDevice{other.info_, other.device_}, other.context_, other.kernel_dir_) {
  for (const auto& [key, entry] : other.programs_) {
    if (entry.program() == nullptr) continue;
    programs_.emplace(key, ProgramEntry{entry.source, entry.program, entry.suffix});
  }
}

Context::Together Context::together_on(const DeviceInfo& info) {
  if (info.kind == DeviceKind::kCpu) return Together::kAll;
  // Oclgrind's threads share one compiler, which crashes.
  return info.platform == "Oclgrind" ? Together::kNever : Together::kFolders;
}

Context::~Context() {
  try {
    if (staging_() != nullptr && !lost_) queue_.enqueueUnmapMemObject(staging_, staged_);
    // A command may still use this memory, as where an earlier wait failed.
    if (staged_ != nullptr || pool_ || !held_.empty() || !ahead_.empty()) finish();
  } catch (const std::exception&) {
    lost_ = true;  // Nobody knows what the device still does.
  }
  if (lost_) abandon();
}

std::byte* Context::staged() {
  if (staged_ != nullptr) return staged_;
  if (info_.kind == DeviceKind::kCpu) {
    own_staging_.reset(new std::byte[kAllStaged], std::default_delete<std::byte[]>());
    return staged_ = own_staging_.get();
  }
  staging_ = cl::Buffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, kAllStaged);
  cl::Event mapped;
  void* const memory = queue_.enqueueMapBuffer(staging_, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                               kAllStaged, nullptr, &mapped);
  wait(mapped);
  return staged_ = static_cast<std::byte*>(memory);
}

std::shared_ptr<std::byte> Context::transfer_memory(std::size_t bytes) {
  const auto anywhere = [&] {
    return std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>());
  };
  if (info_.kind == DeviceKind::kCpu || bytes > kSlotBytes || used_slots_->all()) return anywhere();
  std::size_t slot = 0;
  while (used_slots_->test(slot)) ++slot;
  std::byte* const memory = staged() + kSlotsFrom + slot * kSlotBytes;
  std::shared_ptr<std::byte> result(memory,
                                    [used = used_slots_, slot](std::byte*) { used->reset(slot); });
  used_slots_->set(slot);
  return result;
}

void Context::hold(const cl::Event& command, std::shared_ptr<const void> memory) {
  held_.push_back({command, std::move(memory)});
  with_device_errors("asking for the state of a command", [&] { drop_held(); });
}

void Context::drop_held() {
  // The queue is in order: what follows a command that is not done is not done either.
  while (!held_.empty()) {
    const auto status = held_.front().command.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (status < 0) throw cl::Error(status, "a queued command");
    if (status != CL_COMPLETE) return;
    held_.pop_front();
  }
}

void Context::check_answers() const {
  if (!lost_) return;
  throw DeviceError(
      fmt::format("{} {}; try another device (--list-devices)", info_.name, why_lost_.load()));
}

void Context::lose_for_memory(const std::string& doing) {
  // A driver's compiler that an exception left has locks locked, for which later calls wait, also
  // those that release programs.
  lost_ = true;
  why_lost_ = "lacked main memory before, and does not answer since";
  throw DeviceMemoryError(
      fmt::format("the driver of {} had too little main memory for {}: close other programs, or "
                  "allow this one more",
                  info_.name, doing));
}

void Context::abandon() {
  struct Rest {
    std::list<Held> held;
    std::shared_ptr<std::byte> staging;
    std::unique_ptr<MemoryPool> pool;
  };
  // Never freed. The driver's objects are not released either: that may wait for the device.
  static auto& rests = *new std::list<Rest>;
  rests.push_back({std::move(held_), std::move(own_staging_), std::move(pool_)});
  staging_() = nullptr;
  for (auto& [key, entry] : programs_) {
    entry.program() = nullptr;
    for (auto& [name, kernel] : entry.kernels) kernel() = nullptr;
  }
  for (Kept& each : kept_) each.buffer() = nullptr;
  queue_() = nullptr;
  context_() = nullptr;
}

cl::Buffer Context::take_kept(std::size_t bytes) {
  // Of two alike the newer one: its memory is the likeliest to be in a cache.
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                  [&](const Kept& each) { return each.bytes == bytes; });
  if (found == kept_.rend()) return {};
  cl::Buffer buffer = std::move(found->buffer);
  kept_bytes_ -= bytes;
  kept_.erase(std::prev(found.base()));
  return buffer;
}

void Context::keep(cl::Buffer buffer) {
  // Of a GPU that others use too, most memory is left alone; two contexts may keep some.
  const std::uint64_t most = info_.global_memory / 8;
  const auto bytes = buffer.getInfo<CL_MEM_SIZE>();
  if (bytes > most) return;
  kept_.push_back({bytes, std::move(buffer)});
  kept_bytes_ += bytes;
  while (kept_bytes_ > most) {
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void Context::keep_main_memory(std::uint64_t bytes) {
  if (!pool_ || pool_->kept() <= bytes) return;
  finish();
  pool_->keep_at_most(bytes);
}

void Context::drop_kept() {
  kept_.clear();
  kept_bytes_ = 0;
}

cl::Program Context::built(const std::string& source, const std::string& options,
                           const std::string& what) {
  try {
    return built_once(source, options, what);
  } catch (const DeviceMemoryError&) {
    throw;
  } catch (const DeviceError&) {
    if (!kernel_dir_.empty()) throw;  // Those who edit kernels make mistakes.
    return built_once(source, options + kSecondBuild, what);
  }
}

std::string Context::described(const std::string& source, const std::string& options) const {
  // Processors of one name may have vectors of other lengths.
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", info_.platform, info_.vendor, info_.name,
                     info_.version, info_.driver,
                     device_.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR>(), options, source);
}

cl::Program Context::from_binary(const ProgramStore::Binary& binary) {
  if (binary.empty()) return {};
  try {
    cl::Program program(context_, {device_}, {binary});
    program.build(device_);
    return program;
  } catch (const cl::Error&) {
    return {};
  }
}

cl::Program Context::built_once(const std::string& source, const std::string& options,
                                const std::string& what) {
  check_answers();
  // Warnings are for those who edit the kernels. Some drivers count them on the terminal.
  const std::string flags = kernel_dir_.empty() ? options + " -w" : options;
  cl::Program program;
  try {
    const std::string description = store_.keeps() ? described(source, flags) : "";
    if (store_.keeps()) program = from_binary(store_.find(description));
    if (program() != nullptr) return program;
    program = cl::Program(context_, source);
    program.build(device_, flags.c_str());
    if (store_.keeps()) store_.keep(description, binary_of(program));
  } catch (const cl::Error& error) {
    std::string log;
    if (program() != nullptr) {
      try {
        log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_);
      } catch (const cl::Error&) {
        log = "(the driver gave no build log)";
      }
    }
    const std::string fault =
        info_.platform == "Portable Computing Language" ? pocl_cache_fault() : "";
    if (!fault.empty()) throw DeviceError("kernels cannot be built: " + fault);
    throw DeviceError(fmt::format("kernel file '{}' does not build on {} with '{}' ({}):\n{}", what,
                                  info_.name, options, error_name(error.err()), log),
                      log);
  } catch (const std::bad_alloc&) {
    program() = nullptr;
    lose_for_memory(fmt::format("building kernel file '{}'", what));
  }
  return program;
}

void Context::build_together() {
  std::map<std::string, std::vector<ProgramKey>> by_folder;
  for (const ProgramKey& key : waiting_) {
    const bool apart = together_ == Together::kFolders;
    by_folder[apart ? key.first.substr(0, key.first.find('/')) : ""].push_back(key);
  }
  const std::vector<std::pair<std::string, std::vector<ProgramKey>>> groups(by_folder.begin(),
                                                                            by_folder.end());
  std::vector<cl::Program> programs(groups.size());
  parallel_for(groups.size(), [&](std::size_t i) {
    std::vector<ProgramPart> parts;
    for (const ProgramKey& key : groups[i].second) {
      parts.push_back({key.first, key.second, programs_.at(key).source});
    }
    try {
      programs[i] = built_once(joined_source(parts), "", "of several kernels");
    } catch (const DeviceMemoryError&) {
      throw;
    } catch (const DeviceError&) {
      // Each by itself then, so that the error names the file.
    }
  });
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (programs[i]() == nullptr) {
      together_ = Together::kNever;
      continue;
    }
    ++builds_.programs;
    for (std::size_t k = 0; k < groups[i].second.size(); ++k) {
      ProgramEntry& entry = programs_.at(groups[i].second[k]);
      // To assign the program itself would leave the entry with it where retaining it fails.
      const cl_int code = clRetainProgram(programs[i]());
      if (code != CL_SUCCESS) throw_device_error("sharing a program", {code, "clRetainProgram"});
      entry.program = cl::Program(programs[i]());
      entry.suffix = part_name("", k);
    }
  }
}

Context::ProgramEntry& Context::built_entry(const ProgramKey& key) {
  ProgramEntry& entry = programs_.at(key);
  if (entry.program() != nullptr) return entry;
  const KeptSignals signals;
  const auto start = std::chrono::steady_clock::now();
  if (waiting_.size() > 1 && together_ != Together::kNever) build_together();
  if (entry.program() == nullptr) {
    entry.program = built(entry.source, key.second, key.first);
    ++builds_.programs;
  }
  std::erase_if(waiting_,
                [this](const ProgramKey& each) { return programs_.at(each).program() != nullptr; });
  const double taken =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  builds_.milliseconds += taken;
  if (taken > kSlowBuildMs && slow_build_) slow_build_();
  return entry;
}

void Context::build_waiting() {
  if (!waiting_.empty()) built_entry(ProgramKey(waiting_.front()));
}

Context::ProgramEntry& Context::built_anew(const ProgramKey& key) {
  ProgramEntry& entry = programs_.at(key);
  entry.program = built_once(entry.source, key.second + kSecondBuild, key.first);
  entry.suffix.clear();
  ++builds_.programs;
  return entry;
}

Context::Program& Context::program(const std::string& file, const std::string& options,
                                   const KernelTable& built_in) {
  ProgramKey key(file, options);
  if (fp64_) key.second += " -DDIACUT_FP64";
  const auto found = programs_.find(key);
  if (found != programs_.end()) return *found;
  ProgramEntry entry{program_source(kernel_dir_, file, built_in)};
  waiting_.push_back(key);
  return *programs_.emplace(key, std::move(entry)).first;
}

cl::Kernel& Context::kernel(Program& program, std::string_view name) {
  auto& kernels = program.second.kernels;
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  const KeptSignals signals;
  cl::Kernel kernel;
  const auto make = [&](const ProgramEntry& entry) {
    with_device_errors(fmt::format("making kernel '{}' of '{}'", name, program.first.first), [&] {
      kernel = cl::Kernel(entry.program, (std::string(name) + entry.suffix).c_str());
    });
  };
  const ProgramEntry& built = built_entry(program.first);
  try {
    make(built);
  } catch (const std::bad_alloc&) {
    lose_for_memory("making a kernel");
  } catch (const DeviceError&) {
    make(built_anew(program.first));
  }
  made_[kernel()] = fmt::format("{}:{}", program.first.first, name);
  return kernels.emplace(name, std::move(kernel)).first->second;
}

void Context::launch(const cl::Kernel& kernel, const cl::NDRange& global,
                     const cl::NDRange& local) {
  check_answers();
  for (std::size_t i = 0; i < global.dimensions(); ++i) {
    if (global.get()[i] == 0) return;
  }
  if (records_) launched_.insert(made_.at(kernel()));
  try {
    hold_back();
    cl::Event event;
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr,
                                holds_back() ? &event : nullptr);
    if (holds_back()) ahead_.push_back(std::move(event));
  } catch (const cl::Error& error) {
    throw_device_error(
        fmt::format("launching kernel '{}'", kernel.getInfo<CL_KERNEL_FUNCTION_NAME>()), error);
  } catch (const std::bad_alloc&) {
    lose_for_memory("launching a kernel");
  }
}

void Context::hold_back() {
  if (!holds_back()) return;
  if (watch_->cancel != nullptr) watch_->cancel->throw_if_cancelled();
  while (ahead_.size() > kMostAhead) {
    wait(ahead_.front());
    ahead_.pop_front();
  }
}

void Context::treat_as(DeviceKind kind) {
  info_.kind = kind;
  info_.dedicated_local_memory = kind == DeviceKind::kGpu;
  // The driver stays what it is: a CPU's builds one program at a time.
  together_ = kind == DeviceKind::kCpu ? together_on(info_) : Together::kNever;
  programs_.clear();
  waiting_.clear();
}

cl::Event Context::mark() {
  return with_device_errors("marking the queue", [&] {
    cl::Event event;
    queue_.enqueueMarkerWithWaitList(nullptr, &event);
    return event;
  });
}

void Context::finish() {
  with_device_errors("waiting for the device", [&] { wait(mark()); });
}

void Context::wait(const cl::Event& event) {
  using Clock = std::chrono::steady_clock;
  check_answers();
  with_device_errors("waiting for the device", [&] {
    queue_.flush();
    const Clock::time_point start = Clock::now();
    for (;;) {
      const cl_int status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
      if (status == CL_COMPLETE) return drop_held();
      if (status < 0) throw cl::Error(status, "a queued command");
      const double waited = std::chrono::duration<double>(Clock::now() - start).count();
      if (waited > 0.05 && watch_ != nullptr && watch_->waiting) watch_->waiting();
      if (waited > wait_limit_seconds_) {
        lost_ = true;
        throw DeviceError(fmt::format(
            "{} did not finish within {:.0f} s: its driver may hang; try another device "
            "(--list-devices)",
            info_.name, wait_limit_seconds_));
      }
      // Short waits are worth spinning for; a CPU device needs the core for its own work.
      if (info_.kind == DeviceKind::kCpu || waited > 2e-3) {
        std::this_thread::sleep_for(std::chrono::microseconds(waited > 0.1 ? 1000 : 50));
      } else {
        // Each question holds a lock of the driver's, for which another thread would wait.
        const Clock::time_point asked = Clock::now();
        while (Clock::now() < asked + std::chrono::microseconds(5)) {
        }
      }
    }
  });
}

WaitAtEnd::~WaitAtEnd() {
  try {
    context_.finish();
  } catch (const Error&) {
    // A device that cannot be waited for does nothing any more.
  }
}

}  // namespace diacut
