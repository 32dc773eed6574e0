#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

std::string parse_error(const std::string& toml) {
  return message_of<ConfigError>([&] { parse_parameters(toml, "my.toml"); });
}

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
  EXPECT_EQ(parse_parameters("\xEF\xBB\xBF[eigen]\r\nvectors = 5\r\n", "my.toml").eigen.vectors, 5);
}

TEST(ParseParameters, NamesFileLineAndNearestKey) {
  EXPECT_EQ(parse_error("[eigen]\nvectors = 5\ntolerence = 1e-3\n"),
            "my.toml:3: unknown key 'eigen.tolerence'; the nearest known one is 'eigen.tolerance'");
  EXPECT_EQ(parse_error("vectors = 5\n"),
            "my.toml:1: unknown key 'vectors'; the nearest known one is 'eigen.vectors'");
  EXPECT_EQ(parse_error("[region]\n\nsigma = 1\n"),
            "my.toml:3: unknown key 'region.sigma'; the nearest known one is 'cue.sigma'");
  EXPECT_EQ(parse_error("[egien]\nvectors = 5\n"),
            "my.toml:1: unknown table [egien]; the nearest known one is [eigen]");
  EXPECT_THAT(parse_error("[eigen.more]\nvectors = 5\n"),
              StartsWith("my.toml:1: unknown key 'eigen.more'"));
}

TEST(ParseParameters, TellsTheFirstMistakeOfTheFile) {
  // Sorted by name, [affinity] would come before [region].
  EXPECT_THAT(parse_error("[region]\nregions = -1\n[affinity]\nradius = 99\n"),
              StartsWith("my.toml:2: region.regions"));
}

TEST(ParseParameters, RefusesWrongTypes) {
  EXPECT_EQ(parse_error("[eigen]\nvectors = 17.0\n"),
            "my.toml:2: eigen.vectors is 17.0, expected an integer from 2 to 1000");
  EXPECT_THAT(parse_error("[eigen]\nvectors = \"17\"\n"), HasSubstr("is \"17\", expected an int"));
  EXPECT_THAT(parse_error("[cue]\nthin = 1\n"), HasSubstr("is 1, expected true or false"));
  EXPECT_THAT(parse_error("[cue]\nsigma = true\n"), HasSubstr("is true, expected a number"));
  EXPECT_THAT(parse_error("[cue]\nsigma = [1.0]\n"), HasSubstr("is an array, expected a number"));
  EXPECT_THAT(parse_error("[cue]\nsigma = 2020-01-01\n"), HasSubstr("is a date or time, expected"));
  EXPECT_THAT(parse_error("cue = 1\n"), HasSubstr("my.toml:1: 'cue' must be a table"));
  EXPECT_THAT(parse_error("[[cue]]\nsigma = 1\n"), HasSubstr("my.toml:1: 'cue' must be a table"));
}

TEST(ParseParameters, RefusesValuesOutOfRange) {
  EXPECT_EQ(parse_error("[affinity]\nradius = 11\n"),
            "my.toml:2: affinity.radius is 11, expected an integer from 1 to 10");
  EXPECT_THAT(parse_error("[cue]\nsigma = nan\n"), HasSubstr("cue.sigma is nan, expected"));
  EXPECT_THAT(parse_error("[cue]\nsigma = -inf\n"), HasSubstr("cue.sigma is -inf, expected"));
  EXPECT_THAT(parse_error("[eigen]\nvectors = 9223372036854775807\n"),
              HasSubstr("expected an int"));
  EXPECT_THAT(parse_error("[matvec]\nkernel = \"fastest\"\n"),
              AllOf(HasSubstr("matvec.kernel is \"fastest\""), HasSubstr("\"unrolled\"")));
}

TEST(ParseParameters, RefusesPairsThatContradict) {
  EXPECT_THAT(parse_error("[eigen]\nbasis = 17\n"),
              AllOf(StartsWith("my.toml: eigen.basis is 17"), HasSubstr("eigen.vectors")));
  EXPECT_EQ(parse_parameters("[eigen]\nbasis = 18\n", "my.toml").eigen.basis, 18);
  EXPECT_THAT(parse_error("[eigen]\nsolver = \"spectra\"\nrelative_tolerance = 0.5\n"),
              AllOf(StartsWith("my.toml: eigen.relative_tolerance"), HasSubstr("spectra")));
  EXPECT_THAT(parse_error("[region]\nmethod = \"objects\"\nregions = 7\n"),
              AllOf(StartsWith("my.toml: region.regions (--regions) is 7"), HasSubstr("objects")));
  EXPECT_THAT(parse_error("[affinity]\nstrides = \"1,2\"\n[region]\nmethod = \"walker\"\n"),
              AllOf(StartsWith("my.toml: affinity.strides"), HasSubstr("walker")));
  EXPECT_THAT(parse_error("[affinity]\nstrides = \"1,2\"\n[matvec]\nkernel = \"symmetric\"\n"),
              AllOf(StartsWith("my.toml: affinity.strides"), HasSubstr("symmetric")));
}

TEST(ParseParameters, NamesTheLineOfBrokenSyntax) {
  EXPECT_THAT(parse_error("[eigen]\nvectors = = 3\n"), StartsWith("my.toml:2: "));
  EXPECT_THAT(parse_error("[eigen]\nvectors = 3\nvectors = 4\n"), StartsWith("my.toml:3: "));
  EXPECT_THAT(parse_error("\x89PNG\r\n\x1a\n"), StartsWith("my.toml:1: "));
}

TEST(SetParameter, SetsByNameFromText) {
  Parameters parameters;
  set_parameter(parameters, "eigen.vectors", "9");
  set_parameter(parameters, "eigen.tolerance", "1e-3");
  set_parameter(parameters, "cue.thin", "false");
  set_parameter(parameters, "affinity.formula", "exponential");
  set_parameter(parameters, "image.max_pixels", "2147483647");
  EXPECT_EQ(parameters.eigen.vectors, 9);
  EXPECT_EQ(parameters.eigen.tolerance, 1e-3);
  EXPECT_FALSE(parameters.cue.thin);
  EXPECT_EQ(parameters.affinity.formula, AffinityFormula::kExponential);
  EXPECT_EQ(parameters.image.max_pixels, 2147483647);
}

TEST(SetParameter, RefusesAndLeavesTheParameterAlone) {
  Parameters parameters;
  const auto error = [&](const char* key, const char* value) {
    return message_of<ConfigError>([&] { set_parameter(parameters, key, value); });
  };
  EXPECT_EQ(error("eigen.vector", "9"),
            "unknown parameter 'eigen.vector'; the nearest known one is 'eigen.vectors'");
  EXPECT_EQ(error("eigen.vectors", "9x"),
            "eigen.vectors is '9x', expected an integer from 2 to 1000");
  for (const char* value : {"", " ", "9 ", "1.5", "0x9", "1", "1001", "99999999999999999999"}) {
    EXPECT_THAT(error("eigen.vectors", value), HasSubstr("expected an integer")) << value;
  }
  for (const char* value : {"", "nan", "inf", "1e999", "one"}) {
    EXPECT_THAT(error("cue.sigma", value), HasSubstr("expected a number")) << value;
  }
  EXPECT_THAT(error("cue.thin", "yes"), HasSubstr("expected true or false"));
  EXPECT_THAT(error("eigen.solver", "Lanczos"), HasSubstr("expected one of"));
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

class LoadParametersFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "diacut-parameters-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST_F(LoadParametersFile, ReadsAFileAndNamesItInMessages) {
  EXPECT_EQ(load_parameters(write("good.toml", "[eigen]\nvectors = 3\n")).eigen.vectors, 3);
  const std::string bad = write("bad.toml", "[eigen]\nvectors = 0\n");
  EXPECT_THAT(message_of<ConfigError>([&] { load_parameters(bad); }),
              StartsWith(bad + ":2: eigen.vectors"));
}

TEST_F(LoadParametersFile, RefusesWhatIsNoConfiguration) {
  EXPECT_EQ(message_of<ConfigError>([] { load_parameters("defualt"); }),
            "no configuration 'defualt': it is neither a file nor one of the presets, which are "
            "default, fast, micrographs, ncut, nuclei, quality, scene");
  EXPECT_THAT(message_of<ConfigError>([&] { load_parameters(folder_.string()); }),
              HasSubstr("is a folder"));
  EXPECT_THAT(
      message_of<ConfigError>([&] { load_parameters(write("big", std::string(2'000'000, '#'))); }),
      HasSubstr("larger than"));
  EXPECT_THAT(message_of<ConfigError>([] { load_parameters(""); }), HasSubstr("presets"));
}

}  // namespace
}  // namespace diacut::testing
