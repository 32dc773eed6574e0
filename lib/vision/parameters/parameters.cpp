#include "diacut/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/embedded_text.hpp"
#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "parameters/parameter_table.hpp"

namespace diacut {

namespace {

constexpr std::string_view kPresetSuffix = ".toml";
/// Larger files are no configurations: device files, or photographs given by mistake.
constexpr std::size_t kMaxConfigBytes = 1 << 20;

/// The entry of the least distance(entry), the first of several.
template <class Distance>
const ParameterEntry& nearest_entry(const Distance& distance) {
  const auto& entries = parameter_table();
  return *std::min_element(
      entries.begin(), entries.end(),
      [&](const ParameterEntry& a, const ParameterEntry& b) { return distance(a) < distance(b); });
}

std::string nearest_key(std::string_view key) {
  // The last part finds a key under the wrong table, or under no table.
  const std::string_view last_part = key.substr(key.rfind('.') + 1);
  return nearest_entry([&](const ParameterEntry& entry) {
           return std::min(edit_distance(key, entry.key()),
                           edit_distance(last_part, entry.name) + 1);
         })
      .key();
}

std::string_view nearest_table(std::string_view table) {
  return nearest_entry(
             [&](const ParameterEntry& entry) { return edit_distance(table, entry.table); })
      .table;
}

bool is_table(std::string_view name) {
  const auto& entries = parameter_table();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const ParameterEntry& entry) { return entry.table == name; });
}

const ParameterEntry* find_entry(std::string_view key) {
  for (const ParameterEntry& entry : parameter_table()) {
    if (entry.key() == key) return &entry;
  }
  return nullptr;
}

/// What is wrong between several parameters; empty if nothing is.
std::string cross_problem(const Parameters& p) {
  if (p.eigen.basis != 0 && p.eigen.basis <= p.eigen.vectors) {
    return fmt::format(
        "eigen.basis is {}, expected 0 (which chooses) or more than eigen.vectors, which is {}",
        p.eigen.basis, p.eigen.vectors);
  }
  if (p.eigen.relative_tolerance > 0 && p.eigen.solver == SolverKind::kSpectra) {
    return "eigen.relative_tolerance is not for eigen.solver spectra, which knows one tolerance "
           "for all eigenvectors: leave it 0, or choose another solver";
  }
  if (p.region.method == RegionMethod::kObjects && p.region.regions != 0) {
    return fmt::format(
        "region.regions (--regions) is {}, but region.method objects finds as many objects as "
        "there are: leave it 0, or choose the method hierarchy",
        p.region.regions);
  }
  if (p.matvec.kernel == MatvecKind::kSymmetric && p.affinity.strides.size() > 1) {
    return "affinity.strides has more than 1, which matvec.kernel symmetric cannot take: leave one "
           "of them out";
  }
  if (p.region.method == RegionMethod::kWalker && p.affinity.strides.size() > 1) {
    return "affinity.strides has more than 1, which region.method walker (--seeds) cannot take: "
           "leave it 1";
  }
  return {};
}

std::optional<ParameterValue> value_of(const toml::node& node) {
  if (const auto flag = node.as_boolean()) return flag->get();
  if (const auto integer = node.as_integer()) return integer->get();
  if (const auto real = node.as_floating_point()) return real->get();
  if (const auto text = node.as_string()) return text->get();
  return std::nullopt;
}

std::string type_name(const toml::node& node) {
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return "a date or time";
}

/// A key of a configuration and its value, which is a table only if no section has the key's name.
struct KeyFound {
  std::string key;
  const toml::node* node = nullptr;
};

void collect(const toml::table& table, const std::string& prefix, std::vector<KeyFound>& found) {
  for (const auto& [name, node] : table) {
    const std::string key =
        prefix.empty() ? std::string(name.str()) : fmt::format("{}.{}", prefix, name.str());
    if (node.is_table() && prefix.empty() && is_table(key)) {
      collect(*node.as_table(), key, found);
    } else {
      found.push_back({key, &node});
    }
  }
}

void apply(Parameters& parameters, const KeyFound& found) {
  if (found.node->is_table() && found.key.find('.') == std::string::npos) {
    throw ConfigError(fmt::format("unknown table [{}]; the nearest known one is [{}]", found.key,
                                  nearest_table(found.key)));
  }
  if (is_table(found.key)) {
    throw ConfigError(
        fmt::format("'{0}' must be a table: write [{0}] and its keys below", found.key));
  }
  const ParameterEntry* entry = find_entry(found.key);
  if (entry == nullptr) {
    throw ConfigError(fmt::format("unknown key '{}'; the nearest known one is '{}'", found.key,
                                  nearest_key(found.key)));
  }
  const std::optional<ParameterValue> value = value_of(*found.node);
  const std::string problem =
      value ? parameter_problem(*entry, *value)
            : fmt::format("is {}, expected {}", type_name(*found.node), entry->allowed);
  if (!problem.empty()) throw ConfigError(fmt::format("{} {}", found.key, problem));
  entry->set(parameters, *value);
}

std::string read_config(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad() || (stream.fail() && !stream.eof())) {
    throw ConfigError(fmt::format("configuration '{}' cannot be read", path));
  }
  if (text.size() > kMaxConfigBytes) {
    throw ConfigError(
        fmt::format("'{}' is larger than {} bytes: no configuration is", path, kMaxConfigBytes));
  }
  return text;
}

/// What a text that a person typed may stand for.
std::vector<ParameterValue> values_of(const std::string& text) {
  std::vector<ParameterValue> values = {text};
  if (text == "true" || text == "false") values.emplace_back(text == "true");
  if (const auto integer = number_in<std::int64_t>(text)) values.emplace_back(*integer);
  if (const auto real = number_in<double>(text)) values.emplace_back(*real);
  return values;
}

/// A text as lines of a comment in TOML.
std::string comment(const std::string& text) {
  constexpr std::size_t kWidth = 100;
  std::string lines = "#";
  std::size_t start = 0;  // Of the last line.
  for (const std::string_view word : split_text(text, ' ')) {
    if (lines.size() - start + 1 + word.size() > kWidth) {
      lines += "\n#";
      start = lines.size() - 1;
    }
    lines += fmt::format(" {}", word);
  }
  return lines + "\n";
}

}  // namespace

void validate(const Parameters& parameters) {
  for (const ParameterEntry& entry : parameter_table()) {
    const std::string problem = parameter_problem(entry, entry.get(parameters));
    if (!problem.empty()) throw ConfigError(fmt::format("{} {}", entry.key(), problem));
  }
  const std::string problem = cross_problem(parameters);
  if (!problem.empty()) throw ConfigError(problem);
}

Parameters parse_parameters(const std::string& toml, const std::string& name,
                            const Parameters& base) {
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}: {}", name, error.source().begin.line,
                                  std::string(error.description())));
  }
  std::vector<KeyFound> found;
  collect(root, "", found);
  // In the order of the file, so that its first mistake is reported.
  std::stable_sort(found.begin(), found.end(), [](const KeyFound& a, const KeyFound& b) {
    const toml::source_position& p = a.node->source().begin;
    const toml::source_position& q = b.node->source().begin;
    return std::pair(p.line, p.column) < std::pair(q.line, q.column);
  });
  Parameters parameters = base;
  for (const KeyFound& key : found) {
    try {
      apply(parameters, key);
    } catch (const ConfigError& error) {
      throw ConfigError(
          fmt::format("{}:{}: {}", name, key.node->source().begin.line, error.what()));
    }
  }
  const std::string problem = cross_problem(parameters);
  if (!problem.empty()) throw ConfigError(fmt::format("{}: {}", name, problem));
  return parameters;
}

Parameters load_parameters(const std::string& preset_or_path) {
  for (const EmbeddedText& config : embedded_configs()) {
    if (config.name == preset_or_path + std::string(kPresetSuffix)) {
      return parse_parameters(std::string(config.text), std::string(config.name));
    }
  }
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(preset_or_path, code);
  if (!std::filesystem::exists(status)) {
    throw ConfigError(fmt::format(
        "no configuration '{}': it is neither a file nor one of the presets, which are {}",
        preset_or_path, fmt::join(preset_names(), ", ")));
  }
  if (std::filesystem::is_directory(status)) {
    throw ConfigError(
        fmt::format("configuration '{}' is a folder, expected a file", preset_or_path));
  }
  return parse_parameters(read_config(preset_or_path), preset_or_path);
}

void set_parameter(Parameters& parameters, const std::string& key, const std::string& value) {
  const ParameterEntry* entry = find_entry(key);
  if (entry == nullptr) {
    throw ConfigError(fmt::format("unknown parameter '{}'; the nearest known one is '{}'", key,
                                  nearest_key(key)));
  }
  const std::vector<ParameterValue> values = values_of(value);
  const auto found = std::find_if(values.begin(), values.end(), entry->accepts);
  if (found == values.end()) {
    throw ConfigError(fmt::format("{} is '{}', expected {}", key, value, entry->allowed));
  }
  entry->set(parameters, *found);
}

std::string print_parameters(const Parameters& parameters) {
  std::string text = comment(
      "diacut's parameters, with units and sources. A key that is left out keeps its default.");
  std::string_view table;
  for (const ParameterEntry& entry : parameter_table()) {
    if (entry.table != table) {
      table = entry.table;
      text += fmt::format("\n{}[{}]\n", comment(std::string(entry.section)), table);
    }
    const std::string unit =
        entry.text.unit.empty() ? "" : fmt::format("Unit: {}. ", entry.text.unit);
    text += fmt::format("\n{}{}{} = {}\n", comment(entry.text.meaning),
                        comment(fmt::format("{}Allowed: {}.", unit, entry.allowed)), entry.name,
                        parameter_text(entry.get(parameters)));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> list_parameters(const Parameters& parameters) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const ParameterEntry& entry : parameter_table()) {
    list.emplace_back(entry.key(), plain_text(entry.get(parameters)));
  }
  return list;
}

std::vector<ParameterInfo> describe_parameters() {
  std::vector<ParameterInfo> infos;
  for (const ParameterEntry& entry : parameter_table()) {
    infos.push_back({entry.key(), entry.text.unit, entry.allowed, entry.text.meaning});
  }
  return infos;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const EmbeddedText& config : embedded_configs()) {
    if (config.name.ends_with(kPresetSuffix)) {
      names.emplace_back(config.name.substr(0, config.name.size() - kPresetSuffix.size()));
    }
  }
  return names;
}

ContourParameters contour_parameters(const ContourChoice& choice, BoundarySource source) {
  ContourParameters fitted;
  if (source == BoundarySource::kGradient && choice.spectral != SpectralUse::kNever) {
    fitted.boundary_weight = 0.3;
    fitted.spectral_weight = 0.7;
    fitted.spectral_power = 0.5;
  } else if (source == BoundarySource::kNetwork) {
    fitted.spectral_weight = 0.05;
  }
  return {choice.spectral, choice.boundary_weight.value_or(fitted.boundary_weight),
          choice.spectral_weight.value_or(fitted.spectral_weight),
          choice.spectral_power.value_or(fitted.spectral_power),
          choice.spectral_scale.value_or(fitted.spectral_scale)};
}

bool makes_hierarchy(const Parameters& parameters) {
  const RegionMethod method = parameters.region.method;
  return method == RegionMethod::kHierarchy || method == RegionMethod::kObjects;
}

}  // namespace diacut
