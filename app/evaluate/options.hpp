#pragma once

#include <optional>
#include <string>

#include "command_description.hpp"
#include "console.hpp"
#include "evaluate/evaluation.hpp"

namespace diacut::app {

/// What the command line says. Texts are empty where their option was not given.
struct Options : CommonOptions {
  std::string results;  ///< A folder.
  std::string truth;    ///< A folder.
  std::optional<ResultKind> kind;
  EvaluationParameters parameters;  ///< As far as they do not depend on the kind.
  bool partial = false;
  int thresholds = 99;
  std::string json;
  std::string csv;
  std::string plot;
  int jobs = 1;
};

/// Throws ConfigError for anything that makes no sense.
Options parse_options(int argc, const char* const* argv);

/// The options of diacut-evaluate, for its manual page and completions.
CommandDescription describe_options();

}  // namespace diacut::app
