#include "boundary/network/network_buffers.hpp"

#include <algorithm>
#include <optional>

namespace diacut {

namespace {

/// For each tensor, the index of the last operation that reads or writes it.
std::vector<std::size_t> last_uses(const Network& network) {
  std::vector<std::size_t> last_use(network.tensors.size(), 0);
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    last_use[static_cast<std::size_t>(op.output)] = i;
    for (const int input : op.inputs) last_use[static_cast<std::size_t>(input)] = i;
    if (op.added >= 0) last_use[static_cast<std::size_t>(op.added)] = i;
  }
  return last_use;
}

/// The position in `free` of the buffer that a tensor of this size takes, if there is any: of the
/// buffers that are large enough the smallest, else the largest; of equals the first.
std::optional<std::size_t> best_free(const std::vector<int>& free,
                                     const std::vector<std::size_t>& capacities, std::size_t size) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (!best) {
      best = i;
      continue;
    }
    const std::size_t here = capacities[static_cast<std::size_t>(free[i])];
    const std::size_t there = capacities[static_cast<std::size_t>(free[*best])];
    const bool better = there >= size ? here >= size && here < there : here > there;
    if (better) best = i;
  }
  return best;
}

}  // namespace

NetworkBuffers plan_network_buffers(const Network& network,
                                    const std::vector<std::size_t>& floats) {
  const std::vector<std::size_t> last_use = last_uses(network);
  NetworkBuffers plan;
  plan.buffer_of.assign(network.tensors.size(), -1);
  std::vector<int> free;
  const auto place = [&](int tensor) {
    const std::size_t size = floats[static_cast<std::size_t>(tensor)];
    int buffer = static_cast<int>(plan.floats.size());
    if (const auto best = best_free(free, plan.floats, size)) {
      buffer = free[*best];
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(*best));
    } else {
      plan.floats.push_back(0);
    }
    std::size_t& capacity = plan.floats[static_cast<std::size_t>(buffer)];
    capacity = std::max(capacity, size);
    plan.buffer_of[static_cast<std::size_t>(tensor)] = buffer;
  };
  place(network.input());
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    if (op.kind != NetworkOpKind::kSigmoid) place(op.output);
    for (std::size_t t = 0; t < network.tensors.size(); ++t) {
      if (plan.buffer_of[t] >= 0 && last_use[t] == i) free.push_back(plan.buffer_of[t]);
    }
  }
  return plan;
}

}  // namespace diacut
