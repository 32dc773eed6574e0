#pragma once

#include <nlohmann/json.hpp>

#include "boundary/network/network.hpp"
#include "boundary/network/safetensors.hpp"

namespace diacut {

/// The network that a graph describes, with the weights that it names in `file`. The graph is an
/// object with the names of the "input" and "output" tensors and the list "ops": objects with "op"
/// ("conv", "maxpool", "upsample" or "sigmoid"), "out", "in", and what the operation needs further
/// ("kernel", "dilation", "relu", "depthwise", "weight", "bias" and "add" of a convolution, "like"
/// of an upsampling). Every operation is checked. Throws InputError without the name of the file.
Network network_of_graph(const Safetensors& file, const nlohmann::json& graph);

}  // namespace diacut
