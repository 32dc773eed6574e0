#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diacut/output.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"
#include "output/npy.hpp"
#include "output/picture.hpp"
#include "png_reader.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

/// The trivial vector and `count` - 1 waves, with degrees that differ; as the solver returns them:
/// z = sqrt_degree * y. The pixels `without_data` have degree 0.
Eigenvectors waves(int width, int height, int count, const std::vector<int>& without_data = {}) {
  Eigenvectors result;
  result.width = width;
  result.height = height;
  const int pixels = width * height;
  for (int i = 0; i < pixels; ++i) {
    result.sqrt_degree.push_back(1.0F + 0.5F * static_cast<float>(i % 3));
  }
  for (const int i : without_data) result.sqrt_degree[i] = 0;
  for (int k = 0; k < count; ++k) {
    result.values.push_back(k == 0 ? 0 : 1e-5 * k);
    result.report.residuals.push_back(1e-6 * k);
    std::vector<float>& z = result.vectors.emplace_back();
    for (int i = 0; i < pixels; ++i) {
      z.push_back(result.sqrt_degree[i] * static_cast<float>(std::cos(3.14 * k * i / pixels)));
    }
  }
  result.report.converged = true;
  return result;
}

/// y = z / sqrt_degree of an eigenvector, in double.
double y_of(const Eigenvectors& eigenvectors, std::size_t k, std::size_t pixel) {
  const double degree = eigenvectors.sqrt_degree[pixel];
  return degree > 0 ? eigenvectors.vectors[k][pixel] / degree : 0;
}

TEST(WriteEigenvectors, PicturesSpanTheRangeOfTheGeneralisedVector) {
  const TempFolder folder;
  const Eigenvectors eigenvectors = waves(6, 5, 4, {7, 8});
  write_eigenvectors(folder.path(), eigenvectors);
  EXPECT_THAT(folder.names(),
              ElementsAre("eigenvalues.json", "eigenvector-02.png", "eigenvector-03.png",
                          "eigenvector-04.png", "eigenvectors.npy", "montage.png"));
  for (std::size_t k = 1; k < 4; ++k) {
    const ReadPng png =
        read_png(read_bytes(folder / ("eigenvector-0" + std::to_string(k + 1) + ".png")));
    EXPECT_EQ(png.width, 6);
    EXPECT_EQ(png.height, 5);
    EXPECT_EQ(png.bits, 16);
    EXPECT_EQ(png.channels, 1);
    EXPECT_EQ(std::stod(png.texts.at("eigenvalue")), eigenvectors.values[k]);
    const double least = std::stod(png.texts.at("least"));
    const double greatest = std::stod(png.texts.at("greatest"));
    std::uint16_t lowest = 65'535, highest = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      if (eigenvectors.sqrt_degree[i] == 0) {
        EXPECT_EQ(png.values[i], 0) << "no data";
        continue;
      }
      lowest = std::min(lowest, png.values[i]);
      highest = std::max(highest, png.values[i]);
      const double shown = least + (png.values[i] - 1) / 65'534.0 * (greatest - least);
      EXPECT_NEAR(shown, y_of(eigenvectors, k, i), (greatest - least) / 65'534);
    }
    EXPECT_EQ(lowest, 1);
    EXPECT_EQ(highest, 65'535);
  }
}

TEST(WriteEigenvectors, AConstantVectorIsMidGrey) {
  const TempFolder folder;
  Eigenvectors eigenvectors = waves(3, 1, 2);
  eigenvectors.vectors[1] = eigenvectors.sqrt_degree;
  write_eigenvectors(folder.path(), eigenvectors);
  EXPECT_THAT(read_png(read_bytes(folder / "eigenvector-02.png")).values,
              ElementsAre(32'768, 32'768, 32'768));
}

TEST(WriteEigenvectors, TheArrayHoldsAllVectors) {
  const TempFolder folder;
  const Eigenvectors eigenvectors = waves(6, 5, 4, {7, 8});
  write_eigenvectors(folder.path(), eigenvectors);
  const std::string bytes = read_bytes(folder / "eigenvectors.npy");
  const std::string header = npy_of("<f4", "(4, 5, 6)", "");
  EXPECT_THAT(bytes, StartsWith(header));
  std::vector<float> elements(4 * 30);
  ASSERT_EQ(bytes.size(), header.size() + elements.size() * sizeof(float));
  std::memcpy(elements.data(), bytes.data() + header.size(), elements.size() * sizeof(float));
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_FLOAT_EQ(elements[k * 30 + i], static_cast<float>(y_of(eigenvectors, k, i)));
    }
  }
}

TEST(WriteEigenvectors, TheValuesAreJson) {
  const TempFolder folder;
  Eigenvectors eigenvectors = waves(6, 5, 3);
  eigenvectors.report.converged = false;
  eigenvectors.report.residuals[2] = std::nan("");
  write_eigenvectors(folder.path(), eigenvectors);
  const auto json = nlohmann::json::parse(read_bytes(folder / "eigenvalues.json"));
  EXPECT_EQ(json["eigenvalues"], nlohmann::json(eigenvectors.values));
  EXPECT_EQ(json["residuals"][1], 1e-6);
  EXPECT_TRUE(json["residuals"][2].is_null());
  EXPECT_EQ(json["converged"], false);
  EXPECT_EQ(json["pictures"][1], "eigenvector-03.png");
  EXPECT_EQ(json["width"], 6);
  EXPECT_EQ(json["height"], 5);
}

TEST(WriteEigenvectors, NumbersHaveOneLengthSoThatNamesSort) {
  const TempFolder folder;
  write_eigenvectors(folder.path(), waves(2, 2, 101));
  EXPECT_THAT(folder.names(),
              AllOf(Contains("eigenvector-002.png"), Contains("eigenvector-101.png")));
  write_eigenvectors(folder / "a/b", waves(1, 1, 1));
  EXPECT_FALSE(read_bytes(folder / "a/b/montage.png").empty());
}

TEST(WriteEigenvectors, OnePixelHasNoPicturesButStillAMontage) {
  const TempFolder folder;
  write_eigenvectors(folder.path(), waves(1, 1, 1));
  EXPECT_THAT(folder.names(), ElementsAre("eigenvalues.json", "eigenvectors.npy", "montage.png"));
  EXPECT_GT(read_png(read_bytes(folder / "montage.png")).width, 100);
}

TEST(Montage, SuitsAScreenWhateverTheImage) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {1, 1}, {2, 2}, {1, 3000}, {3000, 1}, {481, 321}, {321, 481}, {2000, 1500}}) {
    const MontagePicture picture =
        montage_picture(cv::Mat3b(height, width, cv::Vec3b::all(128)), "2: 1e-05");
    const ReadPng png =
        read_png(encode_montage(width, height, std::vector<MontagePicture>(17, picture)));
    EXPECT_GE(png.width, 600) << width << " x " << height;
    EXPECT_LE(png.width, 2000) << width << " x " << height;
    EXPECT_GE(png.height, 300) << width << " x " << height;
    EXPECT_LE(png.height, 2000) << width << " x " << height;
  }
}

TEST(WriteEigenvectors, TheMontageIsBlueBelowZeroAndRedAbove) {
  const TempFolder folder;
  Eigenvectors eigenvectors = waves(4, 1, 2, {2});
  eigenvectors.vectors[1] = {-1, 1, 0, 0};
  write_eigenvectors(folder.path(), eigenvectors);
  const ReadPng montage = read_png(read_bytes(folder / "montage.png"));
  int blue = 0, red = 0;
  for (std::size_t i = 0; i < montage.values.size(); i += 3) {
    const int difference = montage.values[i + 2] - montage.values[i];
    blue += difference > 60 ? 1 : 0;
    red += difference < -60 ? 1 : 0;
  }
  EXPECT_EQ(blue, 80 * 80);
  EXPECT_EQ(red, 80 * 80);
}

std::string text(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Npy, FilesAreNumpysToTheByte) {
  EXPECT_EQ(text(npy_header<float>({16, 321, 481})), npy_of("<f4", "(16, 321, 481)", ""));
  EXPECT_EQ(text(npy_header<double>({3})), npy_of("<f8", "(3,)", ""));
  EXPECT_EQ(text(npy_header<std::uint8_t>({})), npy_of("|u1", "()", ""));
  for (std::size_t size = 1; size < 1'000'000'000'000; size *= 10) {
    EXPECT_EQ(text(npy_header<std::uint16_t>({size, size, size})),
              npy_of("<u2", fmt::format("({0}, {0}, {0})", size), ""));
  }
  const std::vector<std::int32_t> elements = {0, 1, -1, 70'000, INT32_MAX, INT32_MIN};
  EXPECT_EQ(text(encode_npy<std::int32_t>(elements, {2, 3})),
            npy_of("<i4", "(2, 3)", bytes_of(elements)));
  EXPECT_EQ(text(encode_npy<float>({}, {0, 4})), npy_of("<f4", "(0, 4)", ""));
}

}  // namespace
}  // namespace diacut::testing
