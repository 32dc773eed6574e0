#include "stacks.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/output.hpp"
#include "exit_code.hpp"
#include "output/format.hpp"
#include "paths.hpp"
#include "text.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

std::string take_stack(const std::vector<std::string>& inputs, Job& roots) {
  for (const std::string& input : inputs) {
    std::error_code unknown;
    if (input != "-" && (!exists(input) || is_folder(input) || fs::is_regular_file(input, unknown)))
      continue;
    throw ConfigError(fmt::format(
        "--page all: {} can be read only once, and pages are read one by one; name a file",
        quoted_input_name(input)));
  }
  std::string& labels = roots.results[Result::kLabels];
  const bool one_file = inputs.size() == 1 && !is_folder(inputs.front());
  if (!one_file || labels.empty() || is_folder(labels)) return {};
  if (labels.back() == '/' || !fs::path(labels).has_extension()) return {};
  if (label_format(labels) != LabelFormat::kTiff) {
    throw ConfigError(fmt::format(
        "-o: '{}' cannot hold the labels of all pages; name a .tif file, or a folder", labels));
  }
  return std::exchange(labels, {});
}

int pages_to_do(const std::string& input, const Options& options) {
  try {
    return count_pages(input, options.parameters.image, options.part.channel);
  } catch (const InputError&) {
    return 1;
  }
}

fs::path page_name(const fs::path& name, int page, int pages) {
  const std::size_t digits = std::to_string(pages).size();
  return with_suffix(name, fmt::format("-{:0{}}", page, digits).c_str());
}

void give_stack(const Plan& plan, const fs::path& name, Job& job) {
  if (!plan.stack.empty()) {
    job.stack = plan.stack;
  } else if (std::string& labels = job.results[Result::kLabels]; !labels.empty()) {
    job.stack =
        (fs::path(plan.roots.results[Result::kLabels]) / with_suffix(name, ".tif")).string();
    labels.clear();
  }
}

std::optional<Failure> Stacks::add(const Job& job, const WrittenImage& written) {
  if (job.stack.empty() || (skip_existing_ && exists(job.stack))) return std::nullopt;
  // Of an input of one page the failure is told already.
  if (job.pages == 1 && written.failure) return std::nullopt;
  const bool is_last = job.part.page == job.pages || job.pages == 1;
  Stack& stack = stacks_[job.stack];
  auto failure = attempt(job.stack, [&] {
    if (!written.failure) {
      const Labels& labels = written.result.labels;
      const double bytes = 4.0 * labels.width * labels.height * job.pages;
      // Packed labels are far smaller; what the pages take at most decides, with room for headers.
      const bool is_big = bytes > 0.9 * std::numeric_limits<std::uint32_t>::max();
      if (!stack.file) stack.file.emplace(is_big, written.facts, job.pages);
      stack.file->add(written.result.seed_labels.empty() ? labels : written_labels(written.result));
      ++stack.pages;
    }
    if (!is_last) return;
    const int missing = job.pages - stack.pages;
    if (missing > 0) {
      throw InputError(fmt::format("'{}' is not written, because {} of its {} pages {} no labels",
                                   job.stack, missing, job.pages, missing == 1 ? "has" : "have"));
    }
    make_folder_of(job.stack);
    write_file(job.stack, stack.file->finish());
  });
  if (is_last || failure) stacks_.erase(job.stack);
  return failure;
}

}  // namespace diacut::app
