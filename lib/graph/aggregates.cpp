#include "graph/aggregates.hpp"

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"

namespace diacut {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// The share of a node's largest weight from which on a neighbour is strong.
constexpr float kStrong = 0.25F;
/// Coarse nodes that a thread takes at least.
constexpr std::size_t kRows = 1024;

float largest_weight(const HostCsr& weights, std::uint32_t row) {
  float largest = 0;
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    if (weights.columns[at] != row) largest = std::max(largest, weights.values[at]);
  }
  return largest;
}

/// Whether neither the node nor a strong neighbour is in an aggregate.
bool is_free(const HostCsr& weights, std::uint32_t row, float strong,
             const std::vector<std::uint32_t>& of_node) {
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    if (weights.values[at] >= strong && of_node[weights.columns[at]] != kNone) return false;
  }
  return true;
}

/// The aggregate of the strongest neighbour that has one, the first of equals.
std::uint32_t strongest_aggregate(const HostCsr& weights, std::uint32_t row,
                                  const std::vector<std::uint32_t>& of_node) {
  std::uint32_t result = kNone;
  float largest = 0;
  for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
    const std::uint32_t found = of_node[weights.columns[at]];
    if (found == kNone || weights.values[at] <= largest) continue;
    largest = weights.values[at];
    result = found;
  }
  return result;
}

/// The nodes of each aggregate: those of aggregate J are nodes[starts[J]] to nodes[starts[J + 1]].
struct Members {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> nodes;
};

Members members_of(const Aggregates& aggregates) {
  Members members{std::vector<std::uint32_t>(aggregates.count + 1, 0),
                  std::vector<std::uint32_t>(aggregates.of_node.size())};
  for (const std::uint32_t j : aggregates.of_node) ++members.starts[j + 1];
  for (std::size_t j = 0; j < aggregates.count; ++j) members.starts[j + 1] += members.starts[j];
  std::vector<std::uint32_t> next(members.starts.begin(), members.starts.end() - 1);
  for (std::size_t i = 0; i < aggregates.of_node.size(); ++i) {
    members.nodes[next[aggregates.of_node[i]]++] = static_cast<std::uint32_t>(i);
  }
  return members;
}

/// The rows of a range of aggregates.
struct Part {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
};

Part contracted_rows(const HostCsr& weights, const Aggregates& aggregates, const Members& members,
                     const IndexRange& range) {
  Part part;
  std::vector<std::uint32_t> place(aggregates.count, kNone);
  std::vector<double> sums;
  for (std::size_t j = range.begin; j < range.end; ++j) {
    const std::size_t first = part.columns.size();
    sums.clear();
    for (std::uint32_t k = members.starts[j]; k < members.starts[j + 1]; ++k) {
      const std::uint32_t node = members.nodes[k];
      for (std::uint32_t at = weights.starts[node]; at < weights.starts[node + 1]; ++at) {
        const std::uint32_t column = aggregates.of_node[weights.columns[at]];
        if (place[column] == kNone) {
          place[column] = static_cast<std::uint32_t>(sums.size());
          part.columns.push_back(column);
          sums.push_back(0);
        }
        sums[place[column]] += static_cast<double>(weights.values[at]);
      }
    }
    for (std::size_t at = first; at < part.columns.size(); ++at) place[part.columns[at]] = kNone;
    for (const double sum : sums) part.values.push_back(static_cast<float>(sum));
    part.lengths.push_back(static_cast<std::uint32_t>(sums.size()));
  }
  return part;
}

}  // namespace

Aggregates aggregate(const HostCsr& weights) {
  const auto rows = static_cast<std::uint32_t>(weights.rows());
  Aggregates result{std::vector<std::uint32_t>(rows, kNone), 0};
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (result.of_node[row] != kNone) continue;
    const float strong = kStrong * largest_weight(weights, row);
    if (!is_free(weights, row, strong, result.of_node)) continue;
    const auto own = static_cast<std::uint32_t>(result.count++);
    for (std::uint32_t at = weights.starts[row]; at < weights.starts[row + 1]; ++at) {
      if (weights.values[at] >= strong) result.of_node[weights.columns[at]] = own;
    }
    result.of_node[row] = own;
  }
  const std::vector<std::uint32_t> before = result.of_node;
  parallel_ranges(rows, kRows, [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
      if (before[row] == kNone) result.of_node[row] = strongest_aggregate(weights, row, before);
    }
  });
  return result;
}

HostCsr contract(const HostCsr& weights, const Aggregates& aggregates) {
  const Members members = members_of(aggregates);
  const std::vector<IndexRange> ranges = ranges_of(aggregates.count, kRows);
  std::vector<Part> parts(ranges.size());
  parallel_for(static_cast<int>(ranges.size()), [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    parts[at] = contracted_rows(weights, aggregates, members, ranges[at]);
  });
  HostCsr result;
  result.starts.reserve(aggregates.count + 1);
  for (const Part& part : parts) {
    for (const std::uint32_t length : part.lengths) {
      result.starts.push_back(result.starts.back() + length);
    }
    result.columns.insert(result.columns.end(), part.columns.begin(), part.columns.end());
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
  }
  return result;
}

}  // namespace diacut
