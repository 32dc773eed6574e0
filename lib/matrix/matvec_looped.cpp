#include "matrix/matvec_looped.hpp"

namespace diacut {

namespace {

MatvecKernelFile file_of(MatvecLooped::Step step) {
  switch (step) {
    case MatvecLooped::Step::kNaive:
      return {"matrix/matvec_naive.cl", "", 128, 1};
    case MatvecLooped::Step::kAligned:
      return {"matrix/matvec_aligned.cl", "", 128, 1};
    case MatvecLooped::Step::kLocal:
      return {"matrix/matvec_local.cl", "", 256, 1};
    case MatvecLooped::Step::kVectorized:
      return {"matrix/matvec_vectorized.cl", "", 128, 4};
    case MatvecLooped::Step::kCoarsened:
      break;
  }
  return {"matrix/matvec_coarsened.cl", "-DROWS=512", 1, 512};
}

}  // namespace

MatvecLooped::MatvecLooped(Context& context, const MatvecMatrix& matrix, Step step)
    : MatvecLauncher(context, matrix, file_of(step)), offsets_(upload_offsets(context, matrix)) {
  bind_looped(matrix, offsets_);
}

}  // namespace diacut
