#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "matrix/block.hpp"
#include "opencl/device_sums.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

/// A fixed number of equal buffers for blocks of vectors whose lives do not overlap.
class BlockPool {
 public:
  /// A block by its name: one of the pool's buffers, which goes back to the pool at the end of the
  /// lease. The device may still be using it then: commands run in order. The pool has to outlive
  /// the lease.
  class Lease {
   public:
    /// Columns of the block.
    int columns() const { return columns_; }
    Buffer<float>& operator*() { return *buffer_; }
    const Buffer<float>& operator*() const { return *buffer_; }

   private:
    friend class BlockPool;
    struct GiveBack {
      BlockPool* pool = nullptr;
      /// The pool has room for all of its buffers from the start.
      void operator()(Buffer<float>* buffer) const noexcept { pool->free_.emplace_back(buffer); }
    };
    using Owned = std::unique_ptr<Buffer<float>, GiveBack>;

    Lease(int columns, Owned buffer) : columns_(columns), buffer_(std::move(buffer)) {}

    int columns_;
    Owned buffer_;
  };

  /// `count` buffers of `floats` elements each, of zeros if `cleared`.
  BlockPool(Context& context, int count, std::size_t floats, bool cleared);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// A block of `columns` columns, whose contents are what the buffer was left with. Throws
  /// std::logic_error where no buffer is free.
  Lease take(int columns);
  /// Frees the memory of buffers that are not leased.
  void drop_free() { free_.clear(); }

 private:
  std::vector<std::unique_ptr<Buffer<float>>> free_;
};

using Block = BlockPool::Lease;

/// Where the images of a batch lie in a block of vectors: `rows` elements each, which begin `pitch`
/// elements apart.
struct Segments {
  std::size_t rows = 0;
  std::size_t pitch = 0;
};

/// How kernels/eigen/lobpcg/segments.clh deals the elements of each segment to work-groups.
struct SegmentGroups {
  std::size_t chunk = 0;        ///< Elements of a group.
  std::size_t per_segment = 0;  ///< Groups of a segment.
  std::size_t all = 0;          ///< Groups of all active segments.
};

/// What the kernels of LOBPCG over blocks of one width share: the images that are worked on, memory
/// for sums in two stages, and the kernels themselves. A block may hold several images in segments;
/// every result is then one for each active segment, in the order of ActiveSegments::places(), and
/// does not depend on how many segments there are.
class Workspace {
 public:
  /// For blocks of `columns` columns (block_columns()) and segments of at most `max_rows` elements.
  /// `active` is null for one image. Throws DeviceError where a block is too wide for the device's
  /// local memory.
  Workspace(Context& context, int columns, std::size_t max_rows,
            std::shared_ptr<const ActiveSegments> active = nullptr);
  /// The bytes that its sums take on a device.
  static std::size_t memory(DeviceKind device, int columns, std::size_t max_rows, int segments);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Context& context() { return *context_; }
  const DeviceInfo& device() const { return context_->info(); }
  bool cpu() const { return device().kind == DeviceKind::kCpu; }
  int columns() const { return columns_; }
  std::size_t sets() const;
  const ActiveSegments& active() const { return *active_; }

  /// Columns of a tile of a Gram matrix.
  int tile() const { return tile_; }
  /// The least width of blocks W and P that hold `wanted` columns.
  int narrow_columns(int wanted) const;
  /// Elements that a work-group of the kernels that combine columns takes.
  std::size_t combined_rows() const { return combined_rows_; }
  /// Work-items of a group of those kernels, and of the kernels that sum columns.
  std::size_t group() const { return group_; }

  SegmentGroups groups(const Segments& segments, std::size_t chunk) const;
  /// Large groups, for many sums at once: on a CPU they stay in its cache while all tiles pass.
  SegmentGroups large_groups(const Segments& segments) const;
  /// Small groups, for one sum a column.
  SegmentGroups small_groups(const Segments& segments) const;

  /// Sums of groups, and sums of segments; each kernel overwrites those of the one before.
  const DeviceSums& partials() const { return partials_; }
  const DeviceSums& totals() const { return totals_; }
  /// The macros of kernels over the workspace's blocks.
  std::string options() const;
  /// The kernels of a file with these macros, which the first call asks for.
  const KernelFile& kernels(std::string_view file);
  /// Enqueues one of them with a work-group for each group.
  template <class... Arguments>
  void launch(std::string_view file, const char* name, const SegmentGroups& groups,
              const Arguments&... arguments) {
    kernels(file).launch(name, cl::NDRange(groups.all * group_), cl::NDRange(group_), arguments...);
  }
  /// Enqueues one of them with a work-group for each column and active segment.
  template <class... Arguments>
  void launch_columns(std::string_view file, const char* name, const Arguments&... arguments) {
    kernels(file).launch(name,
                         cl::NDRange(static_cast<std::size_t>(columns_) * group_, active_->count()),
                         cl::NDRange(group_, 1), arguments...);
  }

 private:
  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  int tile_;
  std::size_t combined_rows_;
  std::size_t group_;
  DeviceSums partials_;
  DeviceSums totals_;
  std::map<std::string, KernelFile, std::less<>> kernels_;
};

/// Elements that kernels sum in float before the sum goes on in double.
inline constexpr std::size_t kFloatsSummed = 32;

/// Elements of a block of `columns` columns, thrice, that fit half of the local memory, a power of
/// two. Throws DeviceError where not one does.
std::size_t rows_in_local_memory(const DeviceInfo& device, int columns);
/// Work-items of a group of kernels over blocks: 1 on a CPU.
std::size_t block_group(const DeviceInfo& device);

}  // namespace diacut
