// What a device is held to before it segments many images.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "affinity/affinity.hpp"
#include "diacut/errors.hpp"
#include "diacut/segmenter.hpp"
#include "doctor/checks.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"

namespace diacut {

namespace {

/// The size of the picture that networks see: large enough for each of their levels to have
/// neighbours, and small for the sake of the host, which computes its boundary map too.
constexpr PictureSize kSmall{16, 12};

void check(Context& context, std::string_view stage, const std::function<void(Trial&)>& run) {
  Trial trial(context);
  std::string finding;
  try {
    return run(trial);
  } catch (const WrongAnswer& wrong) {
    finding = wrong.what();
  } catch (const NumericalError& wrong) {  // Of a stage that was given wrong numbers.
    finding = wrong.what();
  }
  throw DeviceError(
      fmt::format("{} computes wrongly (stage {}: {}): run segment doctor, which names the "
                  "kernel, or use another device (--list-devices)",
                  context.info().name, stage, finding));
}

/// What comes after the affinities, as it is planned for an image of a few hundred pixels. A
/// larger image may be planned with a compressed matrix.
void check_solutions(Context& context, const RunParameters& run) {
  constexpr Grid kPlanned{24, 18};
  const RunForm form = forms_to_try(kPlanned, 1, run, context.info()).front();
  if (walks(run)) {
    return check(context, "random walk",
                 [&](Trial& trial) { check_walks(trial, form.matrix, run.affinity.radius); });
  }
  check(context, "eigenvectors", [&](Trial& trial) {
    check_known_eigenvectors(trial, {form.parameters.eigen, form.product, form.matrix},
                             affinity_stencil(run.affinity));
  });
}

}  // namespace

void Segmenter::check_device(bool own_maps) {
  const RunParameters run = working_parameters(parameters(), kSmall, kSmall,
                                               {own_maps, stages().options.keep_eigenvectors});
  stages().work("checking its answers", [&](Context& context, DeviceNetworks& networks) {
    ask_for_kernels(context, networks, run, own_maps);
    if (!own_maps && run.boundary.kind == BoundaryKind::kLearned) {
      check(context, "boundaries",
            [&](Trial& trial) { check_networks(trial, networks, run.boundary.weights, kSmall); });
    }
    check(context, "boundaries", check_ranges);
    if (needs_matrix(run)) {
      check(context, "affinity", [&](Trial& trial) {
        check_affinity(trial, drawn_boundary(trial), run.affinity);
        check_normalized_affinity(trial, drawn_boundary(trial), run.affinity);
      });
      check_solutions(context, run);
    }
    if (!makes_hierarchy(run)) return;
    if (decimates(run)) {
      check(context, "affinity",
            [&](Trial& trial) { check_kept_affinity(trial, drawn_boundary(trial), run.affinity); });
      check(context, "eigenvectors",
            [&](Trial& trial) { check_rough_eigenvectors(trial, run.affinity.radius); });
    }
    check(context, "contours",
          run.contour_decided.spectral == SpectralUse::kNever ? check_boundary_contours
                                                              : check_contours);
    check(context, "contours", [](Trial& trial) { check_orientations(trial, kContourGrid); });
  });
}

}  // namespace diacut
