#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "doctor/problems.hpp"
#include "doctor/trial.hpp"
#include "eigen/eigensolver.hpp"
#include "image/resize.hpp"
#include "matrix/stencil.hpp"

/// Known answers of kernels over blocks of vectors, for problems of any size: doctor asks for each
/// at one size, the tests at many. Each throws as DeviceCheck::run does.
namespace diacut {

/// A known answer that a device is held to.
struct DeviceCheck {
  std::string_view name;  ///< What is computed, for a person.
  void (*run)(Trial&);    ///< Throws WrongAnswer, and what the computation throws.
  bool quick = false;     ///< Whether it belongs to the quick part, which runs before many images.
};

/// The checks of each stage, from single kernels to the stage as a whole.
std::vector<DeviceCheck> contents_checks();
std::vector<DeviceCheck> boundary_checks();
std::vector<DeviceCheck> affinity_checks();
std::vector<DeviceCheck> product_checks();
std::vector<DeviceCheck> lobpcg_checks();
std::vector<DeviceCheck> multilevel_checks();
std::vector<DeviceCheck> lanczos_checks();
std::vector<DeviceCheck> decimation_checks();
std::vector<DeviceCheck> contour_checks();
std::vector<DeviceCheck> region_checks();
std::vector<DeviceCheck> walker_checks();
std::vector<DeviceCheck> graph_checks();
std::vector<DeviceCheck> solver_checks();

/// Known answers of stages as a run computes them: with its parameters, so by its programs. Each
/// throws as DeviceCheck::run does. This one: the boundary map of networks, as the parameter
/// cue.weights names them, of a drawn scene of that size. `networks`: where they are kept on the
/// device.
void check_networks(Trial& trial, DeviceNetworks& networks, const std::string& names,
                    const PictureSize& size);
/// The boundary map from the gradient. Precondition: parameters.kind is CueKind::kGradient.
void check_gradient(Trial& trial, const CueParameters& parameters);
/// The affinities of a boundary map, and these normalized.
void check_affinity(Trial& trial, const AffinityParameters& parameters);
/// The affinities of a boundary map to the kept pixels of a decimation alone.
void check_kept_affinity(Trial& trial, const AffinityParameters& parameters);
void check_normalized_affinity(Trial& trial, const AffinityParameters& parameters);
/// Eigenvectors of a small matrix whose eigenvalues are known, as many as `asked` says, by the
/// solver, the product and the form that it names, with neighbours of that stencil.
void check_known_eigenvectors(Trial& trial, const SolverParameters& asked, const Stencil& stencil);
/// The matrix of a decimated grid, products with it, and the interpolation from it.
void check_decimation(Trial& trial, int radius);
/// Labels from seeds in a small image, by random walks with matrices of that form.
void check_walks(Trial& trial, MatrixForm form, int radius);
/// What direct cuts take from the affinities.
void check_direct_cuts(Trial& trial, int radius);
/// Contours from eigenvectors and a boundary map, from that map alone, and their directions.
void check_combined_contours(Trial& trial);
void check_cue_contours(Trial& trial);
void check_orientations(Trial& trial);

struct BlockShape {
  int columns = 0;  ///< Of the block X.
  int wanted = 0;   ///< Columns that narrow blocks have at least.
  std::size_t rows = 0;
  std::size_t room = 0;  ///< Rows of the workspace, if more than `rows`.
};

/// The largest entry of each column.
void check_peaks(Trial& trial, const BlockShape& shape);
/// A vector put into a block of at least 7 columns, and some of its columns taken out.
void check_block_columns(Trial& trial, const BlockShape& shape);
void check_residual_norms(Trial& trial, const BlockShape& shape);
/// The projection of a narrow block on the complement of X, one column of which is 0.
void check_projection(Trial& trial, const BlockShape& shape);
/// Of a basis of so many blocks, with the products that the bits of `known` stand for.
void check_gram_matrices(Trial& trial, const BlockShape& shape, int used, int known);
/// Ritz vectors and directions from a basis of so many blocks.
void check_basis_update(Trial& trial, const BlockShape& shape, int used);
/// A dense symmetric matrix times a block.
void check_dense_product(Trial& trial, const BlockShape& shape);
/// Blocks between the problem's grid and the next coarser one. `matrix`: the problem's.
void check_transfer(Trial& trial, const BlockProblem& problem, const NormalizedMatrix& matrix,
                    int columns);
/// The gains of the interpolation and the matrix of the next coarser grid.
void check_coarse_matrix(Trial& trial, const BlockProblem& problem);

}  // namespace diacut
