#include "opencl/program_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "core/file_bytes.hpp"
#include "core/split_text.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

std::string file_text(const std::string& dir, const std::string& file,
                      const KernelTable& built_in) {
  if (!dir.empty()) {
    const std::filesystem::path path = std::filesystem::path(dir) / file;
    try {
      return read_text(path.string(), "a kernel file");
    } catch (const InputError& error) {
      throw ConfigError(
          fmt::format("--kernel-dir: the kernel file '{}': {}", path.string(), error.what()));
    }
  }
  for (const EmbeddedText& kernel : built_in) {
    if (kernel.name == file) return std::string(kernel.text);
  }
  throw DeviceError(fmt::format("no kernel file '{}' was built into this program", file));
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text without comments and preprocessor lines.
std::string plain_code(std::string_view source) {
  std::string code;
  bool line_begins = true;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (source.substr(i, 2) == "//" || (c == '#' && line_begins)) {
      // To the end of the line, and of those that it continues on.
      while (i < source.size() && (source[i] != '\n' || source[i - 1] == '\\')) ++i;
      code += '\n';
      line_begins = true;
      continue;
    }
    if (source.substr(i, 2) == "/*") {
      i = std::min(source.find("*/", i), source.size() - 2) + 1;
      continue;
    }
    if (c == '\n') {
      line_begins = true;
    } else if (c != ' ') {
      line_begins = false;
    }
    code += c;
  }
  return code;
}

/// The name that ends at `end` or before it, behind spaces; empty if there is none.
std::string name_before(std::string_view text, std::size_t end) {
  while (end > 0 && !in_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

/// The position of the parenthesis that the last one of the text closes.
std::size_t opening_of_last(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == ')') ++depth;
    if (text[i - 1] == '(' && --depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

/// The name that a definition defines which begins with `head`, all up to its first brace or its
/// semicolon; `tail` is what follows the brace's end up to the semicolon. Empty if it defines none.
std::string defined_name(std::string_view head, std::string_view tail) {
  if (head.find("typedef") != std::string_view::npos) {
    const std::string_view named = tail.empty() ? head : tail;
    return name_before(named, named.size());
  }
  if (const std::size_t value = head.find('='); value != std::string_view::npos) {
    const std::string_view declared = head.substr(0, value);
    return name_before(declared, std::min(declared.find('['), declared.size()));
  }
  const std::size_t opening = opening_of_last(head);
  return opening == std::string_view::npos ? std::string() : name_before(head, opening);
}

/// "NAME" and "VALUE" of "-DNAME=VALUE"; the value of "-DNAME" is 1.
std::pair<std::string, std::string> macro_of(const std::string& option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos) return {option.substr(2), "1"};
  return {option.substr(2, equals - 2), option.substr(equals + 1)};
}

/// The macros that a source text defines.
std::set<std::string> macros_of(const std::string& source) {
  constexpr std::string_view kDefine = "#define ";
  std::set<std::string> names;
  for (const std::string_view line : split_text(source, '\n')) {
    if (line.rfind(kDefine, 0) != 0) continue;
    std::size_t end = kDefine.size();
    while (end < line.size() && in_name(line[end])) ++end;
    names.emplace(line.substr(kDefine.size(), end - kDefine.size()));
  }
  return names;
}

}  // namespace

std::string program_source(const std::string& dir, const std::string& file,
                           const KernelTable& built_in) {
  constexpr std::string_view kInclude = "#include \"";
  const std::string text = file_text(dir, file, built_in);
  std::string result;
  for (const std::string_view line : split_text(text, '\n')) {
    if (line.rfind(kInclude, 0) == 0) {
      const std::string_view name =
          line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size());
      result += program_source(dir, std::string(name), built_in);
    } else {
      result += line;
    }
    result += '\n';
  }
  return result;
}

std::vector<std::string> defined_names(std::string_view source) {
  const std::string code = plain_code(source);
  std::set<std::string> names;
  std::string head;
  std::string tail;
  int depth = 0;
  bool after_brace = false;
  const auto end_definition = [&] {
    const std::string name = defined_name(head, tail);
    if (!name.empty()) names.insert(name);
    head.clear();
    tail.clear();
    after_brace = false;
  };
  char before = '\n';
  for (const char c : code) {
    const bool line_begins = before == '\n';
    before = c;
    if (c == '{') {
      ++depth;
    } else if (c == '}') {
      // Both branches of a conditional may open a brace; at the start of a line a definition ends.
      depth = line_begins ? 0 : depth - 1;
      if (depth > 0) continue;
      after_brace = true;
      // A function ends here; types and constants go on to their semicolon.
      const bool function =
          head.find("typedef") == std::string::npos && head.find('=') == std::string::npos;
      if (function) end_definition();
    } else if (depth == 0 && c == ';') {
      end_definition();
    } else if (depth == 0) {
      (after_brace ? tail : head) += c;
    }
  }
  return {names.begin(), names.end()};
}

std::string part_name(std::string_view name, std::size_t part) {
  return fmt::format("{}_{}", name, part);
}

std::string joined_source(const std::vector<ProgramPart>& parts) {
  std::string joined;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const ProgramPart& part = parts[k];
    std::set<std::string> macros = macros_of(part.source);
    joined += "#pragma OPENCL FP_CONTRACT DEFAULT\n";
    for (const std::string_view option : split_text(part.options, ' ')) {
      if (option.empty()) continue;
      const auto [name, value] = macro_of(std::string(option));
      joined += fmt::format("#define {} {}\n", name, value);
      macros.insert(name);
    }
    for (const std::string& name : defined_names(part.source)) {
      joined += fmt::format("#define {} {}\n", name, part_name(name, k));
      macros.insert(name);
    }
    joined += fmt::format("#line 1 \"{}\"\n{}\n", part.file, part.source);
    for (const std::string& macro : macros) joined += fmt::format("#undef {}\n", macro);
  }
  return joined;
}

}  // namespace diacut
