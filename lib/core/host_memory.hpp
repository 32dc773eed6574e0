#pragma once

#include <cstdint>

namespace diacut {

/// Main memory that the process holds at present (its resident size), bytes; 0 where the system
/// does not tell.
std::uint64_t host_memory_held();

/// The most main memory that the process has held so far, bytes.
std::uint64_t host_memory_peak();

/// Main memory that the process could hold at once, bytes, with what it holds already: what is free
/// or can be freed, and swap, within the limits of its control group. 0 where the system does not
/// tell.
std::uint64_t host_memory_available();

}  // namespace diacut
