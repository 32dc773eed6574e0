#include "graphs.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace diacut::testing {

Graph graph_of(std::size_t nodes, const std::vector<Edge>& edges) {
  std::vector<std::map<std::uint32_t, float>> rows(nodes);
  for (const Edge& edge : edges) {
    rows[edge.a][static_cast<std::uint32_t>(edge.b)] = edge.weight;
    rows[edge.b][static_cast<std::uint32_t>(edge.a)] = edge.weight;
  }
  Graph graph;
  for (const auto& row : rows) {
    for (const auto& [column, weight] : row) {
      graph.columns.push_back(column);
      graph.weights.push_back(weight);
    }
    graph.starts.push_back(graph.columns.size());
  }
  return graph;
}

Graph path_graph(std::size_t nodes) {
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < nodes; ++i) edges.push_back({i - 1, i});
  return graph_of(nodes, edges);
}

Graph cycle_graph(std::size_t nodes) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < nodes; ++i) edges.push_back({i, (i + 1) % nodes});
  return graph_of(nodes, edges);
}

Graph complete_graph(std::size_t nodes) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < i; ++j) edges.push_back({i, j});
  }
  return graph_of(nodes, edges);
}

Graph star_graph(std::size_t nodes) {
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < nodes; ++i) edges.push_back({0, i});
  return graph_of(nodes, edges);
}

Graph grid_graph(std::size_t width, std::size_t height, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Edge> edges;
  const auto weight = [&] {
    return static_cast<float>(std::exp(-4 * static_cast<double>(random()) / 4294967296.0));
  };
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t node = y * width + x;
      if (x > 0) edges.push_back({node - 1, node, weight()});
      if (y > 0) edges.push_back({node - width, node, weight()});
    }
  }
  return graph_of(width * height, edges);
}

Graph random_graph(std::size_t nodes, std::size_t edges_each, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < nodes; ++i) {
    for (std::size_t k = 0; k < edges_each; ++k) {
      const float weight = 0.5F + static_cast<float>(random() % 1000) / 1000;
      edges.push_back({i, random() % i, weight});
    }
  }
  return graph_of(nodes, edges);
}

Graph joined(const Graph& a, const Graph& b) {
  Graph graph = a;
  for (std::size_t i = 1; i < b.starts.size(); ++i) {
    graph.starts.push_back(a.starts.back() + b.starts[i]);
  }
  const auto first = static_cast<std::uint32_t>(a.nodes());
  for (const std::uint32_t column : b.columns) graph.columns.push_back(first + column);
  graph.weights.insert(graph.weights.end(), b.weights.begin(), b.weights.end());
  return graph;
}

namespace {

std::vector<double> inverse_roots(const Graph& graph) {
  std::vector<double> roots(graph.nodes(), 0);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    double degree = 0;
    for (std::uint64_t at = graph.starts[i]; at < graph.starts[i + 1]; ++at) {
      degree += static_cast<double>(graph.weights[at]);
    }
    if (degree > 0) roots[i] = 1 / std::sqrt(degree);
  }
  return roots;
}

}  // namespace

std::vector<double> dense_eigenvalues(const Graph& graph) {
  const std::vector<double> roots = inverse_roots(graph);
  const auto n = static_cast<Eigen::Index>(graph.nodes());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(n, n);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    for (std::uint64_t at = graph.starts[i]; at < graph.starts[i + 1]; ++at) {
      const std::uint32_t j = graph.columns[at];
      matrix(static_cast<Eigen::Index>(i), j) -=
          static_cast<double>(graph.weights[at]) * roots[i] * roots[j];
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().data(), solver.eigenvalues().data() + n};
}

std::vector<double> residuals_of(const Graph& graph, const GraphEigenvectors& eigenvectors) {
  const std::vector<double> roots = inverse_roots(graph);
  std::vector<double> norms;
  for (std::size_t k = 0; k < eigenvectors.vectors.size(); ++k) {
    const std::vector<float>& z = eigenvectors.vectors[k];
    double sum = 0;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      double product = 0;
      for (std::uint64_t at = graph.starts[i]; at < graph.starts[i + 1]; ++at) {
        const std::uint32_t j = graph.columns[at];
        product += static_cast<double>(graph.weights[at]) * roots[i] * roots[j] *
                   static_cast<double>(z[j]);
      }
      const double residual = product - (1 - eigenvectors.values[k]) * static_cast<double>(z[i]);
      sum += residual * residual;
    }
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

double orthogonality_error(const GraphEigenvectors& eigenvectors) {
  double largest = 0;
  for (std::size_t a = 0; a < eigenvectors.vectors.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = a == b ? -1 : 0;
      for (std::size_t i = 0; i < eigenvectors.vectors[a].size(); ++i) {
        sum += static_cast<double>(eigenvectors.vectors[a][i]) *
               static_cast<double>(eigenvectors.vectors[b][i]);
      }
      largest = std::max(largest, std::abs(sum));
    }
  }
  return largest;
}

}  // namespace diacut::testing
