#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "right.hpp"
#include "shared_context.hpp"
#include "spmv/contacts.hpp"

namespace diacut::testing {
namespace {

constexpr ContactLayout kLayouts[] = {ContactLayout::kStructures, ContactLayout::kArrays,
                                      ContactLayout::kVectors, ContactLayout::kArms};

/// A row adds 12 products whose factors are themselves sums of at most two products of products
/// (the second tangent, then the arm's cross product): fewer than 12 + 2 + 2 + 4 roundings on any
/// path, whichever layout rounds where; of the magnitude that reference_jacobian() tells.
void check(std::size_t count, std::size_t bodies) {
  SCOPED_TRACE(::testing::Message() << count << " contacts of " << bodies << " bodies");
  const std::vector<Contact> contacts = random_contacts(count, bodies, count + bodies);
  const std::size_t pitch = round_up(count, 32);
  for (const ContactLayout layout : kLayouts) {
    SCOPED_TRACE(::testing::Message() << "layout " << static_cast<int>(layout));
    expect_right(context(), [&](Trial& trial) {
      const std::vector<float> x = trial.normal(6 * bodies);
      std::vector<double> magnitude;
      const std::vector<double> expected =
          reference_jacobian(contacts, std::vector<double>(x.begin(), x.end()), &magnitude);
      const Buffer<float> values = trial.uploaded(contact_values(contacts, layout, pitch));
      const Buffer<std::uint32_t> pairs = trial.uploaded(contact_bodies(contacts));
      Buffer<float> out = trial.uploaded(std::vector<float>(3 * pitch, 0.0F));
      ContactJacobian jacobian(context(), {values, pairs, pitch, count}, layout);
      jacobian.product(trial.uploaded(x), out);
      // Planes of the three rows of each contact; 0 behind the last one.
      TermSums wanted(3 * pitch);
      for (std::size_t row = 0; row < 3 * count; ++row) {
        wanted.values[row % 3 * pitch + row / 3] = expected[row];
        wanted.magnitudes[row % 3 * pitch + row / 3] = magnitude[row];
      }
      trial.expect("velocity", out.download(), wanted, 20.0 / 2);
    });
  }
}

TEST(TinyContactJacobian, AwkwardCounts) {
  check(1, 1);
  check(2, 2);
  check(31, 2);
  check(67, 5);
}

TEST(ContactJacobian, ManyContacts) { check(10'007, 101); }

TEST(ContactJacobian, BodiesThatMoveAsOneHaveNoRelativeVelocity) {
  // Two bodies, turning alike about the same centre, at the ends of one arm.
  std::vector<Contact> contacts = random_contacts(50, 2, 3);
  for (Contact& contact : contacts) contact.arm_b = contact.arm_a;
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
  for (const double each : reference_jacobian(contacts, x)) EXPECT_NEAR(each, 0.0, 1e-12);
  // And along the normal, the difference of linear velocities is what it is.
  const std::vector<double> apart = {0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0};
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    contacts[c].body_a = 0;
    contacts[c].body_b = 1;
  }
  const std::vector<double> relative = reference_jacobian(contacts, apart);
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const std::array<float, 3>& n = contacts[c].normal;
    EXPECT_NEAR(relative[3 * c], n[0] + 2.0 * n[1] + 3.0 * n[2], 1e-6);
  }
}

}  // namespace
}  // namespace diacut::testing
