#pragma once

#include <array>
#include <string>

#include "diacut/parameters.hpp"

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
                    "Regions wanted; 0 lets the boundaries, or the normalized cut, decide"},
    ParameterOption{"--threshold", "region.threshold", "T",
                    "--method hierarchy, without --regions, and objects: regions merge over "
                    "boundaries with a probability or mean strength of at most T"},
    ParameterOption{
        "--merging", "region.merging", "NAME",
        "--method hierarchy and objects: by what regions merge: the probability that they are "
        "different things, or the mean strength of their boundary"},
    ParameterOption{"--max-ncut", "region.max_ncut", "X",
                    "--method kway, without --regions: cut while the normalized cut is at most "
                    "this"},
    ParameterOption{"--min-size", "region.min_size", "SIZE",
                    "Smaller regions join a neighbour: pixels, a part of the picture as 0.2%, or "
                    "auto"},
    ParameterOption{"--detail", "image.detail", "SIZE|native",
                    "Regions are found in the image reduced to a longer side of this many pixels, "
                    "and placed in the image itself; native: found in the image itself, for "
                    "objects that have a size in pixels"},
    ParameterOption{"--cue", "cue.kind", "NAME", "What gives the boundaries"},
    ParameterOption{"--weights", "cue.weights", "NAME|FILE",
                    "--cue learned: the network, built in or a .safetensors file; several, "
                    "separated by commas, are averaged"},
    ParameterOption{"--spectral", "contour.spectral", "NAME",
                    "--method hierarchy: whether the eigenvectors count in the contours; auto: "
                    "with --cue gradient, --edges and --features"},
    ParameterOption{"--radius", "affinity.radius", "PIXELS",
                    "Pixels up to this far apart are compared, 1 to 10"},
    ParameterOption{"--vectors", "eigen.vectors", "N",
                    "Eigenvectors, the trivial first one included"},
    ParameterOption{"--tolerance", "eigen.tolerance", "X",
                    "Residual at which an eigenvector counts as converged"},
    ParameterOption{"--solver", "eigen.solver", "NAME",
                    "The eigensolver: on the device, or Spectra's on the host"},
    ParameterOption{"--matvec", "matvec.kernel", "NAME", "The kernel of the matrix-vector product"},
};

/// The meaning of an option, with the names that it takes, if it takes names, and its default.
std::string described(const ParameterOption& option);

/// Sets the parameter `key`. `flag`: what messages name. Throws ConfigError.
void set_from_option(Parameters& parameters, const char* flag, const std::string& key,
                     const std::string& value);

/// Sets what a text of --set says, as "eigen.vectors=9". Throws ConfigError.
void set_from_assignment(Parameters& parameters, const std::string& assignment);

}  // namespace diacut::app
