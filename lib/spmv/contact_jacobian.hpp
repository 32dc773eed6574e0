#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// How the numbers of contacts lie in memory. Each layout has a kernel of its own,
/// kernels/spmv/contact_jacobian_*.cl, which describes it.
enum class ContactLayout { kStructures, kArrays, kVectors, kArms };

/// Floats of one contact in a layout: 36, or 12 in kArms.
std::size_t contact_floats(ContactLayout layout);

/// Contacts as the kernels read them: `values` in a ContactLayout, contact_floats() * pitch
/// elements; `bodies` with two indices for each contact. Refers to buffers of the caller.
struct ContactMatrix {
  const Buffer<float>& values;
  const Buffer<std::uint32_t>& bodies;
  std::size_t pitch;
  std::size_t contacts;
};

/// The product with the transposed contact Jacobian. Throws DeviceError.
class ContactJacobian {
 public:
  ContactJacobian(Context& context, const ContactMatrix& matrix, ContactLayout layout);

  /// Enqueues out = D' in: `in` holds 6 floats for each body, `out` 3 * pitch floats.
  void product(const Buffer<float>& in, Buffer<float>& out);

 private:
  Context* context_;
  std::size_t contacts_;
  cl::Kernel kernel_;
};

}  // namespace diacut
