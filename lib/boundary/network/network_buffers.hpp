#pragma once

#include <cstddef>
#include <vector>

#include "boundary/network/network.hpp"

namespace diacut {

/// Which buffer holds which tensor of a network. Tensors that are not needed at the same time share
/// a buffer.
struct NetworkBuffers {
  std::vector<int> buffer_of;       ///< For each tensor; -1 for the output, which has no buffer.
  std::vector<std::size_t> floats;  ///< The size of each buffer.
};

/// Assigns buffers to the tensors of a network; floats[t] is the size of tensor t. Greedy, in the
/// order of execution: a tensor takes the smallest free buffer that is large enough, else the
/// largest free one, which grows. The output of an operation shares no buffer with a tensor that
/// the operation reads.
NetworkBuffers plan_network_buffers(const Network& network, const std::vector<std::size_t>& floats);

}  // namespace diacut
