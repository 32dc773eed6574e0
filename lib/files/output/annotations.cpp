#include "diacut/annotations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "core/file_bytes.hpp"
#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "image/naming.hpp"
#include "output/annotation_parts.hpp"
#include "output/atomic_file.hpp"
#include "output/markup.hpp"

namespace diacut {
namespace {

/// COCO keeps images and regions in two lists; the other formats keep regions in their images.
bool is_coco(AnnotationFormat format) {
  return format == AnnotationFormat::kCoco || format == AnnotationFormat::kCocoRle;
}

}  // namespace

RingCount count_rings(const Outlines& outlines, std::int64_t label) {
  RingCount count;
  for (const Ring& ring : outlines.of(label)) ++(ring.hole ? count.holes : count.pieces);
  return count;
}

std::string height_text(float height) {
  return std::isfinite(height) && height >= 0 ? fmt::format("{}", height) : "";
}

RegionClasses RegionClasses::in_file(const std::string& file) const {
  const auto stem = [](const std::filesystem::path& name) {
    return std::filesystem::path(name).replace_extension();
  };
  auto found = of_file.find(file);
  if (found == of_file.end()) {
    found = std::find_if(of_file.begin(), of_file.end(), [&](const auto& each) {
      return stem(each.first) == stem(file) || stem(each.first) == file;
    });
  }
  return {names, found == of_file.end() ? of_label : found->second};
}

RegionClasses read_classes(const std::string& path) {
  return naming(path, [&] {
    const std::string text = read_text(path, "a table of labels and classes");
    RegionClasses classes{{}, {}};
    std::size_t label_at = 0;
    std::size_t class_at = 1;
    std::size_t columns = 2;
    std::size_t file_at = columns;  // No column.
    for (CsvRow& row : csv_rows(text)) {
      std::vector<std::string>& cells = row.cells;
      const auto refuse = [&](std::string_view expected) {
        throw InputError(
            fmt::format("line {} is '{}', expected {}", row.line, fmt::join(cells, ","), expected));
      };
      const auto called = [&cells](const char* name) {
        return std::find_if(cells.begin(), cells.end(), [name](const std::string& cell) {
          return ::strcasecmp(cell.c_str(), name) == 0;
        });
      };
      if (const auto label = called("label"); classes.names.empty() && label != cells.end()) {
        const auto named = called("class");
        const auto file = called("file");
        label_at = static_cast<std::size_t>(label - cells.begin());
        file_at = static_cast<std::size_t>(file - cells.begin());
        class_at = static_cast<std::size_t>(named - cells.begin());
        columns = cells.size();
        if (class_at == columns) class_at = 0;
        while (class_at == label_at || class_at == file_at) ++class_at;
        continue;
      }
      while (!cells.empty() && cells.back().empty()) cells.pop_back();
      if (cells.size() > columns) {
        refuse(fmt::format("{} columns: put a name that holds the separator in quotes", columns));
      }
      const bool has_files = file_at < columns;
      cells.resize(std::max({label_at, class_at, has_files ? file_at : 0}) + 1);
      const std::int64_t label = number_in<std::int64_t>(cells[label_at]).value_or(-1);
      const std::string& name = cells[class_at];
      if (label == 0) refuse("labels from 1: 0 is the background, which has no class");
      if (label < 1 || name.empty()) refuse("LABEL,CLASS, as in 17,nucleus");
      if (has_files && cells[file_at].empty()) refuse("the name of a file");
      auto& of_label = has_files ? classes.of_file[cells[file_at]] : classes.of_label;
      if (of_label.contains(label)) refuse("each label once: leave out one of its lines");
      if (!is_utf8(name)) {
        throw InputError(fmt::format(
            "line {} holds bytes that are no UTF-8: save the table as CSV UTF-8", row.line));
      }
      const auto known = std::find(classes.names.begin(), classes.names.end(), name);
      of_label[label] = static_cast<std::size_t>(known - classes.names.begin());
      if (known == classes.names.end()) classes.names.push_back(name);
    }
    classes.names.emplace_back("region");
    return classes;
  });
}

void check_classes(const RegionClasses& classes, const RegionTable& table) {
  std::set<std::int64_t> labels;
  for (const RegionFigures& region : table.regions) labels.insert(region.label);
  for (const auto& [label, name] : classes.of_label) {
    if (labels.contains(label)) continue;
    throw InputError(fmt::format(
        "the class '{}' is given to label {}, which no region has (there are {}{}): leave it out",
        classes.names[name], label, labels.size(),
        labels.empty() ? "" : fmt::format(", {} to {}", *labels.begin(), *labels.rbegin())));
  }
}

AnnotationPart annotate(const AnnotatedImage& image, AnnotationFormat format) {
  return annotation_row(format).part(image);
}

std::vector<std::string> annotation_notes(const Outlines& outlines, AnnotationFormat format) {
  const AnnotationRow& row = annotation_row(format);
  const auto regions = static_cast<std::int64_t>(outlines.first_ring.size()) - 2;
  std::int64_t noted = 0;
  for (std::int64_t label = 1; label <= regions; ++label) {
    const RingCount rings = count_rings(outlines, label);
    if (rings.holes > 0 || (row.notes_pieces && rings.pieces > 1)) ++noted;
  }
  if (noted == 0 || row.note == nullptr) return {};
  return {fmt::format("{} of {} regions {}", noted, regions, row.note)};
}

struct AnnotationFile::State {
  State(const std::string& path, AnnotationFormat wanted, const RegionClasses& classes)
      : file(path), format(wanted), row(annotation_row(wanted)) {
    if (row.head != nullptr) write(row.head(classes));
  }
  void write(const std::string& text) { file.write(text.data(), text.size()); }
  void separate(bool& after_another) {
    if (std::exchange(after_another, true)) write(row.between);
  }

  AtomicFile file;
  AnnotationFormat format;
  const AnnotationRow& row;
  bool begun = false;
  std::int64_t number = 0;          ///< Of the newest annotation of COCO.
  std::vector<std::string> images;  ///< Of COCO, which the file's end holds.
  std::string header;               ///< Of a table.
};

AnnotationFile::AnnotationFile(const std::string& path, AnnotationFormat format,
                               const RegionClasses& classes)
    : state_(std::make_unique<State>(path, format, classes)) {}
AnnotationFile::~AnnotationFile() = default;
AnnotationFile::AnnotationFile(AnnotationFile&&) noexcept = default;

void AnnotationFile::add(const AnnotationPart& part) {
  State& state = *state_;
  if (state.format == AnnotationFormat::kTable) {
    if (!std::exchange(state.begun, true)) {
      state.header = part.image;
      state.write(part.image + '\n');
    } else if (state.header != part.image) {
      throw InputError(fmt::format(
          "it is left out of the table, whose columns are '{}', while its own are '{}': make a "
          "table of its own, or name the channels that all have (--measure)",
          state.header, part.image));
    }
    for (const std::string& row : part.regions) state.write(row + '\n');
    return;
  }
  if (is_coco(state.format)) {
    for (const std::string& region : part.regions) {
      state.separate(state.begun);
      state.write(fmt::format(R"({{"id":{},{})", ++state.number, region));
    }
    state.images.push_back(part.image);
    return;
  }
  state.separate(state.begun);
  state.write(part.image);
}

void AnnotationFile::commit() {
  State& state = *state_;
  if (is_coco(state.format)) {
    state.write("],\n\"images\":[");
    bool begun = false;
    for (const std::string& image : state.images) {
      state.separate(begun);
      state.write(image);
    }
  }
  state.write(state.row.tail);
  state.file.commit();
}

void write_annotations(const std::string& path, const AnnotatedImage& image,
                       AnnotationFormat format) {
  AnnotationFile file(path, format, image.classes != nullptr ? *image.classes : RegionClasses());
  file.add(annotate(image, format));
  file.commit();
}

}  // namespace diacut
