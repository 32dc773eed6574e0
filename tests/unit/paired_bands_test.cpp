// What kernels that compute two image rows at once read, against the stencil itself.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "matrix/block.hpp"

namespace diacut {
namespace {

/// All (diagonal, dy, dx) of one of two image rows, in the order of the pairs.
std::vector<std::tuple<int, int, int>> read_by(const std::string& pairs, int row) {
  std::vector<std::tuple<int, int, int>> found;
  const std::regex pair(R"(PAIR\((-?\d+),(-?\d+),(\d+),(-?\d+),(-?\d+)\))");
  std::string rest = pairs;
  for (std::smatch part; std::regex_search(rest, part, pair); rest = part.suffix()) {
    EXPECT_EQ(part.prefix().str(), "");
    const int diagonal = std::stoi(part[4 + static_cast<std::size_t>(row)]);
    for (int k = 0; diagonal >= 0 && k < std::stoi(part[3]); ++k) {
      found.emplace_back(diagonal + k, std::stoi(part[1]) - row, std::stoi(part[2]) + k);
    }
  }
  EXPECT_EQ(rest, "");
  return found;
}

void expect_all_neighbours(const Stencil& stencil) {
  std::vector<std::tuple<int, int, int>> expected;
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    if (d == stencil.centre()) continue;
    expected.emplace_back(static_cast<int>(d), stencil.entries[d].dy, stencil.entries[d].dx);
  }
  const std::string pairs = paired_bands(stencil);
  EXPECT_EQ(read_by(pairs, 0), expected);
  EXPECT_EQ(read_by(pairs, 1), expected);
}

TEST(PairedBands, LeadBothRowsToAllNeighboursInTheirOrder) {
  for (const int radius : {1, 2, 5, 8}) {
    SCOPED_TRACE(radius);
    expect_all_neighbours(disc_stencil(radius));
    expect_all_neighbours(strided_stencil(radius, {1, 4}));
  }
}

TEST(PairedBands, ReadNoElementTwice) {
  const std::string pairs = paired_bands(disc_stencil(5));
  const std::regex pair(R"(PAIR\((-?\d+),(-?\d+),(\d+),)");
  std::set<std::pair<int, int>> places;
  for (std::sregex_iterator part(pairs.begin(), pairs.end(), pair), end; part != end; ++part) {
    for (int k = 0; k < std::stoi((*part)[3]); ++k) {
      EXPECT_TRUE(places.emplace(std::stoi((*part)[1]), std::stoi((*part)[2]) + k).second);
    }
  }
}

}  // namespace
}  // namespace diacut
