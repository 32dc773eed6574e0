#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "paths.hpp"

namespace diacut::app {

/// The places of all results of a run. No result may take the place of another result, or of a
/// file that the run reads.
class ResultNames {
 public:
  /// `inputs`: the files that the run reads. Empty names and those that lead nowhere are left out.
  explicit ResultNames(const std::vector<std::string>& inputs);

  /// Adds the place of a result. `input`: the image that it is the result of, or empty. Throws
  /// ConfigError when the place is taken.
  void add(const std::string& option, const std::string& result, const std::string& input);

 private:
  std::map<Identity, std::string> inputs_;
  std::map<std::string, std::pair<std::string, std::string>> names_;  ///< Option and input.
};

}  // namespace diacut::app
