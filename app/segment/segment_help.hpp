#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "command_line.hpp"
#include "image/format.hpp"

namespace diacut::app {

/// What `segment --help` prints: one screen. `segment --help all` prints all options.
inline constexpr const char* kSegmentBrief =
    R"(Segments images by normalized cuts, on any OpenCL device.
Usage: segment [OPTION]... IMAGE|FOLDER|-...

  segment photo.jpg -o labels.png --overlay overlay.png
  segment photos/ -o labels/                a folder with its subfolders
  segment cells.tif -o labels.tif --config nuclei --table cells.csv

  -o, --output FILE|DIR     Labels 1, 2, ...: .png, .tif or .npy; for scenes
                            also polygons: .gpkg, .geojson or .shp
      --overlay FILE|DIR    The image with region boundaries drawn
      --flat FILE|DIR       Each region in its mean colour
      --cutout FILE|DIR     A region on a transparent ground (--at X,Y: which)
      --html FILE|DIR       A page with a slider from one region to many
      --table FILE|DIR      A row for each region: size, shape, colours (.csv)
      --tree FILE|DIR       All regions, for segment recut
      --eigenvectors DIR    Pictures of the eigenvectors, and their values
      --regions K           So many regions (default: as many as people draw);
                            some hundred are superpixels (--compactness: even)
      --threshold T         From 0, many regions, to 1, one
      --min-size SIZE       The least region: pixels, or a share such as 0.2%
      --seeds FILE|DIR      Grow labels from pixels that you have marked
      --config NAME         What the images show, or how carefully to look:
                              default      photographs
                              fast         a preview, or no GPU
                              quality      slower and finer
                              micrographs  objects whose size is in pixels
                              nuclei       nuclei of cells before a background
                              scene        satellites' and aircraft's pictures
                              ncut         direct cuts, as in the articles

Commands, each with a --help of its own:
  segment recut TREE        Cut a saved tree anew, in milliseconds
  segment annotate LABELS   Polygons and tables of labels
  segment graph MATRIX      Clusters of any graph
  segment tile, paint, join A picture too large for one machine, in parts
  segment doctor            Check whether the devices compute rightly

segment --help all lists all options, more examples and the exit codes.
)";

/// The end of the help of segment, before and after the formats that are read.
inline constexpr const char* kSegmentExamples = R"(Examples:
  segment photo.jpg -o labels.png
      16-bit labels: 1, 2, ... in scan order, 0 where the image has no data
  segment photo.jpg -o labels.png --regions 8 --overlay overlay.png
      eight regions, and a picture of their boundaries
  segment photo.jpg --regions 200 --flat flat.png
      superpixels, each in its mean colour
  segment photo.jpg --cutout cat.png --at 240,150
      the region at a pixel, on a transparent ground
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

If no result is named (-o, --overlay, --flat, --cutout, --eigenvectors, --tree,
--ultrametric, --contours, --html, --json, annotations, tables), photo.jpg gives
photo-labels.png beside it, and the folder photos/ gives photos-labels/.
Existing results are replaced, and missing folders made; input images are never
overwritten.

)";
inline constexpr const char* kSegmentNotes = R"(
Where b.jpg and b.png would both give b.png, they give b.jpg.png and b.png.png.
A bad file does not stop the others; a summary ends the run. Several inputs give
folders of results, in which each input folder keeps its own name.

Exit codes: 0 done, 1 internal error, 2 usage or configuration, 3 input or
output, 4 device, 5 eigenvectors did not converge (labels are written),
130 interrupted or out of time. Several images end with the worst of their
codes; from best to worst: 0, 5, 2, 3, 4, 1, 130.
)";

/// What follows the options in the help of segment.
inline std::string segment_examples() {
  const std::string formats =
      "segment reads " + image_format_names() +
      ", recognised by their first bytes. In folders, images are found by their extensions; "
      "hidden files and links to folders are left out.";
  return fmt::format("{}{}{}", kSegmentExamples, fmt::join(wrapped(formats, kHelpWidth), "\n"),
                     kSegmentNotes);
}

}  // namespace diacut::app
