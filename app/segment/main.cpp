#include <array>
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

}  // namespace

}  // namespace diacut::app

int main(int argc, char** argv) {
  using namespace diacut::app;
  return run_program("segment", [&](Console& console) {
    const diacut::CancelToken& cancel = handle_signals();
    if (generated(argc, argv, describe_program)) return ExitCode::kDone;
    for (const NamedCommand& each : kSubcommands) {
      if (argc < 2 || std::string_view(argv[1]) != each.name) continue;
      return each.make(each.name)->main(argc - 1, argv + 1, console, cancel);
    }
    return make_segment("segment")->main(argc, argv, console, cancel);
  });
}
