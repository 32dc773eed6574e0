#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "matrix/dia_matrix.hpp"
#include "measure.hpp"
#include "spmv/contacts.hpp"
#include "spmv/split_mix.hpp"

namespace diacut::bench {

namespace {

struct JacobianOptions {
  CommonOptions common;
  std::size_t contacts = 1'024'000;
  std::size_t bodies = 2;
};

struct Layout {
  ContactLayout layout;
  const char* name;
};
constexpr std::array<Layout, 4> kLayouts = {{{ContactLayout::kStructures, "structures"},
                                             {ContactLayout::kArrays, "arrays"},
                                             {ContactLayout::kVectors, "vectors"},
                                             {ContactLayout::kArms, "arms"}}};

/// Operations that are counted for a contact: 3 rows of 4 inner products of 3 elements, 5
/// operations each.
constexpr double kFlops = 60.0;
/// Bytes that are counted for a contact: 36 elements, 6 velocities of each body, 3 results.
constexpr double kBytes = 204.0;

/// Random contacts on the device, and their product by the definition.
struct Problem {
  Problem(Context& context, const JacobianOptions& options)
      : contacts(random_contacts(options.contacts, options.bodies, 1)),
        pitch(dia_pitch(options.contacts)),
        in(context.allocate<float>(6 * options.bodies, "velocities")),
        out(context.allocate<float>(3 * pitch, "velocities at contacts")),
        bodies(context.allocate<std::uint32_t>(2 * options.contacts, "the bodies of contacts")) {
    SplitMix random(2);
    std::vector<float> x(6 * options.bodies);
    for (float& each : x) each = random.value();
    expected = reference_jacobian(contacts, std::vector<double>(x.begin(), x.end()), &magnitude);
    in.upload(x);
    bodies.upload(contact_bodies(contacts));
  }

  /// The largest error of `out`, as a multiple of u times the sum of the terms' magnitudes.
  double scaled_error() const {
    const std::vector<float> result = out.download();
    double error = 0.0;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      for (std::size_t k = 0; k < 3; ++k) {
        error = larger_error(error, std::abs(result[k * pitch + c] - expected[3 * c + k]) /
                                        std::ldexp(magnitude[3 * c + k], -24));
      }
    }
    return error;
  }

  std::vector<Contact> contacts;
  std::size_t pitch;
  Buffer<float> in;
  Buffer<float> out;
  Buffer<std::uint32_t> bodies;
  std::vector<double> expected;
  std::vector<double> magnitude;
};

/// What was measured of one layout.
struct JacobianFigures {
  const char* layout = "";
  double milliseconds = 0.0;
  double gflops = 0.0;
  double counted_bandwidth = 0.0;  ///< GB/s, if kBytes are counted for each contact.
  double bytes_moved = 0.0;        ///< Read and written at least in this layout.
  double bandwidth = 0.0;          ///< GB/s of the bytes moved.
  double scaled_error = 0.0;
  bool wrong = false;
};

JacobianFigures measure(Context& context, Problem& problem, const Layout& layout,
                        const JacobianOptions& options) {
  Buffer<float> values =
      context.allocate<float>(contact_floats(layout.layout) * problem.pitch, "a contact Jacobian");
  values.upload(contact_values(problem.contacts, layout.layout, problem.pitch));
  ContactJacobian jacobian(context, {values, problem.bodies, problem.pitch, options.contacts},
                           layout.layout);
  problem.out.fill(std::nanf(""));
  jacobian.product(problem.in, problem.out);
  JacobianFigures figures;
  figures.layout = layout.name;
  figures.scaled_error = problem.scaled_error();
  // The bound for the roundings of a row is derived in the test of the kernel.
  figures.wrong = !(figures.scaled_error <= 20.0);
  figures.milliseconds = median_milliseconds(context, options.common.repeats,
                                             [&] { jacobian.product(problem.in, problem.out); });
  const auto count = static_cast<double>(options.contacts);
  // For each contact its elements, the numbers of its two bodies and its results; for each body its
  // velocities.
  figures.bytes_moved = (static_cast<double>(contact_floats(layout.layout)) * 4 + 8 + 12) * count +
                        24.0 * static_cast<double>(options.bodies);
  figures.gflops = kFlops * count / figures.milliseconds * 1e-6;
  figures.counted_bandwidth = kBytes * count / figures.milliseconds * 1e-6;
  figures.bandwidth = figures.bytes_moved / figures.milliseconds * 1e-6;
  return figures;
}

void print(const JacobianFigures& figures, const JacobianOptions& options, double copy) {
  fmt::print("{:<12}{:>10.4f}{:>10.2f}{:>12.1f}{:>9.1f}%{:>14.0f}{:>9.1f}%{:>10.2f}{}\n",
             figures.layout, figures.milliseconds, figures.gflops, figures.counted_bandwidth,
             100.0 * figures.counted_bandwidth / copy,
             figures.bytes_moved / static_cast<double>(options.contacts),
             100.0 * figures.bandwidth / copy, figures.scaled_error,
             figures.wrong ? "  WRONG" : "");
}

nlohmann::json figures_json(const JacobianFigures& figures, double copy) {
  return {{"layout", figures.layout},
          {"milliseconds", figures.milliseconds},
          {"gflops", figures.gflops},
          {"counted_gigabytes_per_second", figures.counted_bandwidth},
          {"counted_share_of_copy", figures.counted_bandwidth / copy},
          {"bytes_moved", figures.bytes_moved},
          {"share_of_copy", figures.bandwidth / copy},
          {"scaled_error", figures.scaled_error}};
}

void run(const JacobianOptions& options) {
  Context context(options.common.device, options.common.kernel_dir);
  Problem problem(context, options);
  const CopyBandwidth copy = best_copy_bandwidth(context, yardstick_bytes(context, options.common),
                                                 options.common.repeats);
  fmt::print(
      "{} ({}): D' x of {} contacts between {} bodies; a copy reaches {:.1f} GB/s\n"
      "{:<12}{:>10}{:>10}{:>12}{:>10}{:>14}{:>10}{:>10}\n",
      context.info().name, context.info().platform, options.contacts, options.bodies,
      copy.gigabytes_per_second, "layout", "ms", "GFLOP/s", "GB/s of 204", "of copy", "bytes moved",
      "of copy", "error/u");
  nlohmann::json results = nlohmann::json::array();
  bool wrong = false;
  for (const Layout& each : kLayouts) {
    const JacobianFigures figures = measure(context, problem, each, options);
    print(figures, options, copy.gigabytes_per_second);
    results.push_back(figures_json(figures, copy.gigabytes_per_second));
    wrong = wrong || figures.wrong;
  }
  if (!options.common.json.empty()) {
    write_json(options.common.json, {{"device", bench::to_json(context.info())},
                                     {"contacts", options.contacts},
                                     {"bodies", options.bodies},
                                     {"copy", bench::to_json(copy)},
                                     {"results", results}});
  }
  check_products(!wrong);
}

}  // namespace

Command jacobian_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("jacobian",
                                         "The product with the transposed contact Jacobian of "
                                         "rigid bodies in four layouts, compared with a copy.");
  const auto options = std::make_shared<JacobianOptions>();
  command->add_option("--contacts", options->contacts, "Contacts")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
  command->add_option("--bodies", options->bodies, "Bodies that touch")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
  add_common_options(*command, options->common);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
