#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace diacut {

/// A row of a table.
struct CsvRow {
  std::size_t line = 0;  ///< Where it begins, from 1.
  std::vector<std::string> cells;
};

/// The rows of comma-separated values (RFC 4180) as spreadsheets write them: commas, semicolons or
/// tabs, whichever comes first; line ends of any kind. Spaces around cells without quotes do not
/// count. Rows of empty cells are left out.
std::vector<CsvRow> csv_rows(std::string_view text);

}  // namespace diacut
