#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diacut/label_stack.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "writer.hpp"

namespace diacut::app {

/// For --page all: takes the file that the labels of the only input's pages go to out of the places
/// of a run, whose labels otherwise go into a folder; empty if there is no such file. Throws
/// ConfigError for a file of a format that holds no pages, and for an input that can be read once
/// only.
std::string take_stack(const std::vector<std::string>& inputs, Job& roots);

/// The pages of a file, each of which becomes a job; 1 where they cannot be counted, so that the
/// job tells why.
int pages_to_do(const std::string& input, const Options& options);

/// The name of a page's results: "a-07" for page 7 of 12 of a.
std::filesystem::path page_name(const std::filesystem::path& name, int page, int pages);

/// Lets the labels of a job be a page of a stack, if labels are wanted. `name`: of the results of
/// the whole file.
void give_stack(const Plan& plan, const std::filesystem::path& name, Job& job);

/// The TIFF files whose pages are the labels of the pages of an input. A file is written when all
/// of its pages are there; where a page failed it is not.
class Stacks {
 public:
  /// `skip_existing`: whether files that are there are left as they are.
  explicit Stacks(bool skip_existing) : skip_existing_(skip_existing) {}

  /// Adds the labels of a job, in the order of the pages. After the last page the file is written:
  /// what fails then is returned. Jobs without a stack are passed over.
  std::optional<Failure> add(const Job& job, const WrittenImage& written);

 private:
  struct Stack {
    std::optional<LabelStack> file;
    int pages = 0;
  };
  bool skip_existing_;
  std::map<std::string, Stack> stacks_;  ///< Of inputs under way, by file.
};

}  // namespace diacut::app
