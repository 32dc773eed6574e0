#include "diacut/parameters.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <tuple>
#include <utility>

#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "parameters/parameter_table.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

TEST(ParseParameters, SetsWhatIsGivenAndKeepsTheRest) {
  Parameters base;
  base.boundary.sigma = 2.5;
  const Parameters parsed = parse_parameters(
      "[eigen]\nvectors = 9\nsolver = \"spectra\"\ntolerance = 1e-3\n"
      "[boundary]\nthin = false\n[affinity]\nscale = 2\n[matvec]\nkernel = \"image\"\n",
      "my.toml", base);
  EXPECT_EQ(parsed.eigen.vectors, 9);
  EXPECT_EQ(parsed.eigen.solver, SolverKind::kSpectra);
  EXPECT_EQ(parsed.eigen.tolerance, 1e-3);
  EXPECT_FALSE(parsed.boundary.thin);
  EXPECT_EQ(parsed.boundary.sigma, 2.5);
  EXPECT_EQ(parsed.affinity.scale, 2.0);  // An integer stands for a real number.
  EXPECT_EQ(parsed.affinity.radius, Parameters{}.affinity.radius);
  EXPECT_EQ(parsed.matvec.kernel, MatvecKind::kImage);
}

TEST(ParseParameters, AcceptsEmptyTextDottedKeysAndWindowsLineEnds) {
  EXPECT_EQ(list_parameters(parse_parameters("", "my.toml")), list_parameters({}));
  EXPECT_EQ(parse_parameters("eigen.vectors = 5", "my.toml").eigen.vectors, 5);
  EXPECT_EQ(parse_parameters("[eigen]\nbasis = 18\n", "my.toml").eigen.basis, 18);  // Just enough.
  EXPECT_EQ(parse_parameters("\xEF\xBB\xBF[eigen]\r\nvectors = 5\r\n", "my.toml").eigen.vectors, 5);
}

TEST(SetParameter, LeavesTheParameterAloneWhereItRefuses) {
  Parameters parameters;
  EXPECT_THROW(set_parameter(parameters, "eigen.vectors", "9x"), ConfigError);
  EXPECT_THROW(set_parameter(parameters, "eigen.vectors", "1001"), ConfigError);
  EXPECT_THROW(set_parameter(parameters, "eigen.solver", "Lanczos"), ConfigError);
  EXPECT_EQ(list_parameters(parameters), list_parameters({}));
}

TEST(Validate, NamesTheFirstParameterOutOfRange) {
  EXPECT_NO_THROW(validate({}));
  Parameters parameters;
  parameters.affinity.radius = 0;
  parameters.eigen.vectors = 0;
  EXPECT_EQ(message_of<ConfigError>([&] { validate(parameters); }),
            "affinity.radius is 0, expected an integer from 1 to 10");
  parameters = {};
  parameters.eigen.solver = static_cast<SolverKind>(7);
  EXPECT_THAT(message_of<ConfigError>([&] { validate(parameters); }),
              StartsWith("eigen.solver is"));
  parameters = {};
  parameters.eigen.basis = 3;
  EXPECT_THAT(message_of<ConfigError>([&] { validate(parameters); }),
              StartsWith("eigen.basis is 3"));
}

TEST(LoadParameters, ReadsAFileAndNamesItInMessages) {
  const TempFolder folder;
  const auto message = [](const std::string& name) {
    return message_of<ConfigError>([&] { load_parameters(name); });
  };
  const auto write = [&](const std::string& text) {
    return folder.write("my.toml", {text.begin(), text.end()});
  };
  EXPECT_EQ(load_parameters(write("[eigen]\nvectors = 3\n")).eigen.vectors, 3);
  EXPECT_THAT(message(write("[eigen]\nvectors = 0\n")),
              StartsWith(folder / "my.toml:2: eigen.vectors"));
  EXPECT_THAT(message(write(std::string(2'000'000, '#'))), HasSubstr("larger than"));
  EXPECT_THAT(message(folder.path().string()), HasSubstr("is a folder"));
  EXPECT_THAT(message(""), HasSubstr("presets"));
  EXPECT_EQ(message("defualt"),
            "no configuration 'defualt': it is neither a file nor one of the presets, which are "
            "default, fast, micrographs, ncut, nuclei, quality, scene");
}

constexpr const char* kDefaultFile = DIACUT_SOURCE_DIR "/configs/default.toml";

/// The ends of the range of a parameter that is "an integer" or "a number" from one to another.
std::optional<std::pair<double, double>> range_of(const ParameterEntry& entry, const char* kind) {
  std::smatch ends;
  const std::regex range(std::string(kind) + " from ([^ ]+) to ([^ ,]+)(, or \"auto\")?");
  if (!std::regex_match(entry.allowed, ends, range)) return std::nullopt;
  return std::pair{std::stod(ends[1]), std::stod(ends[2])};
}

/// A random value that a parameter may have: sometimes one of the ends of its range; real numbers
/// of every magnitude.
ParameterValue random_value(const ParameterEntry& entry, std::mt19937_64& random) {
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto drawn_from = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  const std::int64_t choice = draw(0, 3);
  if (const auto range = range_of(entry, "an integer")) {
    const auto least = static_cast<std::int64_t>(range->first);
    const auto most = static_cast<std::int64_t>(range->second);
    return choice == 0 ? least : choice == 1 ? most : draw(least, most);
  }
  if (const auto range = range_of(entry, "a number")) {
    const auto [least, most] = *range;
    if (choice < 2) return choice == 0 ? least : most;
    const double magnitude = drawn_from(std::log(std::max(least, 1e-9)), std::log(most));
    return std::clamp(std::exp(magnitude), least, most);
  }
  // Among them characters that TOML has to quote, and bytes beyond ASCII.
  std::vector<ParameterValue> values = {
      true,
      false,
      std::string("auto"),
      std::string("native"),
      std::string("0.25%"),
      std::string("1,2,4"),
      std::string("0.5:1.5"),
      draw(16, 100'000),
      std::int64_t{1} << draw(0, 3),
      fmt::format("{},{}", drawn_from(0.1, 4), drawn_from(0.1, 4)),
      std::string(),
      std::string("a b.c"),
      std::string("\\\"\\"),
      std::string("\u00e9#x=")};
  for (const std::string_view name : entry.names) values.emplace_back(std::string(name));
  std::erase_if(values, [&](const ParameterValue& value) { return !entry.accepts(value); });
  return values.at(static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(values.size()) - 1)));
}

Parameters random_parameters(std::mt19937_64& random) {
  Parameters parameters;
  for (const ParameterEntry& entry : parameter_table()) {
    entry.set(parameters, random_value(entry, random));
  }
  // Pairs of parameters that contradict each other.
  if (parameters.eigen.basis <= parameters.eigen.vectors) parameters.eigen.basis = 0;
  if (parameters.eigen.solver == SolverKind::kSpectra) parameters.eigen.relative_tolerance = 0;
  if (parameters.region.method == RegionMethod::kObjects) parameters.region.regions = 0;
  if (parameters.region.method == RegionMethod::kWalker ||
      parameters.matvec.kernel == MatvecKind::kSymmetric) {
    parameters.affinity.strides = {1};
  }
  return parameters;
}

TEST(ParameterTable, EachEntryHasAMemberOfItsOwn) {
  // Changing one parameter changes that one in the list, and no other.
  const auto before = list_parameters({});
  const auto& table = parameter_table();
  ASSERT_EQ(before.size(), table.size());
  std::mt19937_64 random(1);
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (table[k].names.size() == 1) continue;  // Cannot change.
    Parameters parameters;
    for (int attempt = 0; attempt < 100 && list_parameters(parameters) == before; ++attempt) {
      table[k].set(parameters, random_value(table[k], random));
    }
    const auto after = list_parameters(parameters);
    for (std::size_t other = 0; other < table.size(); ++other) {
      EXPECT_EQ(after[other] != before[other], other == k) << table[k].key();
    }
  }
}

TEST(ParameterTable, EndsOfEachRangeAreAllowedAndBeyondIsNot) {
  const double infinity = std::numeric_limits<double>::infinity();
  using Values = std::vector<ParameterValue>;
  const auto text = [](const char* value) -> ParameterValue { return std::string(value); };
  const auto whole = [](std::int64_t value) -> ParameterValue { return value; };
  const std::pair<Values, Values> names = {{text(""), text("a \"b\"\\")},
                                           {text("two\nlines"), std::string(1, '\0'), whole(0)}};
  const std::map<std::string, std::pair<Values, Values>> forms = {
      {"boundary.weights", names},
      {"region.merging_weights", names},
      {"boundary.scales",
       {{text("0.1,4"), text("4,4,4,4,4,4,4,4")},
        {text(""), text("1,"), text("1;2"), text("nan"), text("0.09999999999999999"),
         text("4.000000000000001"), text("1,1,1,1,1,1,1,1,1"), whole(1), 1.0}}},
      {"image.range",
       {{text("auto"), text("type"), text("data"), text("robust"), text("-200:300"),
         text("0.5:1.5")},
        {text(""), text("AUTO"), text("1:"), text(":1"), text("2:1"), text("1:1"), text("a:b"),
         text("nan:1"), text("0:inf"), text("0:1:2"), whole(1), 0.5}}},
      {"image.detail",
       {{text("native"), whole(16), whole(4000)},
        {text(""), text("Native"), whole(15), whole(0), whole(-1), 640.0, true}}},
      {"affinity.strides",
       {{text("1"), text("1,2,4"), text("1,3,15,16")},
        {text(""), text("2"), text("1,1"), text("1,17"), text("1,2.5"), text("1,2,3,4,5"),
         text("1,4,2"), whole(2), true}}},
      {"boundary.turns",
       {{whole(1), whole(2), whole(4), whole(8)},
        {whole(0), whole(3), whole(6), whole(16), whole(-1), 2.0, text("8"), true}}},
      {"region.min_size",
       {{text("auto"), text("0.2%"), text("33.3%"), text("100%"), text("200m2"), whole(0),
         whole(500)},
        {text(""), text("few"), text("200M2"), text("-1ha"), text("101%"), text("-1%"), text("%"),
         text("1.5"), text("5 %"), text("nan%"), text("0.2%%"), text("99999999999"), whole(-1), 0.5,
         true}}}};
  for (const ParameterEntry& entry : parameter_table()) {
    Values inside;
    Values outside;
    if (const auto form = forms.find(entry.key()); form != forms.end()) {
      std::tie(inside, outside) = form->second;
    } else if (const auto integer = range_of(entry, "an integer")) {
      const auto least = static_cast<std::int64_t>(integer->first);
      const auto most = static_cast<std::int64_t>(integer->second);
      inside = {least, most};
      outside = {least - 1, most + 1, 1.0, true, std::string("1")};
    } else if (const auto real = range_of(entry, "a number")) {
      inside = {real->first, real->second};
      outside = {std::nextafter(real->first, -infinity),
                 std::nextafter(real->second, infinity),
                 std::nan(""),
                 infinity,
                 -infinity,
                 false};
      if (entry.accepts(text("auto"))) inside.push_back(text("auto"));
      outside.push_back(text("Auto"));
    } else if (!entry.names.empty()) {
      for (std::string_view allowed : entry.names) inside.emplace_back(std::string(allowed));
      outside = {std::string(""), std::string("AUTO"), std::int64_t{0}};
    } else {
      EXPECT_EQ(entry.allowed, "true or false") << entry.key();
      inside = {true, false};
      outside = {std::int64_t{1}, std::string("true")};
    }
    for (const ParameterValue& value : inside) {
      EXPECT_EQ(parameter_problem(entry, value), "") << entry.key();
      Parameters parameters;
      entry.set(parameters, value);
      EXPECT_EQ(entry.get(parameters), value) << entry.key();
    }
    for (const ParameterValue& value : outside) {
      EXPECT_NE(parameter_problem(entry, value), "") << entry.key() << parameter_text(value);
    }
  }
}

TEST(ParameterTable, PrintedAndListedParametersAreReadBack) {
  std::mt19937_64 random(20100);
  for (int round = 0; round < 300; ++round) {
    const Parameters parameters = random_parameters(random);
    const Parameters parsed = parse_parameters(print_parameters(parameters), "printed");
    Parameters again;
    for (const auto& [key, value] : list_parameters(parameters)) set_parameter(again, key, value);
    for (const ParameterEntry& entry : parameter_table()) {
      // Values, not their text: real numbers must come back to the last bit.
      EXPECT_EQ(entry.get(parsed), entry.get(parameters)) << entry.key();
      EXPECT_EQ(entry.get(again), entry.get(parameters)) << entry.key();
    }
  }
}

TEST(DescribeParameters, TellsOfEachRowOfTheTableWhatTheDefaultFileSays) {
  // The lines of a comment as one.
  const std::string file = std::regex_replace(read_bytes(kDefaultFile), std::regex("\\n# "), " ");
  const std::vector<ParameterInfo> infos = describe_parameters();
  const auto& table = parameter_table();
  ASSERT_EQ(infos.size(), table.size());
  for (std::size_t k = 0; k < infos.size(); ++k) {
    EXPECT_EQ(infos[k].key, table[k].key());
    EXPECT_FALSE(infos[k].meaning.empty()) << infos[k].key;
    const std::string unit = infos[k].unit.empty() ? "" : "Unit: " + infos[k].unit + ". ";
    const std::string said = "\n " + infos[k].meaning + " " + unit +
                             "Allowed: " + table[k].allowed + ".\n" + std::string(table[k].name) +
                             " = ";
    EXPECT_NE(file.find(said), std::string::npos) << "expected in default.toml:" << said;
  }
}

TEST(Presets, AreTheShippedFiles) {
  EXPECT_EQ(preset_names(), (std::vector<std::string>{"default", "fast", "micrographs", "ncut",
                                                      "nuclei", "quality", "scene"}));
  for (const std::string& name : preset_names()) {
    const std::string path = std::string(DIACUT_SOURCE_DIR) + "/configs/" + name + ".toml";
    EXPECT_EQ(list_parameters(load_parameters(name)), list_parameters(load_parameters(path)));
    EXPECT_NO_THROW(validate(load_parameters(name)));
  }
}

TEST(Presets, DefaultIsTheStructsDefaultsWithEveryKeyAndComment) {
  // configs/default.toml is what `segment --print-config` prints.
  EXPECT_EQ(read_bytes(kDefaultFile), print_parameters(Parameters{}));
}

TEST(Presets, GoFromFastToQuality) {
  const Parameters fast = load_parameters("fast");
  const Parameters standard = load_parameters("default");
  const Parameters quality = load_parameters("quality");
  EXPECT_LT(fast.eigen.vectors, standard.eigen.vectors);
  EXPECT_GT(fast.eigen.tolerance, standard.eigen.tolerance);
  // More eigenvectors, or more exact ones, would not show in quality's scores; scales do.
  EXPECT_GT(quality.boundary.scales.size(), standard.boundary.scales.size());
}

TEST(Presets, NcutIsTheWholeMatrixLanczosTheImageKernelAndDirectCuts) {
  const Parameters ncut = load_parameters("ncut");
  EXPECT_EQ(ncut.affinity.radius, 5);
  EXPECT_EQ(ncut.affinity.strides, Parameters{}.affinity.strides);
  EXPECT_EQ(ncut.matvec.kernel, MatvecKind::kImage);
  EXPECT_EQ(ncut.eigen.solver, SolverKind::kLanczos);
  EXPECT_EQ(ncut.region.method, RegionMethod::kKway);
}

TEST(Presets, ThresholdsBelongToTheStrengthsThatTheyWereChosenFor) {
  const Parameters scene = load_parameters("scene");
  EXPECT_EQ(scene.contour.spectral_weight, 0.2);
  EXPECT_EQ(scene.region.threshold, 0.07);
  const Parameters nuclei = load_parameters("nuclei");
  EXPECT_EQ(nuclei.boundary.scales, (std::vector{0.7, 1.4}));
  EXPECT_EQ(nuclei.region.threshold, 0.7);
}

TEST(LeastPixels, OfAHierarchy) {
  RegionParameters parameters;
  EXPECT_EQ(least_pixels(parameters, 154'401), 155);
  EXPECT_EQ(least_pixels(parameters, 12), 1);
  // 1000 regions of 154 pixels on average.
  parameters.regions = 1000;
  EXPECT_EQ(least_pixels(parameters, 154'401), 39);
  parameters.regions = 8;
  EXPECT_EQ(least_pixels(parameters, 154'401), 47);
  parameters.min_size = {LeastSize::Unit::kPixels, 7};
  EXPECT_EQ(least_pixels(parameters, 154'401), 7);
  parameters.min_size = {LeastSize::Unit::kShare, 0.01};
  EXPECT_EQ(least_pixels(parameters, 154'401), 1545);
  parameters.min_size = {LeastSize::Unit::kSquareMetres, 200};
  EXPECT_THROW(least_pixels(parameters, 154'401), ConfigError);
}

TEST(LeastPixels, OfDirectCuts) {
  RegionParameters parameters;
  parameters.method = RegionMethod::kKway;
  EXPECT_EQ(least_pixels(parameters, 1'000'000), 50);
}

}  // namespace
}  // namespace diacut::testing
