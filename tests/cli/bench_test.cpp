#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using nlohmann::json;

/// diacut-bench on what is as small as can be: figures mean nothing then, but they are all there.
class CliBench : public CliTest {
 protected:
  /// Runs a subcommand that has to succeed; what --json says.
  json measure(const std::string& line, const Surroundings& around = {}) const {
    const Result result =
        expect_done(bench(line + " --repeats 1 --megabytes 1 --json out.json", around));
    EXPECT_EQ(result.err, "");
    const json out = json::parse(read("out.json"), nullptr, false);
    EXPECT_FALSE(out.is_discarded());
    EXPECT_FALSE(out["device"]["name"].get<std::string>().empty());
    EXPECT_EQ(files().size(), kept_ + 1) << "no temporary file is left";
    return out;
  }

  std::size_t kept_ = 0;  ///< Files of the test's own.
};

void expect_positive(const json& object, const std::vector<std::string>& members) {
  for (const std::string& member : members) {
    ASSERT_TRUE(object.contains(member)) << member << " in " << object.dump();
    EXPECT_GT(object[member].get<double>(), 0.0) << member;
  }
}

void expect_copy(const json& copy) {
  expect_positive(copy, {"floats", "bytes", "milliseconds", "gigabytes_per_second"});
  EXPECT_NEAR(copy["gigabytes_per_second"].get<double>(),
              1e-6 * copy["bytes"].get<double>() / copy["milliseconds"].get<double>(), 1e-6);
}

void expect_product(const json& product, double nonzeros) {
  expect_positive(product,
                  {"milliseconds", "gflops", "bytes", "gigabytes_per_second", "share_of_copy"});
  EXPECT_NEAR(product["gflops"].get<double>(),
              2e-6 * nonzeros / product["milliseconds"].get<double>(),
              1e-6 * product["gflops"].get<double>());
  EXPECT_FALSE(product["wrong"].get<bool>());
}

TEST_F(CliBench, Spmv) {
  const json out = measure("spmv --sizes 16x12,7x5 --kernels naive,symmetric --storages half");
  ASSERT_EQ(out["results"].size(), 4U);
  // Entries of the stencil within the image, counted from each pixel.
  const auto entries = [](int width, int height) {
    int count = 0;
    for (int i = 0; i < width * height; ++i) {
      for (int k = 0; k < width * height; ++k) {
        const int dx = i % width - k % width;
        const int dy = i / width - k / width;
        count += dx * dx + dy * dy <= 25 ? 1 : 0;
      }
    }
    return count;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const json& result = out["results"][i];
    const bool naive = i % 2 == 0;
    EXPECT_EQ(result["name"], naive ? "naive" : "symmetric half");
    EXPECT_EQ(result["kernel"], naive ? "naive" : "symmetric");
    EXPECT_EQ(result["storage"], naive ? "float32" : "half");
    EXPECT_EQ(result["width"], i < 2 ? 16 : 7);
    EXPECT_EQ(result["height"], i < 2 ? 12 : 5);
    EXPECT_EQ(result["nonzeros"], i < 2 ? entries(16, 12) : entries(7, 5));
    expect_copy(result["copy"]);
    json product = result;
    product["wrong"] = false;  // It would have ended the run.
    expect_product(product, result["nonzeros"].get<double>());
    expect_positive(result["share_of_bytes_per_two_flop"], {"12", "8", "4"});
    EXPECT_LT(result["scaled_error"].get<double>(), 82.0);
  }
}

TEST_F(CliBench, FormatsOfAFileAndOfAClass) {
  write(
      "m.mtx",
      "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1\n1 4 2\n2 2 3\n3 1 4\n3 3 5\n");
  ++kept_;
  const json file = measure("formats m.mtx --formats csr/scalar");
  expect_copy(file["copy"]);
  ASSERT_EQ(file["results"].size(), 1U);
  EXPECT_EQ(file["results"][0]["matrix"], "m.mtx");
  EXPECT_EQ(file["results"][0]["rows"], 3);
  EXPECT_EQ(file["results"][0]["cols"], 4);
  EXPECT_EQ(file["results"][0]["nonzeros"], 5);
  ASSERT_EQ(file["results"][0]["products"].size(), 1U);
  EXPECT_EQ(file["results"][0]["products"][0]["product"], "csr/scalar");
  expect_product(file["results"][0]["products"][0], 5);

  const json of_class = measure("formats --classes dense --scale 0.01 --formats csr/scalar");
  EXPECT_EQ(of_class["results"][0]["matrix"], "dense");
}

TEST_F(CliBench, TuneWritesAProfileThatTheCocktailReads) {
  const Surroundings at_home = {.environment = {{"XDG_DATA_HOME", path("home")}}};
  const Result tuned = expect_done(
      bench("tune --most 16384 --formats csr/scalar --repeats 1 --megabytes 1", at_home));
  const std::string written = "profile written to " + path("");
  const std::size_t at = tuned.out.find(written) + written.size();
  const std::string name = tuned.out.substr(at, tuned.out.find('\n', at) - at);
  EXPECT_THAT(name, StartsWith("home/diacut/profiles/"));
  const json profile = json::parse(read(name));
  expect_positive(profile, {"diacut_profile", "copy_gigabytes_per_second"});
  EXPECT_FALSE(profile["device"]["driver"].get<std::string>().empty());
  EXPECT_EQ(profile["gflops"].size(), 1U);
  EXPECT_GT(profile["gflops"]["csr/scalar"][0].get<double>(), 0.0);
  // The fastest kernel for the whole matrix, and the compressed one in each storage.
  std::vector<std::string> storages;
  for (const json& each : profile["matvec"]) {
    expect_positive(each, {"rows", "gflops"});
    EXPECT_EQ(each["kernel"] == "symmetric", each.contains("storage")) << each.dump();
    storages.push_back(each.value("storage", "whole"));
  }
  EXPECT_THAT(storages, ::testing::ElementsAre("whole", "float32", "half", "minifloat"));

  kept_ = 1;
  const json out = measure("cocktail --classes dense --scale 0.01 --formats csr/scalar", at_home);
  expect_copy(out["copy"]);
  ASSERT_EQ(out["results"].size(), 1U);
  const json& result = out["results"][0];
  EXPECT_EQ(result["format"], "csr/scalar");
  EXPECT_EQ(result["best_single"], "csr/scalar");
  EXPECT_EQ(result["ratio_to_best_single"], 1.0);
  EXPECT_TRUE(result["regular"].get<bool>());
  expect_product(result["cocktail"], result["nonzeros"].get<double>());
  expect_positive(result, {"choosing_milliseconds"});
}

TEST_F(CliBench, Jacobian) {
  const json out = measure("jacobian --contacts 50 --bodies 7");
  EXPECT_EQ(out["contacts"], 50);
  EXPECT_EQ(out["bodies"], 7);
  expect_copy(out["copy"]);
  std::vector<std::string> layouts;
  for (const json& each : out["results"]) {
    layouts.push_back(each["layout"]);
    expect_positive(each, {"milliseconds", "gflops", "counted_gigabytes_per_second",
                           "counted_share_of_copy", "bytes_moved", "share_of_copy"});
    EXPECT_NEAR(each["gflops"].get<double>(), 60e-6 * 50 / each["milliseconds"].get<double>(),
                1e-6 * each["gflops"].get<double>());
    EXPECT_LE(each["scaled_error"].get<double>(), 20.0);
  }
  EXPECT_THAT(layouts, ::testing::ElementsAre("structures", "arrays", "vectors", "arms"));
}

TEST_F(CliBench, PlotsOfFigures) {
  const auto plot = [&](const std::string& more) {
    const std::string command =
        "/usr/bin/python3 " DIACUT_SOURCE_DIR "/app/bench/plot.py out.json plot.svg";
    EXPECT_EQ(std::system(("cd '" + path("") + "' && " + command + more).c_str()), 0);
    return read("plot.svg");
  };
  write("peers.json",
        R"({"results": [
  {"name": "some <peer>", "width": 16, "height": 12, "radius": 5, "gflops": 7.25},
  {"name": "other radius", "width": 16, "height": 12, "radius": 4, "gflops": 7.25},
  {"name": "other size", "width": 16, "height": 13, "radius": 5, "gflops": 7.25}]})");
  kept_ = 1;
  measure("spmv --sizes 16x12,7x5 --kernels naive,symmetric --storages half");
  const std::string bars = plot(" --peers peers.json");
  const auto drawn = [&](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = bars.find(text); at != bars.npos; at = bars.find(text, at + 1)) ++count;
    return count;
  };
  // A panel for each size: two kernels and three bounds; the peer in the first alone.
  EXPECT_EQ(drawn(">16x12 pixels"), 1U);
  EXPECT_EQ(drawn(">7x5 pixels"), 1U);
  EXPECT_EQ(drawn(">naive<"), 2U);
  EXPECT_EQ(drawn(">half<"), 2U);
  EXPECT_EQ(drawn("bytes for 2 flop: "), 6U);
  EXPECT_EQ(drawn(">&lt;peer&gt;<"), 1U);
  EXPECT_EQ(drawn(">7.25<"), 1U);
}

}  // namespace
}  // namespace diacut::testing
