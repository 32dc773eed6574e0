#include <algorithm>
#include <utility>

#include "output/annotation_parts.hpp"

namespace diacut {
namespace {

constexpr std::string_view kSpaces = " \t";

std::string trimmed(const std::string& cell) {
  const std::size_t begin = std::min(cell.find_first_not_of(kSpaces), cell.size());
  return cell.substr(begin, cell.find_last_not_of(kSpaces) + 1 - begin);
}

/// The first character outside of quotes that separates cells.
char separator_of(std::string_view text) {
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
    if (!quoted && (c == '\n' || c == '\r')) break;
  }
  return ',';
}

}  // namespace

std::vector<CsvRow> csv_rows(std::string_view text) {
  const char separator = separator_of(text);
  std::vector<CsvRow> rows;
  CsvRow row{1, {}};
  std::string cell;
  std::size_t line = 1;
  bool quoted = false;      // Within quotes.
  bool was_quoted = false;  // The cell that is read has quotes.
  const auto end_cell = [&] {
    row.cells.push_back(was_quoted ? cell : trimmed(cell));
    cell.clear();
    was_quoted = false;
  };
  const auto end_row = [&] {
    end_cell();
    const bool any = std::any_of(row.cells.begin(), row.cells.end(),
                                 [](const std::string& each) { return !each.empty(); });
    if (any) rows.push_back(std::move(row));
    row = {line, {}};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool ends_line = c == '\n' || (c == '\r' && next != '\n');
    if (ends_line) ++line;
    if (quoted && c == '"' && next == '"') {
      cell += c;
      ++i;
    } else if (c == '"' && (quoted || trimmed(cell).empty())) {
      if (!quoted) cell.clear();
      quoted = !quoted;
      was_quoted = true;
    } else if (!quoted && c == separator) {
      end_cell();
    } else if (!quoted && ends_line) {
      end_row();
    } else if (quoted || (c != '\r' && !(was_quoted && kSpaces.find(c) != kSpaces.npos))) {
      cell += c;
    }
  }
  end_row();
  return rows;
}

}  // namespace diacut
