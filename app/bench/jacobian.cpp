#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "diacut/errors.hpp"
#include "matrix/dia_matrix.hpp"
#include "measure.hpp"
#include "spmv/contacts.hpp"
#include "spmv/split_mix.hpp"

namespace diacut::bench {

namespace {

struct Options {
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

/// Of a contact: 3 rows, each four products of three with three, 5 operations one.
constexpr double kFlops = 60.0;
/// 36 elements, two bodies' 6 velocities, 3 results.
constexpr double kBytes = 204.0;

void run(const Options& options) {
  Context context(options.common.device, options.common.kernel_dir);
  const std::vector<Contact> contacts = random_contacts(options.contacts, options.bodies, 1);
  SplitMix random(2);
  std::vector<float> x(6 * options.bodies);
  for (float& each : x) each = random.value();
  std::vector<double> magnitude;
  const std::vector<double> expected =
      reference_jacobian(contacts, std::vector<double>(x.begin(), x.end()), &magnitude);
  const CopyBandwidth copy = best_copy_bandwidth(context, yardstick_bytes(context, options.common),
                                                 options.common.repeats);
  fmt::print(
      "{} ({}): D' x of {} contacts between {} bodies; a copy reaches {:.1f} GB/s\n"
      "{:<12}{:>10}{:>10}{:>12}{:>10}{:>14}{:>10}{:>10}\n",
      context.info().name, context.info().platform, options.contacts, options.bodies,
      copy.gigabytes_per_second, "layout", "ms", "GFLOP/s", "GB/s of 204", "of copy", "bytes moved",
      "of copy", "error/u");
  const std::size_t pitch = dia_pitch(options.contacts);
  Buffer<float> in = context.allocate<float>(x.size(), "velocities");
  in.upload(x);
  Buffer<float> out = context.allocate<float>(3 * pitch, "velocities at contacts");
  Buffer<std::uint32_t> bodies =
      context.allocate<std::uint32_t>(2 * options.contacts, "the bodies of contacts");
  bodies.upload(contact_bodies(contacts));
  nlohmann::json results = nlohmann::json::array();
  bool wrong = false;
  for (const Layout& each : kLayouts) {
    Buffer<float> values =
        context.allocate<float>(contact_floats(each.layout) * pitch, "a contact Jacobian");
    values.upload(contact_values(contacts, each.layout, pitch));
    ContactJacobian jacobian(context, {values, bodies, pitch, options.contacts}, each.layout);
    out.fill(std::nanf(""));
    jacobian.product(in, out);
    const std::vector<float> result = out.download();
    double error = 0.0;
    for (std::size_t c = 0; c < options.contacts; ++c) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double scaled = std::abs(result[k * pitch + c] - expected[3 * c + k]) /
                              std::ldexp(magnitude[3 * c + k], -24);
        error = scaled <= error ? error : scaled;  // A NaN must show.
      }
    }
    // The bound for the roundings of a row: see the test of the kernel.
    const bool bad = !(error <= 20.0);
    wrong = wrong || bad;
    const double milliseconds =
        median_milliseconds(context, options.common.repeats, [&] { jacobian.product(in, out); });
    const auto count = static_cast<double>(options.contacts);
    // Elements, the two bodies' numbers and results once a contact, velocities once a body.
    const double moved = (static_cast<double>(contact_floats(each.layout)) * 4 + 8 + 12) * count +
                         24.0 * static_cast<double>(options.bodies);
    const double gflops = kFlops * count / milliseconds * 1e-6;
    const double counted = kBytes * count / milliseconds * 1e-6;
    const double bandwidth = moved / milliseconds * 1e-6;
    fmt::print("{:<12}{:>10.4f}{:>10.2f}{:>12.1f}{:>9.1f}%{:>14.0f}{:>9.1f}%{:>10.2f}{}\n",
               each.name, milliseconds, gflops, counted,
               100.0 * counted / copy.gigabytes_per_second, moved / count,
               100.0 * bandwidth / copy.gigabytes_per_second, error, bad ? "  WRONG" : "");
    results.push_back({{"layout", each.name},
                       {"milliseconds", milliseconds},
                       {"gflops", gflops},
                       {"counted_gigabytes_per_second", counted},
                       {"counted_share_of_copy", counted / copy.gigabytes_per_second},
                       {"bytes_moved", moved},
                       {"share_of_copy", bandwidth / copy.gigabytes_per_second},
                       {"scaled_error", error}});
  }
  if (!options.common.json.empty()) {
    write_json(options.common.json, {{"device", to_json(context.info())},
                                     {"contacts", options.contacts},
                                     {"bodies", options.bodies},
                                     {"copy", to_json(copy)},
                                     {"results", results}});
  }
  if (wrong) throw NumericalError("a product is wrong: its error is over the bound for its terms");
}

}  // namespace

Command jacobian_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "jacobian",
      "The product with the transposed contact Jacobian of rigid bodies in four layouts, 60 "
      "operations and 204 bytes a contact, against the copy");
  const auto options = std::make_shared<Options>();
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
