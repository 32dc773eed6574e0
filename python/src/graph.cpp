#include <nanobind/stl/string.h>

#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/clusters.hpp"
#include "follower.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

template <class T, class U>
std::vector<T> vector_of(const Line<U>& line) {
  return {line.data(), line.data() + line.size()};
}

Graph graph_of(const Line<std::int64_t>& starts, const Line<std::uint32_t>& columns,
               const Line<float>& weights) {
  return {vector_of<std::uint64_t>(starts), vector_of<std::uint32_t>(columns),
          vector_of<float>(weights)};
}

using Found = nb::typed<nb::dict, std::string, nb::any>;

Found described(EigenReport&& report, std::vector<double>&& values) {
  Found result;
  result["values"] = array_of(std::move(values));
  result["residuals"] = array_of(std::move(report.residuals));
  result["error_bounds"] = array_of(bounds(report, &EigenResolution::error));
  result["angle_bounds"] = array_of(bounds(report, &EigenResolution::angle));
  result["resolved"] = resolved(report);
  result["converged"] = report.converged;
  result["iterations"] = report.restarts;
  result["solver"] = report.solver;
  return result;
}

/// A GraphSolver. Callers take turns.
class GraphEngine {
 public:
  GraphEngine(const std::string& device, const nb::bytes& kernel_dir, std::uint64_t memory) {
    check_process();
    const std::string folder = name_of(kernel_dir);
    const Released release;
    solver_.emplace(device, folder);
    solver_->limit_device_memory(memory);
  }

  Found eigenvectors(const Line<std::int64_t>& starts, const Line<std::uint32_t>& columns,
                     const Line<float>& weights, int count, double tolerance, int iterations,
                     nb::object progress) {
    check_process();
    const Graph graph = graph_of(starts, columns, weights);
    const GraphParameters parameters{count, tolerance, iterations};
    GraphEigenvectors found = follow(std::move(progress), [&](Follower& follower) {
      return solver_->eigenvectors(graph, parameters, follower.watch());
    });
    Found result = described(std::move(found.report), std::move(found.values));
    result["vectors"] = array_of(joined(std::move(found.vectors)), count,
                                 static_cast<int>(found.sqrt_degree.size()));
    result["sqrt_degree"] = array_of(std::move(found.sqrt_degree));
    result["components"] = found.components;
    result["isolated"] = found.isolated;
    return result;
  }

  Found cluster(const Line<std::int64_t>& starts, const Line<std::uint32_t>& columns,
                const Line<float>& weights, int clusters, double tolerance, int iterations,
                nb::object progress) {
    check_process();
    const Graph graph = graph_of(starts, columns, weights);
    const GraphParameters parameters{clusters, tolerance, iterations};
    GraphLabels found = follow(std::move(progress), [&](Follower& follower) {
      return spectral_clustering(*solver_, graph, clusters, parameters, follower.watch());
    });
    Found result = described(std::move(found.report), std::move(found.values));
    result["labels"] = array_of(std::move(found.labels));
    result["count"] = found.count;
    result["normalized_cut"] = found.normalized_cut;
    return result;
  }

 private:
  OfOneProcess<GraphSolver> solver_;
};

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<GraphEngine>(module, "GraphEngine", "Eigenvectors and clusters of graphs on a device.")
      .def(nb::init<const std::string&, const nb::bytes&, std::uint64_t>(), "device"_a,
           "kernel_dir"_a, "memory"_a)
      .def("eigenvectors", &GraphEngine::eigenvectors, "starts"_a, "columns"_a, "weights"_a,
           "count"_a, "tolerance"_a, "iterations"_a, "progress"_a.none(),
           "The eigenvectors of a matrix by rows, as a dictionary.")
      .def("cluster", &GraphEngine::cluster, "starts"_a, "columns"_a, "weights"_a, "clusters"_a,
           "tolerance"_a, "iterations"_a, "progress"_a.none(),
           "The clusters of a matrix by rows, as a dictionary.");
}

}  // namespace diacut::python
