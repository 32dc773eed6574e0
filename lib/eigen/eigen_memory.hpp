#pragma once

#include "opencl/memory_budget.hpp"

namespace diacut {

/// Device memory that an eigensolver allocates, what it returns included. A phase has to fit; the
/// phases are not held at once.
struct EigenMemory {
  /// For the compressed form: what is allocated beside the matrix's DIA form until that is freed.
  /// Empty for the DIA form.
  MemoryBudget building;
  /// What is allocated while vectors are iterated. In the compressed form it includes the matrix,
  /// of which nothing else is left; in the DIA form the matrix comes on top.
  MemoryBudget solving;
};

}  // namespace diacut
