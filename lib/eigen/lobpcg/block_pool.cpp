#include "eigen/lobpcg/block_pool.hpp"

#include <stdexcept>
#include <utility>

namespace diacut {

BlockPool::Lease::Lease(BlockPool& pool, int columns, Buffer<float> buffer)
    : pool_(&pool), columns_(columns), buffer_(std::move(buffer)) {}

BlockPool::Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      columns_(other.columns_),
      buffer_(std::move(other.buffer_)) {}

BlockPool::Lease& BlockPool::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::exchange(other.pool_, nullptr);
  columns_ = other.columns_;
  buffer_ = std::move(other.buffer_);
  return *this;
}

BlockPool::Lease::~Lease() { give_back(); }

void BlockPool::Lease::give_back() noexcept {
  // The pool has room for all of its buffers from the start.
  if (pool_ != nullptr) pool_->free_.push_back(std::move(buffer_));
}

BlockPool::BlockPool(Context& context, int count, std::size_t floats, bool cleared) {
  free_.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    free_.push_back(context.allocate<float>(floats, "a block of vectors"));
    if (cleared) free_.back().fill(0);
  }
}

BlockPool::Lease BlockPool::take(int columns) {
  if (free_.empty()) throw std::logic_error("all blocks of vectors are in use");
  Buffer<float> buffer = std::move(free_.back());
  free_.pop_back();
  return {*this, columns, std::move(buffer)};
}

}  // namespace diacut
