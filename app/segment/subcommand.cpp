#include "subcommand.hpp"

#include <fmt/format.h>

#include "command_line.hpp"

namespace diacut::app {

std::string only_input(const std::string& program, const std::vector<std::string>& inputs,
                       const InputWords& words) {
  if (inputs.size() == 1) return inputs.front();
  fail_usage(program,
             inputs.empty()
                 ? fmt::format("no {} given: name a file, or - for standard input", words.one)
                 : fmt::format("{} {} given: name {}", inputs.size(), words.many, words.instead));
}

}  // namespace diacut::app
