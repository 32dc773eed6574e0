#pragma once

#include <array>

#include "questions.hpp"

namespace diacut::app {

/// An option that sets one parameter.
struct ParameterOption {
  const char* flag;
  const char* key;
  const char* type;
  const char* meaning;
  Questions questions = kAsksAny;  ///< That it is for.
};

inline constexpr std::array kParameterOptions = {
    ParameterOption{"--method", "region.method", "NAME", "How regions are found"},
    ParameterOption{"--regions", "region.regions", "K",
                    "Number of regions; 0: decided by --threshold or --max-ncut",
                    kAsksCut | kAsksDirect},
    ParameterOption{"--threshold", "region.threshold", "T",
                    "Merge regions across boundaries of a "
                    "probability or mean strength of at most T",
                    kAsksCut | kAsksObjects},
    ParameterOption{"--merging", "region.merging", "NAME",
                    "Merge regions by the probability that they "
                    "are different things (learned), or by the mean strength of their boundary",
                    kAsksTree},
    ParameterOption{"--max-ncut", "region.max_ncut", "X",
                    "Cut while the normalized cut is at most X", kAsksDirect},
    ParameterOption{"--min-size", "region.min_size", "SIZE",
                    "Merge smaller regions into a neighbour: pixels, a share of the picture such "
                    "as 0.2%, of a scene an area such as 0.5ha or 200m2, or auto",
                    kAsksAny & ~kAsksSeeded},
    ParameterOption{"--detail", "image.detail", "SIZE|native",
                    "Find regions in the image reduced to this longer side, in pixels; native: in "
                    "the image itself, for objects whose size in pixels matters"},
    ParameterOption{"--boundary", "boundary.kind", "NAME", "Where boundaries come from"},
    ParameterOption{"--weights", "boundary.weights", "NAME|FILE",
                    "The network: built in, or a .safetensors file; several, separated by commas, "
                    "are averaged"},
    ParameterOption{"--spectral", "contour.spectral", "NAME",
                    "The eigenvectors in contours: of a decimated grid, of the "
                    "image's own grid (full), or none (never)",
                    kAsksTree},
    ParameterOption{"--radius", "affinity.radius", "PIXELS",
                    "Compare pixels up to this far apart, 1 to 10"},
    ParameterOption{"--vectors", "eigen.vectors", "N",
                    "Number of eigenvectors, including the trivial one", kAsksVectors},
    ParameterOption{"--tolerance", "eigen.tolerance", "X",
                    "Residual at which an eigenvector has converged", kAsksVectors},
    ParameterOption{"--solver", "eigen.solver", "NAME",
                    "The eigensolver (spectra runs on the host)", kAsksVectors},
    ParameterOption{"--matvec", "matvec.kernel", "NAME", "The kernel of the matrix-vector product",
                    kAsksVectors},
};

/// What follows the options in the help of segment.
inline constexpr const char* kSegmentExamples = R"(Examples:
  segment photo.jpg -o labels.png
      16-bit labels: 1, 2, ... in scan order, 0 where the image has no data
  segment photo.jpg -o labels.png --regions 8 --overlay overlay.png
      eight regions, and a picture of their boundaries
  segment photo.jpg --eigenvectors vectors/
      only the eigenvectors: PNG, a montage, and NPY
  segment photos/ -o out/ --skip-existing
      a folder with its subfolders: photos/a/b.jpg gives out/a/b.png
  find photos -name '*.jpg' | segment --files-from - --base photos -o out/
      a list of any length; --shard 3/16 does the third of sixteen shares
  segment - -o - --indexed < photo.jpg > labels.png
      as a filter; labels are palette indices, which viewers show in colour
  segment recut photo.tree --regions 12 -o labels.png
      another cut of a saved merge tree, in milliseconds: segment recut --help
  segment graph w.npz --clusters 12 --labels labels.npy
      clusters of any graph, saved by SciPy: segment graph --help
  segment scene.tif -o regions.gpkg --bands 4,3,2
      polygons with coordinates and statistics of each band, from a GeoTIFF
  segment photo.jpg --html regions.html
      a page for a browser, with a slider from one region to many
  segment photo.jpg --json - | jq .regions.count

A scene with coordinates (GeoTIFF and other formats of GDAL, also /vsi names)
keeps them in .tif, .gpkg, .geojson and .shp; in folders its labels are .tif.

If no result is named (-o, --overlay, --eigenvectors, --tree, --ultrametric,
--contours, --html, --json, annotations, tables), photo.jpg gives
photo-labels.png beside it, and the folder photos/ gives photos-labels/.
Existing results are replaced; input images are never overwritten.

segment reads JPEG, PNG, HEIC, AVIF, JPEG XL, JPEG 2000, WebP, TIFF, raw camera
files (DNG and others), GIF, BMP and PNM, recognised by their first bytes. In
folders, images are found by their extensions; hidden files and links to folders
are left out.
Where b.jpg and b.png would both give b.png, they give b.jpg.png and b.png.png.
A bad file does not stop the others; a summary ends the run. Several inputs give
folders of results, in which each input folder keeps its own name.

Exit codes: 0 done, 1 internal error, 2 usage or configuration, 3 input or
output, 4 device, 5 eigenvectors did not converge (labels are written),
130 interrupted or out of time. Several images end with the worst of their
codes; from best to worst: 0, 5, 2, 3, 4, 1, 130.
)";

}  // namespace diacut::app
