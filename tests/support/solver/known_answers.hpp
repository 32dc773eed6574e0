#pragma once

#include <cstddef>

#include "answers/trial.hpp"
#include "block_problem.hpp"
#include "eigen/multilevel/coarsen.hpp"

/// Known answers of kernels over blocks of vectors, for problems of any size. Each throws
/// WrongAnswer, and what the computation throws.
namespace diacut::testing {

struct BlockShape {
  int columns = 0;  ///< Of the block X.
  int wanted = 0;   ///< Columns that narrow blocks have at least.
  std::size_t rows = 0;
  std::size_t room = 0;  ///< Rows of the workspace, if more than `rows`.
};

void check_residual_norms(Trial& trial, const BlockShape& shape);
/// The projection of a narrow block on the complement of X, one column of which is 0.
void check_projection(Trial& trial, const BlockShape& shape);
/// Of a basis of so many blocks, with the products that the bits of `known` stand for.
void check_gram_matrices(Trial& trial, const BlockShape& shape, int used, int known);
/// Ritz vectors and directions from a basis of so many blocks.
void check_basis_update(Trial& trial, const BlockShape& shape, int used);
/// Blocks between the problem's grid and the next coarser one. `matrix`: the problem's.
void check_transfer(Trial& trial, const BlockProblem& problem, const NormalizedMatrix& matrix,
                    int columns);
/// The gains of the interpolation; and, if `matrix`, the problem's, is in DIA form, the matrix of
/// the next coarser grid, which is returned.
HostDiaMatrix check_coarse_matrix(Trial& trial, const MatrixProblem& problem,
                                  const NormalizedMatrix& matrix, NullSpace null_space);

}  // namespace diacut::testing
