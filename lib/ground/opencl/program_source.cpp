#include "opencl/program_source.hpp"

#include <fmt/format.h>

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

/// The name that ends at `end` or before it, behind spaces; empty if there is none.
std::string name_before(std::string_view text, std::size_t end) {
  while (end > 0 && !in_name(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

/// The name that a line at file scope defines; empty if it defines none. A definition begins at the
/// start of a line, and a line has one.
std::string defined_name(std::string line) {
  if (line.empty() || !(in_name(line[0]) || line[0] == '}')) return "";
  constexpr std::string_view kAttribute = "__attribute__((";
  if (const std::size_t from = line.find(kAttribute); from != std::string::npos) {
    line.erase(from, line.find("))", from) - from);
  }
  const bool type = line[0] == '}' || line.starts_with("typedef");
  const std::size_t end = type ? line.rfind(';') : line.find_first_of("([=");
  return end == std::string::npos ? "" : name_before(line, end);
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
  std::set<std::string> names;
  for (const std::string_view line : split_text(source, '\n')) {
    const std::string name = defined_name(std::string(line));
    if (!name.empty()) names.insert(name);
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
