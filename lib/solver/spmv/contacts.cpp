#include "spmv/contacts.hpp"

#include <cmath>

#include "core/split_mix.hpp"

namespace diacut {

namespace {

/// For each ContactLayout.
constexpr std::array kOptions = {"-DSTRUCTURES", "-DARRAYS", "-DVECTORS", "-DARMS"};

using Vector = std::array<double, 3>;

Vector widened(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// For each element of cross(a, b), the sum of the magnitudes of its terms.
Vector cross_magnitude(const Vector& a, const Vector& b) {
  const Vector p = {std::abs(a[0]), std::abs(a[1]), std::abs(a[2])};
  const Vector q = {std::abs(b[0]), std::abs(b[1]), std::abs(b[2])};
  return {p[1] * q[2] + p[2] * q[1], p[2] * q[0] + p[0] * q[2], p[0] * q[1] + p[1] * q[0]};
}

Vector unit(SplitMix& random) {
  while (true) {
    Vector v{};
    for (double& each : v) each = 2.0 * random.unit() - 1.0;
    const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (length < 0.1 || length > 1.0) continue;
    for (double& each : v) each /= length;
    return v;
  }
}

std::array<float, 3> rounded(const Vector& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

Vector axis_of(const Contact& contact, int k) {
  const Vector normal = widened(contact.normal);
  const Vector tangent = widened(contact.tangent);
  return k == 0 ? normal : k == 1 ? tangent : cross(normal, tangent);
}

/// Row k (0 to 2) of a contact's part of D': 6 elements for body A, 6 for body B.
std::array<double, 12> jacobian_row(const Contact& contact, int k) {
  const Vector axis = axis_of(contact, k);
  const Vector turn_a = cross(widened(contact.arm_a), axis);
  const Vector turn_b = cross(widened(contact.arm_b), axis);
  std::array<double, 12> row{};
  for (std::size_t i = 0; i < 3; ++i) {
    row[i] = -axis[i];
    row[3 + i] = -turn_a[i];
    row[6 + i] = axis[i];
    row[9 + i] = turn_b[i];
  }
  return row;
}

}  // namespace

std::size_t contact_floats(ContactLayout layout) {
  return layout == ContactLayout::kArms ? 12 : 36;
}

ContactJacobian::ContactJacobian(Context& context, const ContactMatrix& matrix,
                                 ContactLayout layout)
    : matrix_(matrix),
      kernels_(context, "spmv/contact_jacobian.cl", kOptions[static_cast<std::size_t>(layout)]) {}

void ContactJacobian::product(const Buffer<float>& in, Buffer<float>& out) {
  kernels_.launch_rows("contact_jacobian", matrix_.contacts, 1, matrix_.values, matrix_.pitch,
                       matrix_.contacts, matrix_.bodies, in, out);
}

std::vector<Contact> random_contacts(std::size_t contacts, std::size_t bodies, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<Contact> result(contacts);
  for (Contact& contact : result) {
    const Vector normal = unit(random);
    Vector tangent{};
    double length = 0.0;
    while (length < 0.1) {
      tangent = cross(normal, unit(random));
      length =
          std::sqrt(tangent[0] * tangent[0] + tangent[1] * tangent[1] + tangent[2] * tangent[2]);
    }
    for (double& each : tangent) each /= length;
    contact.normal = rounded(normal);
    contact.tangent = rounded(tangent);
    for (std::size_t k = 0; k < 3; ++k) {
      contact.arm_a[k] = random.value();
      contact.arm_b[k] = random.value();
    }
    contact.body_a = static_cast<std::uint32_t>(random.below(bodies));
    contact.body_b = static_cast<std::uint32_t>(random.below(bodies));
    if (bodies > 1 && contact.body_a == contact.body_b) {
      contact.body_b = static_cast<std::uint32_t>((contact.body_b + 1) % bodies);
    }
  }
  return result;
}

std::vector<float> contact_values(const std::vector<Contact>& contacts, ContactLayout layout,
                                  std::size_t pitch) {
  const std::size_t floats = contact_floats(layout);
  std::vector<float> values(floats * pitch, 0.0F);
  std::array<float, 36> all{};
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Contact& contact = contacts[c];
    if (layout == ContactLayout::kArms) {
      for (std::size_t k = 0; k < 3; ++k) {
        all[k] = contact.normal[k];
        all[3 + k] = contact.tangent[k];
        all[6 + k] = contact.arm_a[k];
        all[9 + k] = contact.arm_b[k];
      }
    } else {
      for (int k = 0; k < 3; ++k) {
        const std::array<double, 12> row = jacobian_row(contact, k);
        for (std::size_t i = 0; i < 12; ++i) {
          all[static_cast<std::size_t>(k) * 12 + i] = static_cast<float>(row[i]);
        }
      }
    }
    for (std::size_t i = 0; i < floats; ++i) {
      switch (layout) {
        case ContactLayout::kStructures:
          values[c * floats + i] = all[i];
          break;
        case ContactLayout::kArrays:
          values[i * pitch + c] = all[i];
          break;
        case ContactLayout::kVectors:
        case ContactLayout::kArms:
          values[(i / 4 * pitch + c) * 4 + i % 4] = all[i];
          break;
      }
    }
  }
  return values;
}

std::vector<std::uint32_t> contact_bodies(const std::vector<Contact>& contacts) {
  std::vector<std::uint32_t> result;
  result.reserve(2 * contacts.size());
  for (const Contact& contact : contacts) {
    result.insert(result.end(), {contact.body_a, contact.body_b});
  }
  return result;
}

std::vector<double> reference_jacobian(const std::vector<Contact>& contacts,
                                       const std::vector<double>& x,
                                       std::vector<double>* magnitude) {
  std::vector<double> result;
  result.reserve(3 * contacts.size());
  if (magnitude != nullptr) magnitude->clear();
  for (const Contact& contact : contacts) {
    for (int k = 0; k < 3; ++k) {
      const std::array<double, 12> row = jacobian_row(contact, k);
      const Vector normal = widened(contact.normal);
      const Vector tangent = widened(contact.tangent);
      Vector axis = axis_of(contact, k);
      if (k == 2) axis = cross_magnitude(normal, tangent);
      const Vector turn_a = cross_magnitude(widened(contact.arm_a), axis);
      const Vector turn_b = cross_magnitude(widened(contact.arm_b), axis);
      double sum = 0.0;
      double scale = 0.0;
      for (std::size_t i = 0; i < 6; ++i) {
        const double a = x[6 * std::size_t{contact.body_a} + i];
        const double b = x[6 * std::size_t{contact.body_b} + i];
        sum += row[i] * a + row[6 + i] * b;
        const std::size_t j = i % 3;
        scale += std::abs(i < 3 ? axis[j] : turn_a[j]) * std::abs(a) +
                 std::abs(i < 3 ? axis[j] : turn_b[j]) * std::abs(b);
      }
      result.push_back(sum);
      if (magnitude != nullptr) magnitude->push_back(scale);
    }
  }
  return result;
}

}  // namespace diacut
