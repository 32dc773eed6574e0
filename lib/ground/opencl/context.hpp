#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/errors.hpp"
#include "diacut/progress.hpp"
#include "opencl/buffer.hpp"
#include "opencl/cl.hpp"
#include "opencl/memory_pool.hpp"
#include "opencl/program_source.hpp"
#include "opencl/program_store.hpp"

namespace diacut {

class Context;
struct OpenedDevice;

/// Runs f; a failed OpenCL call in it becomes a DeviceError that says what was being done.
template <class F>
decltype(auto) with_device_errors(std::string_view doing, F&& f);

/// Device time between two markers of one queue, milliseconds.
double milliseconds_between(const cl::Event& begin, const cl::Event& end);

/// The programs that the device's compiler built, or that its driver had kept.
struct ProgramBuilds {
  int programs = 0;
  double milliseconds = 0;  ///< On the wall.
};

/// One device, one in-order queue with profiling, and the programs built for it. Not thread-safe:
/// one context a thread. Not moved, because buffers point at it.
class Context {
 public:
  /// `device` as choose_device() takes it; kernel files come from the folder `kernel_dir`, or, if
  /// that is empty, from the tables that were built into the libraries.
  explicit Context(std::string_view device = {}, std::string kernel_dir = {});
  /// In an OpenCL context that somebody else has made for this device among others. Throws
  /// InputError where it has no such device.
  Context(const cl::Context& context, const cl::Device& device);
  /// Beside another one, with a queue of its own and the programs that are built.
  explicit Context(const Context& other);
  Context& operator=(const Context&) = delete;
  ~Context();

  const DeviceInfo& info() const { return info_; }
  const cl::Context& cl() const { return context_; }
  cl::CommandQueue& queue() { return queue_; }

  /// A kernel file and its options.
  using ProgramKey = std::pair<std::string, std::string>;
  struct ProgramEntry {
    std::string source;
    cl::Program program = {};  ///< Null until then.
    std::string suffix = {};   ///< Of its kernels' names in the program.
    std::map<std::string, cl::Kernel, std::less<>> kernels = {};  ///< That were asked for.
  };
  using Program = std::pair<const ProgramKey, ProgramEntry>;
  /// Asks for the program of kernels/<file>, built with `options` ("-DRADIUS=5 ..."), which is
  /// built once and kept for the life of the context. -DDIACUT_FP64 is added on devices with double
  /// precision (unless emulation is forced). A line `#include "name.clh"` is replaced by that
  /// kernel file. Without a kernel_dir the files come from `built_in`: whoever has a kernel table
  /// of their own gives that table. Programs that were asked for and not used yet are built
  /// together at the first use of one of them: as one on a CPU; on other devices those of a folder
  /// of kernels/ as one, so that other options elsewhere leave it. A driver takes little longer for
  /// many than for one. Throws as program_source() does.
  Program& program(const std::string& file, const std::string& options,
                   const KernelTable& built_in = embedded_kernels());
  /// The kernel of a program that was asked for, whose arguments each launch sets anew. Throws
  /// DeviceError with the build log where the program does not build.
  cl::Kernel& kernel(Program& program, std::string_view name);

  /// Builds programs folder by folder on a CPU too, for tests.
  void build_by_folders() { together_ = Together::kFolders; }
  /// Keeps binaries in another place than store_for() says, for tests.
  void keep_programs_in(ProgramStore store) { store_ = std::move(store); }

  /// Builds the programs that were asked for and not built yet. Throws as kernel() does.
  void build_waiting();
  /// All programs built so far.
  const ProgramBuilds& builds() const { return builds_; }
  /// Calls `tell` when building a program took longer than 0.2 seconds, because the driver has
  /// not kept it: others may follow. Empty: calls nothing.
  void on_slow_build(std::function<void()> tell) { slow_build_ = std::move(tell); }

  /// Throws DeviceError saying what was to be held, and what is free, when it does not fit.
  template <class T>
  Buffer<T> allocate(std::size_t count, const std::string& what) {
    return Buffer<T>(*this, count, what);
  }

  /// Enqueues; `local` may be cl::NullRange. Empty global ranges are not launched. While the
  /// context is watched, a CPU is given little ahead, and CancelledError is thrown once the work is
  /// to stop.
  void launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local);

  /// Who watches from now on; null: nobody. Not owned.
  void set_watch(const Watch* watch) { watch_ = watch; }

  /// A point in the queue whose time can be asked once the queue is finished.
  cl::Event mark();

  /// Waits for all that is queued, at most the limit below; then throws DeviceError, and the
  /// device is lost: it may still read and write memory, so that what hold() was given is never
  /// freed, and each later launch and wait throws DeviceError at once.
  void finish();
  /// As finish(), up to some command, of which later ones may be queued already.
  void wait(const cl::Event& event);
  void set_wait_limit_seconds(double seconds) { wait_limit_seconds_ = seconds; }
  bool lost() const { return lost_; }
  /// Keeps memory that a queued command reads or writes until the command is done.
  void hold(const cl::Event& command, std::shared_ptr<const void> memory);

  /// Memory that a queued command may read or write: the driver's own (staged()) where it is small
  /// and the device no CPU. Its last owner must not outlive the context.
  std::shared_ptr<std::byte> transfer_memory(std::size_t bytes);

  /// Whether kernels may use double; see disable_fp64().
  bool fp64() const { return fp64_; }
  /// Forces the path of devices without double precision, for tests. Only turns it off.
  void disable_fp64() { fp64_ = false; }

  /// Has kernels chosen, and their work divided, as for a device of another kind, for tests: any
  /// device computes them. To be called before a kernel is asked for.
  void treat_as(DeviceKind kind);
  /// From now on memory that is allocated holds no numbers (all bits are set) until it is written:
  /// a kernel that does nothing leaves no earlier result behind. Such memory ends in a band of the
  /// same, so that a kernel that reads beyond it gives no numbers; see overrun().
  void guard_allocations() { guards_ = true; }
  /// Whether a kernel has written beyond memory that was guarded, as far as it was freed by now.
  bool overrun() const { return overrun_; }
  /// Notes which kernels are launched from now on; see launched().
  void record_launches() { records_ = true; }
  /// The kernels that were launched since record_launches(), as "matrix/matvec_naive.cl:matvec".
  const std::set<std::string>& launched() const { return launched_; }
  void forget_launches() { launched_.clear(); }

  /// A smaller limit than the device's own on all allocations together, for tests and --memory.
  void limit_memory(std::uint64_t bytes) { memory_limit_ = bytes; }
  std::uint64_t memory_limit() const { return memory_limit_; }
  std::uint64_t memory_in_use() const { return memory_in_use_; }
  std::uint64_t memory_peak() const { return memory_peak_; }
  /// Bytes that the host has written to the device so far.
  std::uint64_t uploaded() const { return uploaded_; }
  /// Counts the peak anew, from what is in use now.
  void reset_memory_peak() { memory_peak_ = memory_in_use_; }
  /// Memory that is not in use, but kept for buffers to come, because clearing pages on a CPU, and
  /// allocating elsewhere, takes longer than many a kernel. Counted in no figure above. A CPU has
  /// it in a MemoryPool; elsewhere it serves buffers of the same size, and is given up as soon as
  /// it stands in the way of an allocation.
  std::uint64_t memory_kept() const { return kept_bytes_ + (pool_ ? pool_->kept() : 0); }
  void drop_kept();
  /// Gives up main memory that is kept beyond so many bytes. May wait for the device.
  void keep_main_memory(std::uint64_t bytes);

 private:
  friend class RawBuffer;

  Context(OpenedDevice opened, const cl::Context& context, std::string kernel_dir);

  /// The entry of a program that kernel() was asked for, built.
  ProgramEntry& built_entry(const ProgramKey& key);
  /// Builds the program of an entry by itself, so that the driver does not take the one that it
  /// kept of an attempt before.
  ProgramEntry& built_anew(const ProgramKey& key);
  /// How programs that wait are built at the first use of one of them.
  enum class Together { kAll, kFolders, kNever };
  static Together together_on(const DeviceInfo& info);
  /// Builds all that wait as one program, or those of each folder as one, on several threads.
  /// Without success it leaves them, and none are built together later.
  void build_together();
  /// `what`: for the error, which is a DeviceError.
  cl::Program built(const std::string& source, const std::string& options, const std::string& what);
  /// Builds a program in one attempt, where built() makes a second one. `what`: as there.
  cl::Program built_once(const std::string& source, const std::string& options,
                         const std::string& what);
  /// All that a built program depends on.
  std::string described(const std::string& source, const std::string& options) const;
  /// A program from a binary that was kept of it; null where the driver does not take it.
  cl::Program from_binary(const ProgramStore::Binary& binary);

  struct Kept {
    std::size_t bytes = 0;
    cl::Buffer buffer;
  };
  /// A buffer that is kept and as large; else one without memory.
  cl::Buffer take_kept(std::size_t bytes);
  void keep(cl::Buffer buffer);
  /// What goes to and from the device passes through this memory, kStaged bytes at a time. There
  /// are two such parts, one for the host while the device has the other. The memory is there as
  /// long as the device may touch it, also after a wait that failed. Elsewhere than on CPUs it is
  /// the driver's: a device copies to such memory by itself, to other memory by way of a thread of
  /// the driver that may take many times as long.
  static constexpr std::size_t kStaged = std::size_t{1} << 20;
  std::byte* staged();
  /// What lies behind that memory for transfers that nobody waits for at once: kSlots pieces of
  /// kSlotBytes.
  static constexpr std::size_t kSlotsFrom = 2 * kStaged;
  static constexpr std::size_t kSlots = 32;
  static constexpr std::size_t kSlotBytes = 4096;
  static constexpr std::size_t kAllStaged = kSlotsFrom + kSlots * kSlotBytes;

  struct Held {
    cl::Event command;
    std::shared_ptr<const void> memory;
  };
  /// Frees what done commands held. Throws cl::Error where one failed.
  void drop_held();
  /// Waits until little is ahead of the device; throws CancelledError where the work is to stop.
  void hold_back();
  bool holds_back() const { return watch_ != nullptr && info_.kind == DeviceKind::kCpu; }
  /// Throws DeviceError once the device is lost.
  void check_answers() const;
  /// The device is lost, because its driver ran out of main memory in the middle of a call: throws
  /// DeviceMemoryError.
  [[noreturn]] void lose_for_memory(const std::string& doing);
  /// Leaves to a lost device what it may still touch.
  void abandon();

  DeviceInfo info_;
  std::string kernel_dir_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<ProgramKey, ProgramEntry> programs_;
  std::vector<ProgramKey> waiting_;  ///< Programs to build, in the order of the first requests.
  Together together_ = Together::kNever;
  ProgramStore store_;
  ProgramBuilds builds_;
  std::function<void()> slow_build_;
  double wait_limit_seconds_ = 300;
  bool fp64_ = false;
  bool guards_ = false;
  bool overrun_ = false;
  bool records_ = false;
  std::map<cl_kernel, std::string> made_;
  std::set<std::string> launched_;
  std::uint64_t memory_limit_ = 0;
  std::uint64_t memory_in_use_ = 0;
  std::uint64_t memory_peak_ = 0;
  std::uint64_t uploaded_ = 0;
  /// The oldest first. A list, because taking one out of it assigns no cl::Buffer, which may throw.
  std::list<Kept> kept_;
  std::uint64_t kept_bytes_ = 0;
  std::unique_ptr<MemoryPool> pool_;  ///< On a CPU.
  std::list<Held> held_;              ///< In the order of their commands.
  const Watch* watch_ = nullptr;
  /// The few kernels that were launched last while the context was watched.
  std::deque<cl::Event> ahead_;
  // Programs may be built on several threads.
  std::atomic<bool> lost_{false};
  std::atomic<const char*> why_lost_{"has not finished its earlier work: its driver may hang"};
  cl::Buffer staging_;
  std::shared_ptr<std::byte> own_staging_;  ///< On a CPU.
  std::byte* staged_ = nullptr;
  /// The pieces of transfer_memory() that are in use; their owners share it.
  std::shared_ptr<std::bitset<kSlots>> used_slots_ = std::make_shared<std::bitset<kSlots>>();
};

/// Has work on a device watched within its scope.
class Watched {
 public:
  Watched(Context& context, const Watch& watch) : context_(context) { context.set_watch(&watch); }
  ~Watched() { context_.set_watch(nullptr); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Context& context_;
};

/// Waits for the device at the end of its scope, however that is left.
class WaitAtEnd {
 public:
  explicit WaitAtEnd(Context& context) : context_(context) {}
  ~WaitAtEnd();
  WaitAtEnd(const WaitAtEnd&) = delete;
  WaitAtEnd& operator=(const WaitAtEnd&) = delete;

 private:
  Context& context_;
};

/// Throws DeviceMemoryError where memory was missing, else DeviceError.
[[noreturn]] void throw_device_error(std::string_view doing, const cl::Error& error);

template <class F>
decltype(auto) with_device_errors(std::string_view doing, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const cl::Error& error) {
    throw_device_error(doing, error);
  }
}

/// `count` rounded up to a multiple of `step`.
constexpr std::size_t round_up(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

/// to[at .. at + count) = from[first .. first + count). Enqueues. The buffers differ.
template <class T>
void copy_elements(const Buffer<T>& from, std::size_t first, Buffer<T>& to, std::size_t at,
                   std::size_t count) {
  if (count == 0) return;
  with_device_errors("copying on the device", [&] {
    from.context().queue().enqueueCopyBuffer(from.cl(), to.cl(), first * sizeof(T), at * sizeof(T),
                                             count * sizeof(T));
  });
}

}  // namespace diacut
