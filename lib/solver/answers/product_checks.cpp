// Products of a matrix with a vector, in every form.
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

#include "answers/checks.hpp"
#include "matrix/matvec.hpp"
#include "matrix/symmetric_dia.hpp"
#include "spmv/contacts.hpp"
#include "spmv/product.hpp"

namespace diacut {

void check_product(Trial& trial, DeviceOperator& op, const std::vector<float>& x,
                   const TermSums& expected, double roundings, bool recurrence) {
  const std::vector<float> old = trial.normal(x.size());
  const Buffer<float> in = trial.uploaded(x);
  Buffer<float> out = trial.empty(x.size());
  op.perform_op(in, out);
  const std::vector<float> found = out.download();
  trial.expect("product", found, expected, roundings);
  out.fill(NAN);
  op.perform_op(in, out);
  Trial::require(found == out.download(), "two products of the same differ");
  if (!recurrence) return;
  for (const auto& [alpha, beta, gamma] :
       {std::tuple(1.75F, -0.3F, -1.0F), std::tuple(-0.6F, 0.0F, 0.8F),
        std::tuple(2.0F, 0.5F, 0.0F)}) {
    // What is multiplied by 0 is not read.
    out.upload(gamma == 0 ? std::vector<float>(x.size(), NAN) : old);
    op.perform_recurrence(in, out, {alpha, beta, gamma});
    TermSums wanted(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      wanted.values[i] = double{alpha} * expected.values[i];
      wanted.magnitudes[i] = std::abs(double{alpha}) * expected.magnitudes[i];
      wanted.add(i, double{beta} * x[i]);
      wanted.add(i, double{gamma} * old[i]);
    }
    trial.expect("recurrence", out.download(), wanted, roundings);
  }
}

TermSums expected_product(const HostDiaMatrix& matrix, const std::vector<float>& x) {
  TermSums expected(0);
  expected.values =
      reference_matvec(matrix, std::vector<double>(x.begin(), x.end()), &expected.magnitudes);
  return expected;
}

HostDiaMatrix with_eigenvector(HostDiaMatrix matrix, const Stencil& stencil,
                               const std::vector<float>& roots) {
  const DiaShape& shape = matrix.shape;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    double rest = roots[i];
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const double weight = d == stencil.centre() ? 0 : matrix.values[d * shape.pitch + i];
      const auto j = static_cast<std::int64_t>(i) + shape.offsets[d];
      if (weight != 0) rest -= weight * roots[static_cast<std::size_t>(j)];
    }
    matrix.values[stencil.centre() * shape.pitch + i] =
        roots[i] > 0 ? static_cast<float>(rest / roots[i]) : 0.0F;
  }
  return matrix;
}

namespace {

BlockProblem problem_of_rows_that_fill_no_group() { return {67, 31, 5, 21}; }

/// The rounding errors of a sum in any order: `each` a term, and three for the recurrence.
double roundings_of(const BlockProblem& problem, double each) {
  return each * static_cast<double>(problem.stencil.size()) + 4;
}

template <MatvecKind kKind>
void dia_product(Trial& trial) {
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  const DiaMatrix matrix = upload(trial.context(), problem.matrix);
  const std::vector<float> x = trial.normal(problem.rows());
  DiaOperator op(trial.context(), matrix, kKind);
  check_product(trial, op, x, expected_product(problem.matrix, x), roundings_of(problem, 1));
}

void image_product(Trial& trial) {
  const BlockProblem problem = problem_of_rows_that_fill_no_group();
  // A device without images is never asked for this product.
  if (matvec_image_size(trial.context().info(), problem.rows()).row_floats() <= 4) return;
  dia_product<MatvecKind::kImage>(trial);
}

/// Both halves of a kernel's ways to divide an image: those of GPUs and those of CPUs. Weights and
/// roots are powers of two, which every storage holds as they are. A compressed matrix with a scale
/// stands for one that has the roots as an eigenvector.
void check_compressed(Trial& trial, MatvecStorage storage, bool tiles) {
  BlockProblem problem = problem_of_rows_that_fill_no_group();
  for (float& value : problem.matrix.values) {
    if (value > 0) value = std::exp2(std::round(std::log2(value)));
  }
  const DiaMatrix matrix = upload(trial.context(), problem.matrix);
  const std::vector<float> x = trial.normal(problem.rows());
  std::vector<float> host_roots = trial.uniform(problem.rows());
  for (float& root : host_roots) root = root < 0.5F ? 0.5F : 1.0F;
  const Buffer<float> roots = trial.uploaded(host_roots);
  for (const bool scaled : {false, true}) {
    const SymmetricDia compressed =
        compress(trial.context(), matrix, problem.grid, problem.stencil, storage,
                 scaled ? MainDiagonal::kScaled : MainDiagonal::kOwn, &roots);
    SymmetricOperator op(trial.context(), compressed,
                         tiles ? MatvecSymmetricForm{true, 8, 2, 4, 1, 2}
                               : MatvecSymmetricForm{false, 1, 1, 64, 3, 1});
    // Three roundings more of a term for the scale, and its own for the main diagonal.
    check_product(
        trial, op, x,
        expected_product(
            scaled ? with_eigenvector(problem.matrix, problem.stencil, host_roots) : problem.matrix,
            x),
        roundings_of(problem, scaled ? 2 : 1) + 8);
  }
}

template <bool kTiles>
void compressed_product(Trial& trial) {
  for (const MatvecStorage storage :
       {MatvecStorage::kFloat32, MatvecStorage::kHalf, MatvecStorage::kMinifloat}) {
    check_compressed(trial, storage, kTiles);
  }
}

class SparseOperator final : public DeviceOperator {
 public:
  explicit SparseOperator(SparseProduct product) : product_(std::move(product)) {}

  std::size_t rows() const override { return product_.rows; }
  std::string name() const override { return "sparse"; }

 private:
  void launch(const Buffer<float>& in, Buffer<float>& out, const Recurrence* step) override {
    product_.product(in, out, step != nullptr ? *step : Recurrence{});
  }

  SparseProduct product_;
};

/// By every kernel that is for the device, with one size of blocks each.
void sparse_products(Trial& trial) {
  const BlockProblem problem(31, 23, 2, 5);
  const CsrMatrix matrix = csr_of(problem.matrix);
  const std::vector<float> x = trial.normal(problem.rows());
  std::set<std::pair<Format, std::string>> tried;
  for (const Implementation& each : implementations(trial.context().info())) {
    if (!tried.emplace(each.format, each.kernel).second) continue;
    SparseOperator op(make_product(trial.context(), matrix, each));
    check_product(trial, op, x, expected_product(problem.matrix, x), roundings_of(problem, 1));
  }
}

}  // namespace

void check_contacts(Trial& trial, std::size_t count, std::size_t bodies) {
  const std::vector<Contact> contacts = random_contacts(count, bodies, count + bodies);
  const std::size_t pitch = round_up(count, 32);
  for (const ContactLayout layout : {ContactLayout::kStructures, ContactLayout::kArrays,
                                     ContactLayout::kVectors, ContactLayout::kArms}) {
    const std::vector<float> x = trial.normal(6 * bodies);
    std::vector<double> magnitude;
    const std::vector<double> expected =
        reference_jacobian(contacts, std::vector<double>(x.begin(), x.end()), &magnitude);
    const Buffer<float> values = trial.uploaded(contact_values(contacts, layout, pitch));
    const Buffer<std::uint32_t> pairs = trial.uploaded(contact_bodies(contacts));
    Buffer<float> out = trial.uploaded(std::vector<float>(3 * pitch, 0.0F));
    ContactJacobian(trial.context(), {values, pairs, pitch, count}, layout)
        .product(trial.uploaded(x), out);
    // Planes of the three rows of each contact; 0 behind the last one.
    TermSums wanted(3 * pitch);
    for (std::size_t row = 0; row < 3 * count; ++row) {
      wanted.values[row % 3 * pitch + row / 3] = expected[row];
      wanted.magnitudes[row % 3 * pitch + row / 3] = magnitude[row];
    }
    trial.expect("velocity", out.download(), wanted, 20.0 / 2);
  }
}

std::vector<DeviceCheck> product_checks() {
  return {{"product with a vector, plain", dia_product<MatvecKind::kNaive>},
          {"product with a vector, aligned", dia_product<MatvecKind::kAligned>},
          {"product with a vector, in local memory", dia_product<MatvecKind::kLocal>},
          {"product with a vector, vectorized", dia_product<MatvecKind::kVectorized>},
          {"product with a vector, coarsened", dia_product<MatvecKind::kCoarsened>},
          {"product with a vector, by images", image_product},
          {"product with a vector, unrolled", dia_product<MatvecKind::kUnrolled>},
          {"product with a compressed matrix, by runs", compressed_product<false>},
          {"product with a compressed matrix, by tiles", compressed_product<true>},
          {"product with a sparse matrix", sparse_products},
          {"product with a contact Jacobian", [](Trial& trial) { check_contacts(trial, 67, 5); }}};
}

}  // namespace diacut
