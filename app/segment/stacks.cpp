#include "stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "output/annotation_parts.hpp"
#include "paths.hpp"
#include "text.hpp"
#include "writer.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

void PageLinks::link(const PictureFacts& facts, WrittenImage& written) {
  if (!options_.overlap) return;
  const Job& job = *written.job;
  if (!linker_ || linked_ != job.input) {
    linked_ = job.input;
    linker_.emplace(*options_.overlap);
  }
  // Slices are linked within their time, and times where there are no slices.
  const bool has_slices = facts.slices > 1;
  const PageLinker::Series series(facts.image, has_slices ? facts.frame : 0);
  const LinkedThings earlier = linker_->found();
  Segmentation& result = *written.result;
  written.seed_labels = linker_->link(result.labels, result.notes, series);
  if (has_slices && facts.slice + 1 == facts.slices) linker_->end(series);
  const LinkedThings& now = linker_->found();
  written.linked = {now.objects - earlier.objects, now.splits - earlier.splits,
                    now.merges - earlier.merges};
}

std::string linked_text(const LinkedThings& linked) {
  return fmt::format("{}, {} and {}", counted(linked.objects, "object"),
                     counted(linked.splits, "split"), counted(linked.merges, "merge"));
}

std::optional<Failure> Stacks::add(const WrittenImage& written) {
  const Job& job = *written.job;
  if (job.stack.empty() || (skip_existing_ && exists(job.stack))) return std::nullopt;
  // The failure of an input of one page is reported already.
  if (job.pages == 1 && written.failure) return std::nullopt;
  const bool is_last = job.part.page == job.pages || job.pages == 1;
  Stack& stack = stacks_[job.stack];
  auto failure = attempt(job.stack, [&] {
    if (!written.failure) {
      const Labels& labels = written.result->labels;
      const double bytes = 4.0 * labels.width * labels.height * job.pages;
      // Packed labels are far smaller; what the pages take at most decides, with room for headers.
      const bool is_big = bytes > 0.9 * std::numeric_limits<std::uint32_t>::max();
      if (!stack.file) stack.file.emplace(is_big);
      stack.file->add(written.seed_labels.empty()
                          ? labels
                          : written_labels(SeededRegions{labels, written.seed_labels}),
                      written.facts);
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

void ObjectTable::add(const WrittenImage& written) {
  const std::vector<std::int32_t>& numbers = written.seed_labels;
  if (place_.empty() || written.failure || numbers.empty()) return;
  const Job& job = *written.job;
  const int page = std::max(job.part.page, 1);
  const std::string file =
      (fs::path(job.name).parent_path() / fs::path(job.input).filename()).generic_string();
  const PictureFacts& facts = written.facts;
  const double volume = facts.slices > 1 && facts.spacing > 0
                            ? facts.pixel.width * facts.pixel.height * facts.spacing
                            : 0;
  std::vector<std::int64_t> pixels(numbers.size(), 0);
  for (const std::int32_t label : written.result->labels.values) {
    if (label != 0) ++pixels[static_cast<std::size_t>(label) - 1];
  }
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    Object& object = objects_.try_emplace({file, numbers[k]}, Object{page}).first->second;
    object.last = page;
    ++object.pages;
    object.pixels += pixels[k];
    object.volume += static_cast<double>(pixels[k]) * volume;
  }
}

void ObjectTable::commit() const {
  if (objects_.empty()) return;
  std::string text = "file,label,first_page,last_page,pages,pixels,volume_um3\n";
  for (const auto& [key, object] : objects_) {
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(key.first), key.second, object.first,
                        object.last, object.pages, object.pixels,
                        object.volume > 0 ? fmt::format("{:.10g}", object.volume) : "");
  }
  write_file(place_, text);
}

}  // namespace diacut::app
