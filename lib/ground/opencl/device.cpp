#include "diacut/device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "opencl/context.hpp"
#include "opencl/devices.hpp"
#include "opencl/pocl_cache.hpp"

namespace diacut {

namespace {

constexpr int kSignals = 32;

/// What the first of several threads found, for the last of them.
struct Handlers {
  std::mutex lock;
  int users = 0;
  std::array<struct sigaction, kSignals> before;
};

Handlers& handlers() {
  static auto* const one = new Handlers;
  return *one;
}

/// Calls `what` with each signal that has a handler to keep.
template <class What>
void for_kept_signals(const What& what) {
  for (int signal = 1; signal < kSignals; ++signal) {
    if (signal != SIGFPE && signal != SIGKILL && signal != SIGSTOP) what(signal);
  }
}

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

constexpr cl_int kNoPlatforms = -1001;  // CL_PLATFORM_NOT_FOUND_KHR

DeviceKind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceKind::kGpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceKind::kCpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return DeviceKind::kAccelerator;
  return DeviceKind::kOther;
}

std::string trimmed(const std::string& text) {
  constexpr std::string_view kBlank(" \t\r\n\0", 5);
  const std::size_t first = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

DeviceInfo describe(const cl::Platform& platform, int platform_index, const cl::Device& device,
                    int device_index) {
  DeviceInfo info;
  info.platform_index = platform_index;
  info.device_index = device_index;
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.kind = kind_of(device.getInfo<CL_DEVICE_TYPE>());
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.clock_mhz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  info.global_memory = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.local_memory = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.dedicated_local_memory = device.getInfo<CL_DEVICE_LOCAL_MEM_TYPE>() == CL_LOCAL;
  info.max_work_group = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  info.images = device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() == CL_TRUE;
  if (info.images) {
    info.image_max_width = device.getInfo<CL_DEVICE_IMAGE2D_MAX_WIDTH>();
    info.image_max_height = device.getInfo<CL_DEVICE_IMAGE2D_MAX_HEIGHT>();
  }
  info.fp64 = device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_fp64") != std::string::npos;
  return info;
}

std::string listing(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& device : devices) {
    text += fmt::format("\n  {}  {}  {} ({})", device.index(), to_string(device.kind), device.name,
                        device.platform);
  }
  return text;
}

std::optional<std::pair<int, int>> parse_index(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto platform = number_in<int>(spec.substr(0, colon));
  const auto device = number_in<int>(spec.substr(colon + 1));
  if (!platform || !device) return std::nullopt;
  return std::pair(*platform, *device);
}

/// How a device is named, and where; no name: it is not.
struct Naming {
  std::string name;
  std::string where = "--device";
};

Naming naming(std::string_view spec) {
  Naming found{std::string(spec)};
  if (!found.name.empty()) return found;
  if (const char* variable = std::getenv("DIACUT_DEVICE"); variable != nullptr) {
    found = {variable, "DIACUT_DEVICE"};
  }
  return found;
}

/// The kinds of devices, those that are preferred first.
constexpr std::array kFromBest = {DeviceKind::kGpu, DeviceKind::kAccelerator, DeviceKind::kCpu,
                                  DeviceKind::kOther};

std::vector<const OpenedDevice*> all_of(const std::vector<OpenedDevice>& devices, DeviceKind kind) {
  std::vector<const OpenedDevice*> found;
  for (const OpenedDevice& device : devices) {
    if (device.info.kind == kind) found.push_back(&device);
  }
  return found;
}

/// A kind of device, and which of those of this kind, from 0.
struct KindAndPlace {
  DeviceKind kind;
  std::size_t place = 0;
};

/// Reads "gpu", "cpu", "gpu:1" or "cpu:1", in lower case.
std::optional<KindAndPlace> parse_kind(std::string_view spec) {
  for (const DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kCpu}) {
    const std::string_view name = to_string(kind);
    if (spec == name) return KindAndPlace{kind};
    if (!spec.starts_with(name) || spec.substr(name.size(), 1) != ":") continue;
    const auto place = number_in(spec.substr(name.size() + 1));
    if (place) return KindAndPlace{kind, *place};
  }
  return std::nullopt;
}

/// Which task of those on this machine a task of Slurm is, from 0.
std::size_t local_task() {
  const char* text = std::getenv("SLURM_LOCALID");
  std::size_t task = 0;
  if (text != nullptr) std::from_chars(text, text + std::char_traits<char>::length(text), task);
  return task;
}

/// The first device of the best kind; of several of this kind a task of Slurm's takes its own if
/// `of_job`. There is a device.
const OpenedDevice& best_of(const std::vector<OpenedDevice>& devices, bool of_job) {
  std::vector<const OpenedDevice*> best;
  for (const DeviceKind kind : kFromBest) {
    best = all_of(devices, kind);
    if (!best.empty()) break;
  }
  return *best[of_job ? local_task() % best.size() : 0];
}

struct OfferedDriver {
  std::string library;
  std::string way_out;
};
OfferedDriver& offered_driver() {
  static OfferedDriver one;
  return one;
}

/// The platforms of the offered driver, asked for as OpenCL's loader does.
std::vector<cl::Platform> offered_platforms() {
  const std::string& path = offered_driver().library;
  if (path.empty()) return {};
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw DeviceError(fmt::format("the OpenCL driver '{}' cannot be loaded: {}", path, dlerror()));
  }
  const auto address = reinterpret_cast<void*(CL_API_CALL*)(const char*)>(
      dlsym(library, "clGetExtensionFunctionAddress"));
  const auto get =
      address == nullptr
          ? nullptr
          : reinterpret_cast<clIcdGetPlatformIDsKHR_fn>(address("clIcdGetPlatformIDsKHR"));
  cl_uint count = 0;
  if (get == nullptr || get(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> ids(count);
  if (get(count, ids.data(), nullptr) != CL_SUCCESS) return {};
  return {ids.begin(), ids.end()};
}

void add_devices(const std::vector<cl::Platform>& platforms, std::vector<OpenedDevice>& result) {
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    std::vector<cl::Device> devices;
    try {
      platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error& error) {
      if (error.err() != CL_DEVICE_NOT_FOUND) throw_device_error("listing the devices", error);
    }
    for (std::size_t d = 0; d < devices.size(); ++d) {
      with_device_errors("describing a device", [&] {
        result.push_back(
            {describe(platforms[p], static_cast<int>(p), devices[d], static_cast<int>(d)),
             devices[d]});
      });
    }
  }
}

std::vector<DeviceInfo> infos(const std::vector<OpenedDevice>& devices) {
  std::vector<DeviceInfo> result;
  result.reserve(devices.size());
  for (const OpenedDevice& device : devices) result.push_back(device.info);
  return result;
}

}  // namespace

bool DeviceMemory::fits(const DeviceInfo& device, std::uint64_t limit) const {
  return total <= (limit != 0 ? limit : device.global_memory) && piece <= device.max_allocation;
}

void DeviceMemory::check(const DeviceInfo& device, std::uint64_t limit,
                         const std::string& advice) const {
  if (fits(device, limit)) return;
  throw DeviceMemoryError(fmt::format(
      "not enough device memory: {:.0f} MiB are needed, of which {:.0f} MiB in one "
      "piece; {} has {:.0f} MiB, at most {:.0f} MiB in one piece; {}",
      mib(total), mib(piece), device.name, mib(limit != 0 ? limit : device.global_memory),
      mib(device.max_allocation), advice));
}

KeptSignals::KeptSignals() {
  Handlers& kept = handlers();
  const std::lock_guard guard(kept.lock);
  if (kept.users++ > 0) return;
  for_kept_signals([&](int signal) { sigaction(signal, nullptr, &kept.before[signal]); });
}

KeptSignals::~KeptSignals() {
  Handlers& kept = handlers();
  const std::lock_guard guard(kept.lock);
  if (--kept.users > 0) return;
  for_kept_signals([&](int signal) { sigaction(signal, &kept.before[signal], nullptr); });
}

std::string DeviceInfo::index() const { return fmt::format("{}:{}", platform_index, device_index); }

const char* to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kAccelerator:
      return "accelerator";
    case DeviceKind::kOther:
      break;
  }
  return "other";
}

std::vector<OpenedDevice> open_devices() {
  // While one thread loads the drivers, others that ask the ICD loader too would spin.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const KeptSignals signals;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    if (error.err() != kNoPlatforms) throw_device_error("listing the OpenCL platforms", error);
  }
  std::vector<OpenedDevice> result;
  add_devices(platforms, result);
  if (result.empty()) add_devices(offered_platforms(), result);
  if (!result.empty()) return result;
  const std::string& way_out = offered_driver().way_out;
  if (platforms.empty()) {
    throw DeviceError(
        "no OpenCL platform is installed: install one, for example Debian's pocl-opencl-icd (runs "
        "on any CPU), or the OpenCL driver of your GPU's vendor" +
        way_out);
  }
  const std::string fault = pocl_cache_fault();
  throw DeviceError("the installed OpenCL platforms have no device: " +
                    (fault.empty() ? "install a driver for yours, or Debian's pocl-opencl-icd, "
                                     "which runs on any CPU" +
                                         way_out
                                   : fault));
}

void offer_driver(const std::string& library, const std::string& way_out) {
  offered_driver() = {library, way_out};
}

OpenedDevice open_device(std::string_view spec) {
  const std::vector<OpenedDevice> devices = open_devices();
  const auto [wanted, where] = naming(spec);
  const bool of_job = lower(wanted) == "auto";
  if (wanted.empty() || of_job) return best_of(devices, of_job);

  const auto fail = [&, &wanted = wanted, &where = where](const std::string& why) {
    return ConfigError(
        fmt::format("{} '{}' {}; the devices are:{}", where, wanted, why, listing(infos(devices))));
  };
  if (const auto kind = parse_kind(lower(wanted))) {
    const std::vector<const OpenedDevice*> found = all_of(devices, kind->kind);
    if (kind->place < found.size()) return *found[kind->place];
    throw fail("matches no device");
  }
  if (const auto index = parse_index(wanted)) {
    for (const OpenedDevice& device : devices) {
      if (std::pair(device.info.platform_index, device.info.device_index) == *index) return device;
    }
    throw fail("is not the index of a device");
  }
  const OpenedDevice* match = nullptr;
  std::set<std::pair<std::string, std::string>> names;
  for (const OpenedDevice& device : devices) {
    const std::string text = lower(device.info.name + "\n" + device.info.platform);
    if (text.find(lower(wanted)) == std::string::npos) continue;
    names.emplace(device.info.platform, device.info.name);
    if (match == nullptr) match = &device;
  }
  if (names.empty()) throw fail("matches no device");
  if (names.size() > 1) throw fail(fmt::format("matches {} devices", names.size()));
  return *match;
}

std::vector<DeviceInfo> list_devices() { return infos(open_devices()); }

DeviceInfo choose_device(std::string_view spec) { return open_device(spec).info; }

std::vector<DeviceInfo> devices_to_try(std::string_view spec) {
  if (!naming(spec).name.empty()) return {choose_device(spec)};
  std::vector<DeviceInfo> devices = list_devices();
  const auto rank = [](const DeviceInfo& device) {
    return std::find(kFromBest.begin(), kFromBest.end(), device.kind) - kFromBest.begin();
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](const DeviceInfo& a, const DeviceInfo& b) { return rank(a) < rank(b); });
  return devices;
}

}  // namespace diacut
