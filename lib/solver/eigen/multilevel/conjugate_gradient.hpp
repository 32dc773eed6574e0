#pragma once

#include "diacut/progress.hpp"
#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// The operators of linear systems M x = b with one matrix, over blocks of vectors that are as wide
/// as the workspace's columns(). Both enqueue.
class SystemOperators {
 public:
  virtual ~SystemOperators() = default;
  /// out = M v. M is symmetric and positive definite.
  virtual void product(const Buffer<float>& v, Buffer<float>& out) = 0;
  /// out = about the inverse of M times r, by a symmetric and positive definite operator. `spare`
  /// is overwritten.
  virtual void precondition(const Buffer<float>& r, Buffer<float>& spare, Buffer<float>& out) = 0;
};

/// When conjugate gradients begin and end.
struct ConjugateGradientLimits {
  double tolerance = 0;    ///< They end when every column's error is at most that,
  int max_iterations = 0;  ///< or after so many iterations.
  bool starts = false;     ///< Whether they begin with the x that is given, not with 0.
};

/// How conjugate gradients ended.
struct ConjugateGradientResult {
  int iterations = 0;
  /// The largest error of a column's solution, in the norm that M defines, relative to the
  /// solution: as the preconditioner estimates it.
  double error = 0;
  bool converged = false;
};

/// The preconditioned conjugate gradient method (Hestenes and Stiefel 1952) for several right-hand
/// sides at once, one a column, each with its own step lengths
/// (kernels/eigen/multilevel/conjugate_gradient.cl), which the device computes. The workspace must
/// outlive the object.
class ConjugateGradient {
 public:
  /// For blocks of `rows` elements.
  ConjugateGradient(Workspace& workspace, std::size_t rows);

  /// Solves M x = b. `b` is overwritten by the residuals. A column whose right-hand side is 0 has
  /// the solution 0. Waits for the device in each iteration. Throws NumericalError when arithmetic
  /// goes wrong, CancelledError.
  ConjugateGradientResult solve(SystemOperators& system, Buffer<float>& b, Buffer<float>& x,
                                const ConjugateGradientLimits& limits, const Watch& watch);

 private:
  std::vector<double> start_from(SystemOperators& system, Buffer<float>& b, Buffer<float>& x);
  void products(const Buffer<float>& a, const Buffer<float>& b, const char* quotients);
  void direction();
  void step(Buffer<float>& x, Buffer<float>& r);

  Workspace* workspace_;
  Segments segments_;
  DeviceSums rz_;          ///< For each column the product of r and z, on the device.
  Buffer<float> factors_;  ///< The step length of each column, or what the last direction counts.
  Buffer<float> direction_block_;
  Buffer<float> product_block_;
  Buffer<float> correction_block_;
};

}  // namespace diacut
