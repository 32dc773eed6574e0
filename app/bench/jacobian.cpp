#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "core/split_mix.hpp"
#include "matrix/dia_matrix.hpp"
#include "measure.hpp"
#include "spmv/contacts.hpp"

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

constexpr std::array<Column, 8> kJacobianColumns = {
    {{"layout", "layout", -12},
     {"milliseconds", "ms", 10, "{:.4f}"},
     {"gflops", "GFLOP/s", 10, "{:.2f}"},
     {"counted_gigabytes_per_second", "GB/s of 204", 12, "{:.1f}"},
     {"counted_share_of_copy", "of copy", 10, "{:.1f}%", 100},
     {"bytes_of_a_contact", "bytes moved", 14, "{:.0f}"},
     {"share_of_copy", "of copy", 10, "{:.1f}%", 100},
     {"scaled_error", "error/u", 10, "{:.2f}"}}};

nlohmann::json measure(Context& context, Problem& problem, const Layout& layout,
                       const JacobianOptions& options, double copy) {
  Buffer<float> values =
      context.allocate<float>(contact_floats(layout.layout) * problem.pitch, "a contact Jacobian");
  values.upload(contact_values(problem.contacts, layout.layout, problem.pitch));
  ContactJacobian jacobian(context, {values, problem.bodies, problem.pitch, options.contacts},
                           layout.layout);
  problem.out.fill(std::nanf(""));
  jacobian.product(problem.in, problem.out);
  const double error = problem.scaled_error();
  const double milliseconds = median_milliseconds(
      context, options.common.repeats, [&] { jacobian.product(problem.in, problem.out); });
  const auto count = static_cast<double>(options.contacts);
  // For each contact its elements, the numbers of its two bodies and its results; for each body its
  // velocities.
  const double bytes = (static_cast<double>(contact_floats(layout.layout)) * 4 + 8 + 12) * count +
                       24.0 * static_cast<double>(options.bodies);
  const double counted = kBytes * count / milliseconds * 1e-6;
  return {{"layout", layout.name},
          {"milliseconds", milliseconds},
          {"gflops", kFlops * count / milliseconds * 1e-6},
          {"counted_gigabytes_per_second", counted},
          {"counted_share_of_copy", counted / copy},
          {"bytes_moved", bytes},
          {"bytes_of_a_contact", bytes / count},
          {"share_of_copy", bytes / milliseconds * 1e-6 / copy},
          {"scaled_error", error},
          // The bound for the roundings of a row is derived in the test of the kernel.
          {"wrong", !(error <= 20.0)}};
}

void run(const JacobianOptions& options) {
  Context context(options.common.device, options.common.kernel_dir);
  Problem problem(context, options);
  const CopyBandwidth copy = best_copy_bandwidth(context, yardstick_bytes(context, options.common),
                                                 options.common.repeats);
  fmt::print("{} ({}): D' x of {} contacts between {} bodies; a copy reaches {:.1f} GB/s\n",
             context.info().name, context.info().platform, options.contacts, options.bodies,
             copy.gigabytes_per_second);
  print_head(kJacobianColumns);
  nlohmann::json results = nlohmann::json::array();
  for (const Layout& each : kLayouts) {
    results.push_back(measure(context, problem, each, options, copy.gigabytes_per_second));
    print_row(kJacobianColumns, results.back());
  }
  write_figures(options.common, context.info(),
                {{"contacts", options.contacts},
                 {"bodies", options.bodies},
                 {"copy", copy},
                 {"results", results}});
  check_right(results);
}

}  // namespace

void jacobian_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("jacobian",
                                         "The product with the transposed contact Jacobian of "
                                         "rigid bodies in four layouts, compared with a copy.");
  const auto options = std::make_shared<JacobianOptions>();
  command->add_option("--contacts", options->contacts, "Contacts")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
  command->add_option("--bodies", options->bodies, "Bodies that touch")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
  add_common_options(*command, options->common);
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
