#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// How the weights of a compressed symmetric matrix lie in memory; see
/// kernels/matrix/matvec_symmetric.clh.
struct SymmetricLayout {
  int columns = 0;  ///< Elements of an image row in the vectors: its width and any padding.
  int height = 0;
  int bits = 32;             ///< Of a weight: 8, 16 or 32.
  std::vector<int> reaches;  ///< Of each band, from the pixel's own row on; the radius is the last.
  std::size_t stride = 0;    ///< Weights of a neighbour in an image row.

  int radius() const { return static_cast<int>(reaches.size()) - 1; }
  /// Later neighbours of a pixel.
  int upper() const;
  /// Bytes of the weights.
  std::size_t bytes() const;
};

/// A layout that suits the device, with `padding` weights of zero or more at the end of an image
/// row.
SymmetricLayout symmetric_layout(const DeviceInfo& device, int columns, int height, int bits,
                                 std::vector<int> reaches, int padding = 0);

/// What kernels/matrix/matvec_symmetric_pack.cl reads: a symmetric matrix in pitched DIA form.
struct SymmetricSource {
  const Buffer<float>& values;
  std::size_t pitch;
  const std::vector<std::int64_t>& offsets;  ///< All of them, ascending.
  int width;                                 ///< Pixels of an image row.
};

/// Enqueues the packing of `source` into `upper` (layout.bytes() bytes) and `diagonal` (columns
/// times height).
void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, Buffer<std::uint8_t>& upper,
                           Buffer<float>& diagonal);
/// The same, with a main diagonal that keeps `roots` an eigenvector to eigenvalue 1.
void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, const Buffer<float>& roots,
                           Buffer<std::uint8_t>& upper, Buffer<float>& diagonal);
/// The same of D S D, D the diagonal matrix of `roots` and S that of `source`: what is multiplied
/// is scale M scale, where `scale` is 1 / roots, and it keeps `roots` an eigenvector to
/// eigenvalue 1.
void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, const Buffer<float>& roots,
                           Buffer<std::uint8_t>& upper, Buffer<float>& diagonal,
                           Buffer<float>& scale);
void launch_symmetric_pack_kept(Context& context, const SymmetricLayout& layout,
                                const SymmetricSource& source, const Buffer<float>& roots,
                                Buffer<std::uint8_t>& upper, Buffer<float>& diagonal);

/// How the product divides an image.
struct MatvecSymmetricForm {
  bool tiles = true;  ///< matvec_symmetric_tile.cl, else matvec_symmetric_run.cl.
  int lanes_x = 32;   ///< tile: work-items of a group.
  int lanes_y = 8;
  int pixels_x = 4;  ///< tile: a work-item's run, 4, 8 or 16; run: a work-item's block.
  int pixels_y = 1;
  int parts = 1;         ///< tile: work-items that share a run, 1, 2 or 4.
  int most_vectors = 8;  ///< At once; more go in several passes.
};

/// The form measured to be best for `vectors` at once.
MatvecSymmetricForm matvec_symmetric_form(const DeviceInfo& device, const SymmetricLayout& layout,
                                          int vectors);

/// Which vectors of two buffers a product takes: in[(in_first + v) * pitch + i] and
/// out[(out_first + v) * pitch + i] for v < count. They must not overlap.
struct VectorBlock {
  int count = 1;
  std::size_t pitch = 0;
  std::size_t in_first = 0;
  std::size_t out_first = 0;
};

/// out = A in for one or more vectors. Keeps references to the matrix's buffers, which must outlive
/// it. A program is built at the first call for each number of vectors that go through a kernel at
/// once, and for each of the two functions. Throws DeviceError.
class MatvecSymmetric {
 public:
  /// `scale` may be null.
  MatvecSymmetric(Context& context, SymmetricLayout layout, const Buffer<std::uint8_t>& upper,
                  const Buffer<float>& diagonal, const Buffer<float>* scale);

  /// Enqueues out = A in.
  void product(const Buffer<float>& in, Buffer<float>& out, const VectorBlock& block = {});
  /// Enqueues out = alpha (A in) + beta in + gamma out; with gamma 0, `out` is not read.
  void recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta, float gamma,
                  const VectorBlock& block = {});

  /// From now on that form, whatever the number of vectors: for measurements and tests.
  void use_form(const MatvecSymmetricForm& form);

 private:
  struct Program {
    MatvecSymmetricForm form;
    int vectors = 1;  ///< Through the kernel at once.
    cl::Kernel kernel;
  };
  struct Key {
    int count;
    bool quads;
    bool recurrence;
    auto operator<=>(const Key&) const = default;
  };
  Program& program(const VectorBlock& block, bool recurrence);
  void launch(const Program& program, const VectorBlock& block);
  cl_uint bind(cl::Kernel& kernel, const Buffer<float>& in, Buffer<float>& out,
               const VectorBlock& block);

  Context* context_;
  SymmetricLayout layout_;
  const Buffer<std::uint8_t>* upper_;
  const Buffer<float>* diagonal_;
  const Buffer<float>* scale_;
  std::optional<MatvecSymmetricForm> forced_form_;
  std::map<Key, Program> programs_;
};

}  // namespace diacut
