#include "spmv/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "core/split_mix.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// Builds a matrix row by row; the columns of a row may come in any order and more than once.
class Builder {
 public:
  Builder(std::size_t rows, std::size_t cols, std::uint64_t seed)
      : values_(seed ^ 0x76616c7565ULL) {
    matrix_.rows = rows;
    matrix_.cols = cols;
    matrix_.starts.reserve(rows + 1);
  }

  void add(std::size_t column) { row_.push_back(static_cast<std::uint32_t>(column)); }
  void end_row() {
    std::sort(row_.begin(), row_.end());
    row_.erase(std::unique(row_.begin(), row_.end()), row_.end());
    matrix_.columns.insert(matrix_.columns.end(), row_.begin(), row_.end());
    for (std::size_t i = 0; i < row_.size(); ++i) matrix_.values.push_back(values_.value());
    matrix_.starts.push_back(matrix_.columns.size());
    row_.clear();
  }
  CsrMatrix take() { return std::move(matrix_); }

 private:
  CsrMatrix matrix_;
  std::vector<std::uint32_t> row_;
  SplitMix values_;
};

/// The matrix whose row r has the columns that add(builder, random, r) adds; `random` draws for all
/// rows, one after another.
template <class Add>
CsrMatrix by_rows(std::size_t rows, std::size_t cols, std::uint64_t seed, const Add& add) {
  Builder builder(rows, cols, seed);
  SplitMix random(seed);
  for (std::size_t row = 0; row < rows; ++row) {
    add(builder, random, row);
    builder.end_row();
  }
  return builder.take();
}

/// round(base * factor), at least `least`.
std::size_t scaled(double base, double factor, std::size_t least = 1) {
  return std::max(least, static_cast<std::size_t>(std::lround(base * factor)));
}

CsrMatrix dense(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(2048, std::sqrt(scale));
  return by_rows(side, side, seed, [&](Builder& builder, SplitMix&, std::size_t) {
    for (std::size_t column = 0; column < side; ++column) builder.add(column);
  });
}

using Place = std::array<std::size_t, 3>;

/// The place that is `step` away, or false outside of the box.
bool step_to(const Place& from, const std::array<int, 3>& step, const Place& size, Place& to) {
  for (std::size_t k = 0; k < 3; ++k) {
    const std::int64_t at = static_cast<std::int64_t>(from[k]) + step[k];
    if (at < 0 || at >= static_cast<std::int64_t>(size[k])) return false;
    to[k] = static_cast<std::size_t>(at);
  }
  return true;
}
std::size_t number_of(const Place& at, const Place& size) {
  return (at[2] * size[1] + at[1]) * size[0] + at[0];
}

/// A box of nodes, each coupled to its neighbours within `reach` steps in each direction: all
/// `unknowns` of one node with all of the other. A pair is left out with probability `missing`.
CsrMatrix box(const Place& size, const std::array<int, 3>& reach, std::size_t unknowns,
              double missing, std::uint64_t seed) {
  const std::size_t nodes = size[0] * size[1] * size[2];
  Builder builder(nodes * unknowns, nodes * unknowns, seed);
  std::vector<std::size_t> neighbours;
  for (std::size_t node = 0; node < nodes; ++node) {
    const Place at = {node % size[0], node / size[0] % size[1], node / (size[0] * size[1])};
    neighbours.clear();
    for (int dz = -reach[2]; dz <= reach[2]; ++dz) {
      for (int dy = -reach[1]; dy <= reach[1]; ++dy) {
        for (int dx = -reach[0]; dx <= reach[0]; ++dx) {
          Place to;
          if (!step_to(at, {dx, dy, dz}, size, to)) continue;
          const std::size_t other = number_of(to, size);
          // Both nodes of a pair draw one random number, so that the pattern is symmetric.
          SplitMix pair(seed + std::min(node, other) * 0x100000001b3ULL + std::max(node, other));
          pair.next();
          if (other == node || pair.unit() >= missing) neighbours.push_back(other);
        }
      }
    }
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (const std::size_t other : neighbours) {
        for (std::size_t j = 0; j < unknowns; ++j) builder.add(other * unknowns + j);
      }
      builder.end_row();
    }
  }
  return builder.take();
}

CsrMatrix elements(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(27.5, std::cbrt(scale), 2);
  return box({side, side, side}, {1, 1, 1}, 3, 0.05, seed);
}

CsrMatrix shell(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(153, std::sqrt(scale), 2);
  return box({side, side, 1}, {1, 1, 0}, 6, 0.08, seed);
}

CsrMatrix grid5(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(725, std::sqrt(scale), 2);
  return by_rows(side * side, side * side, seed, [&](Builder& builder, SplitMix&, std::size_t row) {
    builder.add(row);
    if (row % side > 0) builder.add(row - 1);
    if (row % side + 1 < side) builder.add(row + 1);
    if (row >= side) builder.add(row - side);
    if (row + side < side * side) builder.add(row + side);
  });
}

CsrMatrix grid27(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(80, std::cbrt(scale), 2);
  return box({side, side, side}, {1, 1, 1}, 1, 0.0, seed);
}

/// Wilson fermions: each site of a 4-D torus has 4 spins of 3 colours. A neighbour in space couples
/// a spin to itself and to one other spin (1 - gamma has rank two); a neighbour in time couples
/// only half of the spins, each to itself. In blocks of the 3 colours, a row has 13 dense blocks.
CsrMatrix lattice(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(8, std::pow(scale, 0.25), 2);
  const std::size_t sites = side * side * side * side;
  constexpr std::array<std::array<std::size_t, 4>, 3> kOtherSpin = {
      {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}}};
  Builder builder(sites * 12, sites * 12, seed);
  for (std::size_t site = 0; site < sites; ++site) {
    const auto neighbour = [&](std::size_t direction, bool forward) {
      std::size_t stride = 1;
      for (std::size_t k = 0; k < direction; ++k) stride *= side;
      const std::size_t at = site / stride % side;
      const std::size_t to = (at + (forward ? 1 : side - 1)) % side;
      return site - at * stride + to * stride;
    };
    for (std::size_t spin = 0; spin < 4; ++spin) {
      for (std::size_t colour = 0; colour < 3; ++colour) {
        const auto couple = [&](std::size_t to, std::size_t other) {
          for (std::size_t c = 0; c < 3; ++c) builder.add((to * 4 + other) * 3 + c);
        };
        for (std::size_t direction = 0; direction < 3; ++direction) {
          for (const bool forward : {false, true}) {
            couple(neighbour(direction, forward), spin);
            couple(neighbour(direction, forward), kOtherSpin[direction][spin]);
          }
        }
        couple(neighbour(3, spin < 2), spin);
        builder.end_row();
      }
    }
  }
  return builder.take();
}

/// `count` columns within `spread` of `row`, dense near it.
void add_near(Builder& builder, SplitMix& random, std::size_t row, std::size_t cols,
              std::size_t count, double spread) {
  for (std::size_t k = 0; k < count; ++k) {
    const double u = random.unit() * 2.0 - 1.0;
    const auto offset = static_cast<std::int64_t>(u * u * u * spread);
    const std::int64_t column = static_cast<std::int64_t>(row) + offset;
    builder.add(static_cast<std::size_t>(
        std::clamp<std::int64_t>(column, 0, static_cast<std::int64_t>(cols) - 1)));
  }
}

CsrMatrix unstructured(double scale, std::uint64_t seed) {
  const std::size_t rows = scaled(121'000, scale);
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix& random, std::size_t row) {
    builder.add(row);
    add_near(builder, random, row, rows, 6 + random.below(32), 4000.0);
  });
}

CsrMatrix economics(double scale, std::uint64_t seed) {
  const std::size_t rows = scaled(207'000, scale);
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix& random, std::size_t row) {
    builder.add(row);
    add_near(builder, random, row, rows, 1 + random.below(6), 300.0);
    for (std::size_t k = random.below(5); k > 0; --k) builder.add(random.below(rows));
  });
}

CsrMatrix circuit(double scale, std::uint64_t seed) {
  const std::size_t rows = scaled(171'000, scale);
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix& random, std::size_t row) {
    builder.add(row);
    add_near(builder, random, row, rows, 2 + random.below(5), 500.0);
    // A supply or a clock, to which two per cent of all nodes are connected.
    if (random.unit() < 1e-4) {
      for (std::size_t k = rows / 50; k > 0; --k) builder.add(random.below(rows));
    }
  });
}

CsrMatrix web(double scale, std::uint64_t seed) {
  const std::size_t rows = scaled(1'000'000, scale);
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix& random, std::size_t row) {
    // P(links >= k) = k^-1.3; no page has more than 5,000 links. Half of a page's links stay on its
    // site, whose size grows with the number of links; the others go to pages whose popularity
    // falls as 1 / sqrt(rank).
    const double drawn = std::pow(1.0 - random.unit(), -1.0 / 1.3);
    const auto links = static_cast<std::size_t>(std::min(drawn, 5000.0));
    add_near(builder, random, row, rows, (links + 1) / 2, 50.0 + 8.0 * static_cast<double>(links));
    for (std::size_t k = links / 2; k > 0; --k) {
      const double u = random.unit();
      const auto rank = static_cast<std::size_t>(u * u * static_cast<double>(rows));
      builder.add(rank * 0x9e3779b1ULL % rows);
    }
  });
}

CsrMatrix programme(double scale, std::uint64_t seed) {
  const std::size_t rows = scaled(4284, std::sqrt(scale));
  const std::size_t cols = scaled(1'092'610, std::sqrt(scale));
  const double mean = 2633.0 * std::sqrt(scale);
  return by_rows(rows, cols, seed, [&](Builder& builder, SplitMix& random, std::size_t) {
    // Runs of columns: one constraint at many times.
    const auto wanted = static_cast<std::size_t>(mean * 2.0 * random.unit()) + 1;
    for (std::size_t taken = 0; taken < wanted;) {
      const std::size_t first = random.below(cols);
      const std::size_t run = std::min({1 + random.below(8), cols - first, wanted - taken});
      for (std::size_t k = 0; k < run; ++k) builder.add(first + k);
      taken += run;
    }
  });
}

/// A molecule in a box, real-space density functional theory: the Laplacian of sixth order reaches
/// 6 points each way along each axis, 37 diagonals; each atom's projectors couple all grid points
/// near it with each other.
CsrMatrix quantum(double scale, std::uint64_t seed) {
  const std::size_t side = scaled(57, std::cbrt(scale), 8);
  const Place size = {side, side, side};
  const std::size_t nodes = side * side * side;
  const std::size_t atoms = scaled(154, scale);
  constexpr double kRadius = 3.4;
  SplitMix random(seed);
  std::vector<std::vector<std::uint32_t>> clusters;
  std::vector<std::vector<std::uint32_t>> clusters_of(nodes);
  for (std::size_t a = 0; a < atoms; ++a) {
    std::array<double, 3> centre{};
    // Atoms keep to the middle of the box.
    for (double& each : centre) each = static_cast<double>(side) * (0.15 + 0.7 * random.unit());
    std::vector<std::uint32_t> cluster;
    for (std::size_t node = 0; node < nodes; ++node) {
      const double dx = static_cast<double>(node % side) - centre[0];
      const double dy = static_cast<double>(node / side % side) - centre[1];
      const double dz = static_cast<double>(node / (side * side)) - centre[2];
      if (dx * dx + dy * dy + dz * dz > kRadius * kRadius) continue;
      cluster.push_back(static_cast<std::uint32_t>(node));
      clusters_of[node].push_back(static_cast<std::uint32_t>(a));
    }
    clusters.push_back(std::move(cluster));
  }
  Builder builder(nodes, nodes, seed);
  for (std::size_t node = 0; node < nodes; ++node) {
    const Place at = {node % side, node / side % side, node / (side * side)};
    for (int step = -6; step <= 6; ++step) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        std::array<int, 3> move{};
        move[axis] = step;
        Place to;
        if (step_to(at, move, size, to)) builder.add(number_of(to, size));
      }
    }
    for (const std::uint32_t a : clusters_of[node]) {
      for (const std::uint32_t other : clusters[a]) builder.add(other);
    }
    builder.end_row();
  }
  return builder.take();
}

}  // namespace

const std::vector<MatrixClass>& matrix_classes() {
  static const std::vector<MatrixClass> classes = {{"dense", true, dense},
                                                   {"elements", true, elements},
                                                   {"shell", true, shell},
                                                   {"grid5", true, grid5},
                                                   {"grid27", true, grid27},
                                                   {"lattice", true, lattice},
                                                   {"unstructured", false, unstructured},
                                                   {"economics", false, economics},
                                                   {"circuit", false, circuit},
                                                   {"web", false, web},
                                                   {"programme", false, programme},
                                                   {"quantum", false, quantum}};
  return classes;
}

CsrMatrix generate_matrix(const std::string& name, double scale, std::uint64_t seed) {
  if (!(scale > 0.0 && scale <= 100.0)) {
    throw ConfigError(
        fmt::format("a matrix scaled by {}, expected more than 0, at most 100", scale));
  }
  std::string known;
  for (const MatrixClass& each : matrix_classes()) {
    if (each.name == name) return each.make(scale, seed);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  }
  throw ConfigError(
      fmt::format("there is no class of matrices '{}'; it is one of {}", name, known));
}

CsrMatrix scattered_runs(std::size_t rows, std::size_t row_length, std::uint64_t seed) {
  constexpr std::size_t kRun = 8;
  SplitMix random(seed);
  std::set<std::size_t> runs;
  const std::size_t places = rows / kRun;
  while (runs.size() < std::min(places, (row_length + kRun - 1) / kRun)) {
    runs.insert(random.below(places));
  }
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix&, std::size_t row) {
    // Diagonals that leave the matrix come in on its other side, so that all rows have one length.
    std::size_t left = row_length;
    for (const std::size_t run : runs) {
      const std::size_t first = row / kRun * kRun + run * kRun;
      for (std::size_t k = 0; k < kRun && left > 0; ++k, --left) builder.add((first + k) % rows);
    }
  });
}

CsrMatrix adjacent_diagonals(std::size_t rows, std::size_t count, std::uint64_t seed) {
  constexpr std::int64_t kRun = 8;
  const auto gap = static_cast<std::int64_t>(
      std::max<std::size_t>(kRun, std::min<std::size_t>(481, rows / 2 / (count / kRun + 1))));
  return by_rows(rows, rows, seed, [&](Builder& builder, SplitMix&, std::size_t row) {
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(count); ++d) {
      const std::int64_t run = d / kRun - static_cast<std::int64_t>(count) / kRun / 2;
      const std::int64_t column = static_cast<std::int64_t>(row) + run * gap + d % kRun;
      if (column < 0 || column >= static_cast<std::int64_t>(rows)) continue;
      builder.add(static_cast<std::size_t>(column));
    }
  });
}

}  // namespace diacut
