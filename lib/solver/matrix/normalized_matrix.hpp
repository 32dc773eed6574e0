#pragma once

#include <cstddef>
#include <utility>

#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// How the weights of a normalized affinity matrix are stored; see kernels/matrix/grid_matrix.clh.
enum class MatrixForm {
  kDia,         ///< Diagonals of floats, the neighbours before a pixel and those after it.
  kCompressed,  ///< The neighbours after a pixel in 16 bits, and the main diagonal as floats.
};

/// A normalized affinity matrix A = D^-1/2 W D^-1/2 on the device, over the pixels of one image or
/// of a batch of images. Row and column i belong to element i of grid(); entry A_ij is not zero
/// only where pixel j is pixel i moved by an entry of stencil(). A is symmetric; rows and columns
/// of elements without data are zero, and no entry leads from one image of a batch to another. The
/// square roots of the degrees, D^1/2, are the eigenvector of A to its largest eigenvalue, 1: the
/// trivial eigenvector.
///
/// The object owns its device buffers. Kernels and products that are bound to it refer to it, so it
/// must outlive them and must not be moved meanwhile.
class NormalizedMatrix {
 public:
  /// A matrix in DIA form. `values` are those of a DiaMatrix with the shape
  /// dia_shape(batch.grid(), stencil). `sqrt_degree` holds D^1/2, batch.grid().rows() elements, 0
  /// where there is no data.
  NormalizedMatrix(const Batch& batch, const Stencil& stencil, Buffer<float> values,
                   Buffer<float> sqrt_degree);

  const Batch& batch() const { return batch_; }
  /// The grid of all images of the batch.
  Grid grid() const { return batch_.grid(); }
  const Stencil& stencil() const { return stencil_; }
  MatrixForm form() const { return form_; }

  std::size_t rows() const { return dia_.shape.rows; }
  /// The shape that the matrix has, or had before it was compressed, in DIA form.
  const DiaShape& shape() const { return dia_.shape; }
  /// Precondition: form() is kDia.
  const DiaMatrix& dia() const { return dia_; }
  /// Precondition: form() is kCompressed.
  const SymmetricDia& compressed() const { return compressed_; }
  /// D^1/2, rows() elements.
  const Buffer<float>& sqrt_degree() const { return sqrt_degree_; }

  /// Replaces the DIA form by the compressed form, whose main diagonal is chosen so that D^1/2
  /// stays an eigenvector to the eigenvalue 1 or, with MainDiagonal::kKept, so that A D^1/2 stays
  /// what it is. Both forms are on the device until the compressed one is complete; then the values
  /// of the DIA form are freed. Waits for the device. Precondition: form() is kDia. Throws
  /// DeviceError; the matrix is then unchanged.
  void compress(Context& context, MainDiagonal keeps = MainDiagonal::kRooted);
  /// A matrix in the form that compress() makes with MainDiagonal::kKept; this one stays as it is.
  /// Enqueues.
  NormalizedMatrix compressed_copy(Context& context) const;

  /// Gives the values of the DIA form up; the grid, the stencil and D^1/2 stay. Precondition:
  /// form() is kDia.
  Buffer<float> take_values() { return std::move(dia_.values); }

  /// Frees the weights in either form; the grid, the stencil and D^1/2 stay.
  void free_weights();

 private:
  SymmetricDia rounded(Context& context, MainDiagonal keeps) const;

  Batch batch_;
  Stencil stencil_;
  MatrixForm form_ = MatrixForm::kDia;
  DiaMatrix dia_;
  SymmetricDia compressed_;
  Buffer<float> sqrt_degree_;
};

}  // namespace diacut
