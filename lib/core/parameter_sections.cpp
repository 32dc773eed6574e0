#include "core/parameter_table.hpp"

namespace diacut {

const std::vector<ParameterSection>& parameter_sections() {
  static const std::vector<ParameterSection> sections = {
      {"image", "How files are read."},
      {"cue", "Boundary strength from the image, in [0, 1]."},
      {"affinity",
       "How alike two pixels are: by the boundaries between them (intervening contour, Leung and "
       "Malik 1998), or by your own features."},
      {"matvec", "The product of the affinity matrix with a vector."},
      {"eigen", "Eigenvectors of the normalized cut."},
      {"contour",
       "Contours from the cue and the eigenvectors (Arbelaez, Maire, Fowlkes and Malik 2011)."},
      {"region", "Regions from the contours, from the eigenvectors, or from seeds."},
      {"walker", "Labels that grow from seeds by the random walker (Grady 2006)."},
  };
  return sections;
}

}  // namespace diacut
