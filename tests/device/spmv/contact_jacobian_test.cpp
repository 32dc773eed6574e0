#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "answers/checks.hpp"
#include "right.hpp"
#include "shared_context.hpp"
#include "spmv/contacts.hpp"

namespace diacut::testing {
namespace {

void check(std::size_t count, std::size_t bodies) {
  SCOPED_TRACE(::testing::Message() << count << " contacts of " << bodies << " bodies");
  expect_right(context(), [&](Trial& trial) { check_contacts(trial, count, bodies); });
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
