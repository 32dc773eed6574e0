#pragma once

#include <array>

namespace diacut::app {

/// An option that sets one parameter.
struct ParameterOption {
  const char* flag;
  const char* key;
  const char* type;
  const char* meaning;
};

inline constexpr std::array kParameterOptions = {
    ParameterOption{"--method", "region.method", "NAME", "How regions are found"},
    ParameterOption{"--regions", "region.regions", "K",
                    "Number of regions; 0: decided by --threshold or --max-ncut"},
    ParameterOption{"--threshold", "region.threshold", "T",
                    "--method hierarchy and objects: merge regions across boundaries of a "
                    "probability or mean strength of at most T"},
    ParameterOption{"--merging", "region.merging", "NAME",
                    "--method hierarchy and objects: merge regions by the probability that they "
                    "are different things (learned), or by the mean strength of their boundary"},
    ParameterOption{"--max-ncut", "region.max_ncut", "X",
                    "--method kway: cut while the normalized cut is at most X"},
    ParameterOption{"--min-size", "region.min_size", "SIZE",
                    "Merge smaller regions into a neighbour: pixels, a share of the picture such "
                    "as 0.2%, of a scene an area such as 0.5ha or 200m2, or auto"},
    ParameterOption{"--detail", "image.detail", "SIZE|native",
                    "Find regions in the image reduced to this longer side, in pixels; native: in "
                    "the image itself, for objects whose size in pixels matters"},
    ParameterOption{"--cue", "cue.kind", "NAME", "Where boundaries come from"},
    ParameterOption{"--weights", "cue.weights", "NAME|FILE",
                    "The network: built in, or a .safetensors file; several, separated by commas, "
                    "are averaged"},
    ParameterOption{"--spectral", "contour.spectral", "NAME",
                    "--method hierarchy: the eigenvectors in contours: of a decimated grid, of the "
                    "image's own grid (full), or none (never)"},
    ParameterOption{"--radius", "affinity.radius", "PIXELS",
                    "Compare pixels up to this far apart, 1 to 10"},
    ParameterOption{"--vectors", "eigen.vectors", "N",
                    "Number of eigenvectors, including the trivial one"},
    ParameterOption{"--tolerance", "eigen.tolerance", "X",
                    "Residual at which an eigenvector has converged"},
    ParameterOption{"--solver", "eigen.solver", "NAME",
                    "The eigensolver (spectra runs on the host)"},
    ParameterOption{"--matvec", "matvec.kernel", "NAME", "The kernel of the matrix-vector product"},
};

}  // namespace diacut::app
