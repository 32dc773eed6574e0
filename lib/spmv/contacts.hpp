#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmv/contact_jacobian.hpp"

namespace diacut {

/// A point where two rigid bodies touch: its frame (normal and first tangent, orthonormal; the
/// second tangent is their cross product) and the arms from the bodies' centres to it, all in world
/// coordinates.
struct Contact {
  std::array<float, 3> normal{};
  std::array<float, 3> tangent{};
  std::array<float, 3> arm_a{};
  std::array<float, 3> arm_b{};
  std::uint32_t body_a = 0;
  std::uint32_t body_b = 0;
};

/// Contacts with random frames and arms between random bodies, two different ones each where there
/// are two. The same for a seed everywhere. Precondition: bodies >= 1.
std::vector<Contact> random_contacts(std::size_t contacts, std::size_t bodies, std::uint64_t seed);

/// Row k (0 to 2) of a contact's part of D': 6 elements for body A, 6 for body B.
std::array<double, 12> jacobian_row(const Contact& contact, int k);

/// The values of a layout, contact_floats(layout) * pitch; zero from the last contact to the pitch.
std::vector<float> contact_values(const std::vector<Contact>& contacts, ContactLayout layout,
                                  std::size_t pitch);
/// Two indices a contact.
std::vector<std::uint32_t> contact_bodies(const std::vector<Contact>& contacts);

/// D' x in double, three elements a contact. `magnitude`, if given, receives the sums of the
/// magnitudes of all terms, those of the elements' own sums included.
std::vector<double> reference_jacobian(const std::vector<Contact>& contacts,
                                       const std::vector<double>& x,
                                       std::vector<double>* magnitude = nullptr);

}  // namespace diacut
