#include <array>
#include <memory>
#include <string_view>

#include "command_description.hpp"
#include "interrupt.hpp"
#include "subcommand.hpp"

namespace diacut::app {

namespace {

struct NamedCommand {
  const char* name;
  MakeCommand* make;
};

constexpr std::array kSubcommands = {
    NamedCommand{"recut", make_recut},       NamedCommand{"annotate", make_recut},
    NamedCommand{"graph", make_graph},       NamedCommand{"tile", make_tile_command},
    NamedCommand{"join", make_tile_command}, NamedCommand{"paint", make_tile_command},
    NamedCommand{"doctor", make_doctor}};

CommandDescription describe_program() {
  CommandDescription description = make_segment("segment")->describe();
  for (const NamedCommand& each : kSubcommands) {
    description.subcommands.push_back(each.make(each.name)->describe());
    description.subcommands.back().name = each.name;
  }
  return description;
}

/// The subcommand that the first argument names; null: it names none.
std::unique_ptr<Command> named_command(int argc, const char* const* argv) {
  for (const NamedCommand& each : kSubcommands) {
    if (argc > 1 && std::string_view(argv[1]) == each.name) return each.make(each.name);
  }
  return nullptr;
}

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  Program program("segment");
  try {
    const diacut::CancelToken& cancel = handle_signals();
    if (generated(argc, argv, describe_program)) return 0;
    std::unique_ptr<Command> command = named_command(argc, argv);
    const int names = command ? 1 : 0;
    if (!command) command = make_segment("segment");
    if (!command->parse(argc - names, argv + names, program.console)) return 0;
    return static_cast<int>(command->run(program.console, cancel));
  } catch (...) {
    return program.fail();
  }
}
