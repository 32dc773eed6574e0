#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diacut/output.hpp"
#include "image/resize.hpp"
#include "output/atomic_file.hpp"
#include "output/npy.hpp"
#include "output/picture.hpp"
#include "output/png.hpp"
#include "output/resolution_json.hpp"

namespace diacut {
namespace {

std::vector<std::uint8_t> encode_picture(const Eigenvectors& eigenvectors, std::size_t k,
                                         const std::vector<float>& y) {
  float least = std::numeric_limits<float>::max(), greatest = std::numeric_limits<float>::lowest();
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (eigenvectors.sqrt_degree[i] <= 0) continue;
    least = std::min(least, y[i]);
    greatest = std::max(greatest, y[i]);
  }
  constexpr double kFirst = 1, kLast = 65'535;
  const double range = static_cast<double>(greatest) - least;
  std::vector<std::uint16_t> pixels(y.size(), 0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (eigenvectors.sqrt_degree[i] <= 0) continue;
    const double share = range > 0 ? (static_cast<double>(y[i]) - least) / range : 0.5;
    pixels[i] = static_cast<std::uint16_t>(std::lround(kFirst + share * (kLast - kFirst)));
  }
  return encode_png(eigenvectors.width, eigenvectors.height, pixels,
                    {.texts = {{"eigenvalue", fmt::format("{}", eigenvectors.values[k])},
                               {"least", fmt::format("{}", least)},
                               {"greatest", fmt::format("{}", greatest)}}});
}

std::string values_json(const Eigenvectors& eigenvectors,
                        const std::vector<std::string>& pictures) {
  nlohmann::ordered_json json = {
      {"schema", 1},
      {"width", eigenvectors.width},
      {"height", eigenvectors.height},
      {"eigenvalues", eigenvectors.values},
      {"residuals", eigenvectors.report.residuals},
      {"converged", eigenvectors.report.converged},
      {"pictures", pictures},
      {"meaning",
       "ascending lambda of (D - W) y = lambda D y; the files hold y, its first constant"}};
  add_resolution(json, eigenvectors.report);
  return json.dump(2) + "\n";
}

}  // namespace

void write_eigenvectors(const std::string& directory, const Eigenvectors& eigenvectors,
                        const Image* image) {
  make_folder(directory);
  const std::size_t count = eigenvectors.vectors.size();
  const std::size_t digits = std::max<std::size_t>(2, fmt::formatted_size("{}", count));
  std::deque<AtomicFile> files;  // They appear together. References to its files stay valid.
  const auto open = [&](const std::string& name) -> AtomicFile& {
    return files.emplace_back((std::filesystem::path(directory) / name).string());
  };
  const auto add = [&](const std::string& name, const auto& bytes) {
    AtomicFile& file = open(name);
    file.write(bytes.data(), bytes.size());
    file.close();
  };
  AtomicFile& array = open("eigenvectors.npy");
  const std::vector<std::uint8_t> header =
      npy_header<float>({count, static_cast<std::size_t>(eigenvectors.height),
                         static_cast<std::size_t>(eigenvectors.width)});
  array.write(header.data(), header.size());
  const int width = eigenvectors.width;
  const int height = eigenvectors.height;
  std::vector<MontagePicture> montage;
  if (image != nullptr) {
    // Eigenvectors may be those of a reduced image.
    montage.push_back(montage_picture(to_rgb(reduced(*image, {width, height})), "image"));
  }
  std::vector<std::string> pictures;
  for (std::size_t k = 0; k < count; ++k) {
    const std::vector<float> y = generalized(eigenvectors, k);
    array.write(y.data(), y.size() * sizeof(float));
    if (k == 0) continue;
    pictures.push_back(fmt::format("eigenvector-{:0{}}.png", k + 1, digits));
    add(pictures.back(), encode_picture(eigenvectors, k, y));
    montage.push_back(montage_picture(vector_picture(y, eigenvectors.sqrt_degree, width, height),
                                      fmt::format("{}: {:.3g}", k + 1, eigenvectors.values[k])));
  }
  array.close();
  add("montage.png", encode_montage(width, height, montage));
  add("eigenvalues.json", values_json(eigenvectors, pictures));
  for (AtomicFile& file : files) file.commit();
}

}  // namespace diacut
