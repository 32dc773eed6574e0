#include "subcommand.hpp"

#include <fmt/format.h>

#include "program.hpp"

namespace diacut::app {

ExitCode Subcommand::main(int argc, const char* const* argv, Console& console,
                          const CancelToken& cancel) {
  if (line_.parse(argc, argv, common_)) settle();
  return begin(common_, console) ? run(console, cancel) : ExitCode::kDone;
}

const std::string& Subcommand::only_input(const char* one, const char* many,
                                          const char* instead) const {
  if (inputs_.size() == 1) return inputs_.front();
  line_.fail(inputs_.empty() ? fmt::format("no {} given: name a file, or - for standard input", one)
                             : fmt::format("{} {} given: name {}", inputs_.size(), many, instead));
}

}  // namespace diacut::app
