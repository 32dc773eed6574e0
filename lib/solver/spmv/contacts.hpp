#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/kernel_file.hpp"

namespace diacut {

/// How the numbers of contacts lie in memory: kernels/spmv/contact_jacobian.cl describes it.
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
  ContactMatrix matrix_;
  KernelFile kernels_;
};

/// A point where two rigid bodies touch: its frame (normal and first tangent, orthonormal; the
/// second tangent is the cross product of these two) and the arms from the bodies' centres to the
/// point, all in world coordinates.
struct Contact {
  std::array<float, 3> normal{};
  std::array<float, 3> tangent{};
  std::array<float, 3> arm_a{};
  std::array<float, 3> arm_b{};
  std::uint32_t body_a = 0;
  std::uint32_t body_b = 0;
};

/// Contacts with random frames and arms between random bodies; the two bodies of a contact differ
/// unless there is only one. A seed gives equal contacts on every machine. Precondition: bodies >=
/// 1.
std::vector<Contact> random_contacts(std::size_t contacts, std::size_t bodies, std::uint64_t seed);

/// The contacts' numbers in a layout: contact_floats(layout) * pitch floats, zero from the last
/// contact to the pitch.
std::vector<float> contact_values(const std::vector<Contact>& contacts, ContactLayout layout,
                                  std::size_t pitch);
/// The indices of the two bodies of each contact.
std::vector<std::uint32_t> contact_bodies(const std::vector<Contact>& contacts);

/// D' x in double, three elements for each contact. `magnitude`, if given, receives the sums of the
/// magnitudes of all terms, including the terms that matrix elements are sums of.
std::vector<double> reference_jacobian(const std::vector<Contact>& contacts,
                                       const std::vector<double>& x,
                                       std::vector<double>* magnitude = nullptr);

}  // namespace diacut
