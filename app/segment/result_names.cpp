#include "result_names.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "diacut/errors.hpp"
#include "text.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

ResultNames::ResultNames(const std::vector<std::string>& inputs) {
  for (const std::string& read : inputs) {
    if (const auto id = identity(read)) inputs_.emplace(*id, read);
  }
}

void ResultNames::add(const std::string& option, const std::string& result,
                      const std::string& input) {
  if (result.empty() || result == "-") return;
  if (const auto id = identity(result)) {
    if (const auto found = inputs_.find(*id); found != inputs_.end()) {
      throw ConfigError(
          fmt::format("{}: '{}' is an input ({}) and would be overwritten; choose another place",
                      option, result, quoted_input_name(found->second)));
    }
  }
  // Several results may go to one device or pipe.
  std::error_code unknown;
  if (exists(result) && !fs::is_regular_file(result, unknown) && !is_folder(result)) return;
  const std::string key = fs::absolute(result).lexically_normal().string();
  const auto [other, is_new] = names_.emplace(key, std::pair(option, input));
  if (is_new) return;
  const auto& [other_option, other_input] = other->second;
  if (other_option != option) {
    throw ConfigError(fmt::format("{} and {} would both write '{}'; choose different places",
                                  other_option, option, result));
  }
  throw ConfigError(fmt::format("{}: {} and {} would both give '{}'; segment them in separate runs",
                                option, quoted_input_name(other_input), quoted_input_name(input),
                                result));
}

}  // namespace diacut::app
