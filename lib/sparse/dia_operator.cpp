#include "sparse/dia_operator.hpp"

#include <fmt/format.h>

#include <array>

#include "diacut/errors.hpp"
#include "opencl/launchers/matvec_looped.hpp"
#include "opencl/launchers/matvec_unrolled.hpp"

namespace diacut {

namespace {

struct Name {
  MatvecKind kind;
  const char* name;
};
constexpr std::array<Name, 8> kNames = {{{MatvecKind::kAuto, "auto"},
                                         {MatvecKind::kNaive, "naive"},
                                         {MatvecKind::kAligned, "aligned"},
                                         {MatvecKind::kLocal, "local"},
                                         {MatvecKind::kVectorized, "vectorized"},
                                         {MatvecKind::kImage, "image"},
                                         {MatvecKind::kCoarsened, "coarsened"},
                                         {MatvecKind::kUnrolled, "unrolled"}}};

std::unique_ptr<MatvecLauncher> launcher(Context& context, const DiaMatrix& matrix,
                                         MatvecKind kind) {
  const MatvecMatrix bound{matrix.values, matrix.shape.rows, matrix.shape.pitch,
                           matrix.shape.offsets};
  switch (kind) {
    case MatvecKind::kAligned:
      return std::make_unique<MatvecLooped>(context, bound, "matvec_aligned.cl", 128, 1);
    case MatvecKind::kUnrolled:
      return std::make_unique<MatvecUnrolled>(context, bound);
    default:
      throw ConfigError(fmt::format("the product '{}' is no kernel", to_string(kind)));
  }
}

}  // namespace

const char* to_string(MatvecKind kind) {
  for (const Name& name : kNames) {
    if (name.kind == kind) return name.name;
  }
  return "unknown";
}

MatvecKind matvec_kind(const std::string& name) {
  std::string known;
  for (const Name& each : kNames) {
    if (name == each.name) return each.kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  }
  throw ConfigError(fmt::format("'{}' is no product; it is one of {}", name, known));
}

MatvecChoice choose_matvec(MatvecKind asked, const DeviceInfo&, const DiaShape&) {
  return {asked == MatvecKind::kAligned ? asked : MatvecKind::kUnrolled, {}};
}

class DiaOperator::Implementation {
 public:
  Implementation(Context& context, const DiaMatrix& matrix, MatvecKind kind)
      : rows(matrix.shape.rows), product(launcher(context, matrix, kind)) {}

  std::size_t rows;
  std::unique_ptr<MatvecLauncher> product;
  std::int64_t products = 0;
};

DiaOperator::DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind)
    : implementation_(std::make_unique<Implementation>(context, matrix, kind)) {}

DiaOperator::~DiaOperator() = default;

std::size_t DiaOperator::rows() const { return implementation_->rows; }

void DiaOperator::perform_op(const Buffer<float>& in, Buffer<float>& out) {
  implementation_->product->product(in, out);
  ++implementation_->products;
}

void DiaOperator::perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                     float beta, float gamma) {
  implementation_->product->recurrence(in, out, alpha, beta, gamma);
  ++implementation_->products;
}

std::int64_t DiaOperator::products() const { return implementation_->products; }

}  // namespace diacut
