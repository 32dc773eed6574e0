#include "graph/graph_cycle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace diacut {

namespace {

/// Steps of the smoother, an even number.
constexpr int kSmoothing = 2;
/// The smoother damps the eigenvalues of diag(L)^-1 L from here to the largest possible one: 2,
/// whatever the weights are.
constexpr double kSmoothFrom = 0.3;
constexpr double kSmoothTo = 2;
/// On a last level that is not solved densely the smoother takes more steps, for eigenvalues from
/// here.
constexpr int kLastSmoothing = 8;
constexpr double kLastSmoothFrom = 0.075;
static_assert(kSmoothing % 2 == 0 && kLastSmoothing % 2 == 0);
/// The eigenvalues of one cycle times L that two cycles together damp. Contractions without
/// smoothed interpolation lose energy, so that one cycle corrects slow errors too little; they are
/// never corrected too much.
constexpr double kCycleFrom = 0.25;
constexpr double kCycleTo = 1;

/// The inverse root number k of the Chebyshev polynomial of degree `degree` on [from, to]: the
/// steps x += w (b - L x) damp the error there the most.
float chebyshev_step(int k, int degree, double from, double to) {
  const double root = std::cos(std::numbers::pi * (2 * k + 1) / (2 * degree));
  return static_cast<float>(1 / ((to + from) / 2 - (to - from) / 2 * root));
}

Buffer<float> uploaded(Context& context, const std::vector<float>& values, const char* what) {
  auto buffer = context.allocate<float>(values.size(), what);
  buffer.upload(std::span(values));
  return buffer;
}

std::vector<float> inverse_diagonal(const HostCsr& a) {
  std::vector<float> result(a.rows());
  for (std::size_t row = 0; row < result.size(); ++row) {
    double diagonal = 1;
    std::size_t others = 0;
    for (std::uint32_t at = a.starts[row]; at < a.starts[row + 1]; ++at) {
      if (a.columns[at] == row) {
        diagonal -= static_cast<double>(a.values[at]);
      } else {
        ++others;
      }
    }
    // A node without neighbours is a component: its row of L is 0.
    result[row] = others == 0 ? 0 : static_cast<float>(1 / std::max(diagonal, 1e-7));
  }
  return result;
}

/// (d_i / sum)^exponent of each node.
std::vector<float> powers(const std::vector<double>& degrees, double exponent, double sum) {
  std::vector<float> result(degrees.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<float>(std::pow(degrees[i] / sum, exponent));
  }
  return result;
}

}  // namespace

GraphCycle::GraphCycle(Context& context, const GraphLevels& graph,
                       const std::vector<float>& inverse, int columns)
    : context_(&context), product_(context, columns), dense_(context, columns) {
  double sum = 0;
  for (const double degrees : graph.component_degrees) sum += degrees;
  for (std::size_t k = 0; k < graph.levels.size(); ++k) {
    const GraphLevel& host = graph.levels[k];
    Level level;
    const HostCsr a = normalized(host);
    level.a = DeviceCsr(context, a);
    level.inverse_diagonal = uploaded(context, inverse_diagonal(a), "a diagonal");
    level.trivial = uploaded(context, powers(host.degrees, 0.5, sum), "a trivial eigenvector");
    if (k + 1 < graph.levels.size()) {
      const GraphLevel& coarse = graph.levels[k + 1];
      level.interpolation = DeviceCsr(context, interpolation(host, coarse));
      level.restriction = DeviceCsr(context, restriction(host, coarse));
    }
    if (k > 0) {
      for (Buffer<float>* block :
           {&level.b, &level.x, &level.second_b, &level.second_x, &level.t}) {
        *block = context.allocate<float>(host.nodes() * static_cast<std::size_t>(columns),
                                         "a coarse block of vectors");
      }
    }
    levels_.push_back(std::move(level));
  }
  sqrt_degree_ = uploaded(context, powers(graph.levels[0].degrees, 0.5, 1), "degrees");
  inverse_sqrt_degree_ = uploaded(context, powers(graph.levels[0].degrees, -0.5, 1), "degrees");
  if (!inverse.empty()) inverse_ = uploaded(context, inverse, "the inverse on the last level");
}

std::uint64_t GraphCycle::block_memory(const GraphLevels& graph, int columns) {
  std::uint64_t floats = 2 * graph.nodes() + kMostDenseNodes * kMostDenseNodes;
  for (std::size_t k = 0; k < graph.levels.size(); ++k) {
    const std::uint64_t blocks = k > 0 ? 5 * static_cast<std::uint64_t>(columns) : 0;
    floats += graph.levels[k].nodes() * (2 + blocks);
  }
  return floats * sizeof(float);
}

std::uint64_t GraphCycle::matrix_memory(const GraphLevels& graph) {
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < graph.levels.size(); ++k) {
    const GraphLevel& level = graph.levels[k];
    bytes += DeviceCsr::memory(level.nodes(), level.weights.columns.size());
    if (k + 1 == graph.levels.size()) continue;
    bytes += DeviceCsr::memory(level.nodes(), level.nodes());
    bytes += DeviceCsr::memory(graph.levels[k + 1].nodes(), level.nodes());
  }
  return bytes;
}

void GraphCycle::laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) {
  product_.launch(at(level).a, {.x = &x, .own = &x, .p = -1, .q = 1}, out, columns);
  count_pass(level);
}

void GraphCycle::residual(int level, const Buffer<float>& x, const Buffer<float>& b,
                          Buffer<float>& out, int columns) {
  product_.launch(at(level).a, {.x = &x, .own = &x, .other = &b, .p = 1, .q = -1, .r = 1}, out,
                  columns);
  count_pass(level);
}

void GraphCycle::smooth(int level, const Buffer<float>* b, Buffer<float>& x, Buffer<float>& t,
                        bool from_zero, int columns) {
  Level& own = at(level);
  const bool last = level + 1 == count();
  const int steps = last ? kLastSmoothing : kSmoothing;
  const double least = last ? kLastSmoothFrom : kSmoothFrom;
  Buffer<float>* from = &x;
  Buffer<float>* to = &t;
  for (int k = 0; k < steps; ++k) {
    const float w = chebyshev_step(k, steps, least, kSmoothTo);
    if (k == 0 && from_zero) {
      // Every other step is out of place, so that the result is in x.
      product_.scale(&own.inverse_diagonal, w, *b, 0, *to, rows(level), columns);
    } else {
      product_.launch(own.a,
                      {.x = from,
                       .own = from,
                       .other = b,
                       .factors = &own.inverse_diagonal,
                       .keep = 1,
                       .p = w,
                       .q = -w,
                       .r = b != nullptr ? w : 0},
                      *to, columns);
      count_pass(level);
    }
    std::swap(from, to);
  }
}

void GraphCycle::precondition(int level, const Buffer<float>& b, Buffer<float>& x, Buffer<float>& t,
                              int columns) {
  if (level + 1 == count()) {
    if (inverse_) {
      dense_.launch(inverse_, rows(level), b, x, columns);
    } else {
      smooth(level, &b, x, t, true, columns);
    }
    return;
  }
  Level& own = at(level);
  Level& next = at(level + 1);
  smooth(level, &b, x, t, true, columns);
  residual(level, x, b, t, columns);
  product_.launch(own.restriction, {.x = &t}, next.b, columns);
  solve(level + 1, columns);
  product_.launch(own.interpolation, {.x = &next.x, .own = &x, .keep = 1}, x, columns);
  smooth(level, &b, x, t, false, columns);
}

/// x = about the inverse of L times b on a coarse level, by two cycles.
void GraphCycle::solve(int level, int columns) {
  Level& own = at(level);
  precondition(level, own.b, own.x, own.t, columns);
  if (level + 1 == count()) return;
  const float first = chebyshev_step(0, 2, kCycleFrom, kCycleTo);
  const float second = chebyshev_step(1, 2, kCycleFrom, kCycleTo);
  product_.scale(nullptr, first, own.x, 0, own.second_x, rows(level), columns);
  residual(level, own.second_x, own.b, own.second_b, columns);
  // The coarser levels' blocks are free again; own.x becomes the second cycle's correction.
  precondition(level, own.second_b, own.x, own.t, columns);
  product_.scale(nullptr, 1, own.second_x, second, own.x, rows(level), columns);
}

void GraphCycle::prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine,
                         Buffer<float>& t, int columns) {
  product_.launch(at(level).interpolation, {.x = &coarse}, fine, columns);
  smooth(level, nullptr, fine, t, false, columns);
}

void GraphCycle::energies(const Buffer<float>& x, Buffer<float>& y, Buffer<float>& out,
                          int columns) {
  product_.scale(&inverse_sqrt_degree_, 1, x, 0, y, rows(0), columns);
  product_.energy(at(0).a, sqrt_degree_, y, out, columns);
}

}  // namespace diacut
