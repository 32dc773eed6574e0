#include <gtest/gtest.h>

#include <string>

#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

TEST(ParseParameters, SetsWhatIsGivenAndKeepsTheRest) {
  Parameters base;
  base.cue.sigma = 2.5;
  const Parameters parsed = parse_parameters(
      "[eigen]\nvectors = 9\nsolver = \"spectra\"\ntolerance = 1e-3\n"
      "[cue]\nthin = false\n[affinity]\nscale = 2\n[matvec]\nkernel = \"image\"\n",
      "my.toml", base);
  EXPECT_EQ(parsed.eigen.vectors, 9);
  EXPECT_EQ(parsed.eigen.solver, SolverKind::kSpectra);
  EXPECT_EQ(parsed.eigen.tolerance, 1e-3);
  EXPECT_FALSE(parsed.cue.thin);
  EXPECT_EQ(parsed.cue.sigma, 2.5);
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

}  // namespace
}  // namespace diacut::testing
