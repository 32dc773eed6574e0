#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// How kernels/spmv/contact_jacobian.cl finds a contact's numbers.
enum class ContactLayout { kStructures, kArrays, kVectors, kArms };

/// Floats that a contact takes in a layout: 36, or 12.
std::size_t contact_floats(ContactLayout layout);

/// Contacts as the kernel reads them. Refers to what the caller holds: values as ContactLayout
/// tells, of contact_floats() * pitch elements; bodies with two indices a contact.
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

  /// Enqueues out = D' in: `in` holds 6 floats a body, `out` 3 * pitch.
  void product(const Buffer<float>& in, Buffer<float>& out);

 private:
  Context* context_;
  std::size_t contacts_;
  cl::Kernel kernel_;
};

}  // namespace diacut
