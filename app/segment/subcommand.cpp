#include "subcommand.hpp"

#include <fmt/format.h>

namespace diacut::app {

bool is_subcommand(int argc, const char* const* argv, std::string_view name) {
  return argc > 1 && std::string_view(argv[1]) == name;
}

std::string only_input(const std::string& program, const std::vector<std::string>& inputs,
                       const InputWords& words) {
  if (inputs.size() == 1) return inputs.front();
  fail_usage(program,
             inputs.empty()
                 ? fmt::format("no {} given: name a file, or - for standard input", words.one)
                 : fmt::format("{} {} given; only one can be {} at a time", inputs.size(),
                               words.many, words.done));
}

CommandDescription describe_subcommand(const char* name, const CommandLine& line,
                                       const ValueTable& values) {
  CommandDescription description = describe(line.app(), values);
  description.name = name;
  return description;
}

}  // namespace diacut::app
