#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/contact_jacobian.hpp"

namespace diacut {

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

/// Row k (0 to 2) of a contact's part of D': 6 elements for body A, 6 for body B.
std::array<double, 12> jacobian_row(const Contact& contact, int k);

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
