#pragma once

/// @file
/// The sandbox of decoders in programs that have threads.

#include <string>

namespace diacut {

/// From now on sandboxes (ImageParameters::untrusted) are started as this program, which has to
/// call serve_sandbox(), in place of a copy of the process. A process that has threads, or secrets
/// in memory, can start such a program at any time. It starts with the first such image.
/// @param path The program's file; empty: a copy of the process again.
void use_sandbox_program(const std::string& path);

/// What the program that use_sandbox_program() names does: it decodes the images that the process
/// asks for which started it, each in a process of its own, until that process ends.
/// @return The exit code of the program, where nothing asks it to decode; otherwise it does not
///         return.
int serve_sandbox();

}  // namespace diacut
