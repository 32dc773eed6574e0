#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "device_line.hpp"
#include "diacut/graph.hpp"
#include "diacut/output.hpp"
#include "interrupt.hpp"
#include "kernel_cache.hpp"
#include "output/format.hpp"
#include "output/program_json.hpp"
#include "paths.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "results.hpp"
#include "stopwatch.hpp"
#include "subcommand.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

constexpr const char* kInputOutput = "Input and output";
constexpr const char* kWanted = "What to compute";

constexpr const char* kGraphExamples = R"(Examples:
  segment graph w.npz -o vectors.npy
      17 eigenvectors of the normalized cut, the first one trivial
  segment graph w.npz --clusters 12 --labels labels.npy --json report.json
      twelve clusters of the nodes, and figures of the solution

A graph is a symmetric sparse matrix of weights from scipy.sparse.save_npz.
A file that is itself called graph is segmented as ./graph.
)";

struct GraphOptions : DeviceOptions {
  std::string graph;
  std::string output;
  std::string labels;
  std::string json;
  std::optional<int> vectors;
  std::optional<int> clusters;
  GraphParameters parameters;  ///< But for the number of vectors.
};

class GraphCommand : public Command {
 public:
  GraphCommand()
      : Command(
            "segment graph",
            "Computes eigenvectors of the normalized cut of any graph, and clusters of its nodes.",
            "segment graph GRAPH|- [OPTION]...", kGraphExamples) {
    line_.inputs("GRAPH|-", inputs_, "A sparse matrix (.npz), or - for standard input",
                 files_of(".npz"));
    line_.option("-o,--output", options_.output, "FILE", kInputOutput,
                 "Eigenvectors: .npy, float32, a row for each", files_of(".npy"));
    line_.option("--labels", options_.labels, "FILE", kInputOutput,
                 "Clusters: .npy, int32, from 1 on, 0 for nodes without edges", files_of(".npy"));
    line_.option("--json", options_.json, "FILE|-", kInputOutput,
                 "Eigenvalues, residuals, components and other figures, as JSON",
                 files_of(".json"));
    line_.option(
        "--vectors", options_.vectors, "K", kWanted,
        "Number of eigenvectors, including those of the eigenvalue 0 (default 17, or all)");
    line_.option("--clusters", options_.clusters, "K", kWanted, "Number of clusters, for --labels");
    line_.option("--tolerance", options_.parameters.tolerance, "T", kWanted,
                 "Residual norm at which an eigenvector has converged (default 1e-4)");
    line_.need("--clusters", {"--labels"});
    declare_device(line_, options_, "a graph that does not fit is refused");
    line_.message_flags("Only errors", "Also how the eigenvectors were found", false);
  }

 private:
  void resolve() override {
    options_.graph = only_input("graph", "graphs", "one");
    set_memory(line_, options_);
    if (options_.output.empty() && options_.labels.empty() && options_.json.empty()) {
      line_.fail("name a file for the results with -o, --labels or --json");
    }
    if (options_.clusters.has_value() && options_.labels.empty() && options_.json.empty()) {
      line_.fail("--clusters needs --labels or --json: name a file for the clusters");
    }
    ResultNames names({options_.graph});
    for (const auto& [name, place] :
         {std::pair("-o", options_.output), std::pair("--labels", options_.labels),
          std::pair("--json", options_.json)}) {
      if (place.empty()) continue;
      const bool report = std::string_view(name) == "--json";
      if (place == "-" && !report) {
        line_.fail(fmt::format("{}: only --json can go to standard output (-)", name));
      }
      if (!report) check_graph_file(place);
      check_writable(place);
      names.add(name, place, "");
    }
  }

  ExitCode run(Console& console, const CancelToken& cancel) override;

  Stopwatch stopwatch_;
  GraphOptions options_;
};

/// Nodes that have eigenvectors, at least one.
int joined_nodes(const Graph& graph) {
  int count = 0;
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    const auto begin = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[i]);
    const auto end = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.starts[i + 1]);
    const bool joined = std::any_of(begin, end, [](float weight) { return weight > 0; });
    if (joined && count < std::numeric_limits<int>::max()) ++count;
  }
  return std::max(count, 1);
}

/// "17 eigenvectors by multilevel in 12 iterations, largest residual 6.8e-05".
std::string run_text(const EigenReport& report, std::size_t vectors) {
  return fmt::format("{} ({}, {}, largest residual {:.1e}{})",
                     counted(static_cast<std::int64_t>(vectors), "eigenvector"), report.solver,
                     counted(report.restarts, "iteration"), largest_residual(report),
                     report.converged ? "" : ", not converged");
}

ExitCode GraphCommand::run(Console& console, const CancelToken& cancel) {
  const KernelCache kernels(console);
  const std::string name = input_name(options_.graph);
  GraphSolver solver(options_.device, options_.kernel_dir);
  handle_crashes();  // Drivers have taken these signals over.
  solver.limit_device_memory(options_.memory);
  const Graph graph = read_graph(options_.graph);
  console.detail(fmt::format("{}: {} nodes, {} entries, on {}", name, graph.nodes(),
                             graph.columns.size(), solver.device().name));
  Progress progress(console, 1, false);
  progress.begin(options_.graph);
  const Watch watch{[&](std::string_view stage, double share) { progress.stage(stage, share); },
                    &cancel};
  GraphParameters parameters = options_.parameters;
  parameters.vectors = options_.vectors.value_or(std::min(parameters.vectors, joined_nodes(graph)));
  const Stopwatch solving;
  std::optional<GraphEigenvectors> vectors;
  std::optional<GraphLabels> labels;
  const bool only_clusters = options_.clusters && options_.output.empty();
  encode_for(name, [&] {
    if (!only_clusters) vectors = solver.eigenvectors(graph, parameters, watch);
    if (options_.clusters) labels = solver.cluster(graph, *options_.clusters, parameters, watch);
  });
  const double milliseconds = solving.milliseconds();
  progress.end();
  if (!options_.output.empty()) write_graph_eigenvectors(options_.output, *vectors);
  if (!options_.labels.empty()) write_graph_labels(options_.labels, *labels);
  if (!options_.json.empty()) {
    write_file(options_.json,
               graph_json(graph, vectors ? &*vectors : nullptr, labels ? &*labels : nullptr,
                          solver.device(), milliseconds));
  }
  const EigenReport& report = vectors ? vectors->report : labels->report;
  console.message(
      fmt::format("{}: {}{} ({:.0f} ms)", name,
                  labels ? counted(labels->count, "cluster") + ", " : std::string(),
                  run_text(report, vectors ? vectors->values.size() : labels->values.size()),
                  stopwatch_.milliseconds()));
  const bool converged = report.converged && (!labels || labels->report.converged);
  return converged ? ExitCode::kDone : ExitCode::kNotConverged;
}

}  // namespace

std::unique_ptr<Command> make_graph(const std::string& /*name*/) {
  return std::make_unique<GraphCommand>();
}

}  // namespace diacut::app
