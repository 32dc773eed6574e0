#pragma once

#include <string>
#include <vector>

namespace diacut::app {

/// The names that the parameter `key` takes, if it takes one of a fixed choice; else nothing.
std::vector<std::string> parameter_choices(const std::string& key);

/// What a shell offers for --set: "KEY=" for each parameter, and "KEY=NAME" for fixed choices.
std::vector<std::string> assignments_offered();

/// Names of the networks that are built in, which --weights takes.
std::vector<std::string> network_names();

}  // namespace diacut::app
