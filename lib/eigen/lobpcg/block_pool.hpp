#pragma once

#include <cstddef>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// A fixed number of equal buffers for blocks of vectors whose lives do not overlap.
class BlockPool {
 public:
  /// A block by its name: one of the pool's buffers, which goes back to the pool at the end of the
  /// lease. The device may still be using it then: commands run in order. The pool has to outlive
  /// the lease.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();

    /// Columns of the block.
    int columns() const { return columns_; }
    Buffer<float>& operator*() { return buffer_; }
    const Buffer<float>& operator*() const { return buffer_; }

   private:
    friend class BlockPool;
    Lease(BlockPool& pool, int columns, Buffer<float> buffer);
    void give_back() noexcept;

    BlockPool* pool_;
    int columns_;
    Buffer<float> buffer_;
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
  std::vector<Buffer<float>> free_;
};

using Block = BlockPool::Lease;

}  // namespace diacut
