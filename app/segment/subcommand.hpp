#pragma once

#include <memory>
#include <string>

#include "command.hpp"

namespace diacut::app {

/// Makes the command of a name.
using MakeCommand = std::unique_ptr<Command>(const std::string& name);

/// "segment" itself.
MakeCommand make_segment;

/// "recut", another cut of a hierarchy that a run has saved, and "annotate", whose regions a label
/// image has. They open no device.
MakeCommand make_recut;

/// "graph": eigenvectors and clusters of a graph.
MakeCommand make_graph;

/// "tile", "join" and "paint": the parts of a run in tiles.
MakeCommand make_tile_command;

/// "doctor" holds each device to known answers, and reports what matters of the computer. Returns
/// kDevice where a device gives a wrong answer.
MakeCommand make_doctor;

}  // namespace diacut::app
