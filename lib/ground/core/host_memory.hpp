#pragma once

#include <cstdint>

namespace diacut {

/// Main memory that the process holds at present (its resident size), bytes; 0 where the system
/// does not report it.
std::uint64_t host_memory_held();

/// The most main memory that the process has held so far, bytes.
std::uint64_t host_memory_peak();

}  // namespace diacut
