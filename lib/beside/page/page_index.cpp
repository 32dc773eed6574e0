#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "diacut/version.hpp"
#include "output/markup.hpp"
#include "page/page_part.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;
using fmt::arg;

/// The beginning of a page in which its summary must be, bytes.
constexpr std::size_t kHeadBytes = std::size_t{1} << 18;
constexpr std::string_view kSummary = "<meta name=\"diacut-summary\" content=\"";

/// What a page says of itself; nothing if the file is not there or is no page.
std::optional<nlohmann::json> summary_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t start = head.find(kSummary);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t text = start + kSummary.size();
  const std::size_t end = head.find('"', text);
  if (end == std::string::npos) return std::nullopt;
  const auto json = nlohmann::json::parse(
      html_unescaped(std::string_view(head).substr(text, end - text)), nullptr, false);
  const bool is_whole = json.is_object() && json.value("title", nlohmann::json()).is_string() &&
                        json.value("thumbnail", nlohmann::json()).is_string() &&
                        json.value("width", nlohmann::json()).is_number_integer() &&
                        json.value("height", nlohmann::json()).is_number_integer() &&
                        json.value("regions", nlohmann::json()).is_number_integer();
  if (!is_whole) return std::nullopt;
  return json;
}

std::string item_of(const std::string& page, const fs::path& folder,
                    const nlohmann::json& summary) {
  const fs::path relative = fs::absolute(page).lexically_relative(folder);
  // "./" keeps a browser from reading a name with a colon as an address.
  const fs::path title = relative.parent_path() / summary["title"].get<std::string>();
  return fmt::format(fmt::runtime(page_part("index_item.html")),
                     arg("link", html_escaped("./" + link_to(relative.generic_string()))),
                     arg("thumbnail", html_escaped(summary["thumbnail"].get<std::string>())),
                     arg("title", html_escaped(title.generic_string())),
                     arg("width", summary["width"].get<std::int64_t>()),
                     arg("height", summary["height"].get<std::int64_t>()),
                     arg("kind", summary.value("objects", false) ? "objects" : "regions"),
                     arg("regions", summary["regions"].get<std::int64_t>()));
}

}  // namespace

std::size_t write_page_index(const std::string& path, const std::string& title,
                             const std::vector<std::string>& pages) {
  const fs::path folder = fs::absolute(path).parent_path();
  std::string items;
  std::size_t count = 0;
  for (const std::string& page : pages) {
    const std::optional<nlohmann::json> summary = summary_of(page);
    if (!summary) continue;
    items += item_of(page, folder, *summary);
    ++count;
  }
  if (count == 0) return 0;
  write_file(path,
             fmt::format(fmt::runtime(page_part("index.html")), arg("title", html_escaped(title)),
                         arg("style", page_part("index.css")), arg("version", kVersion),
                         arg("count", count), arg("items", items)));
  return count;
}

}  // namespace diacut
