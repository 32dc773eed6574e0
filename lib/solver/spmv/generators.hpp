#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmv/formats.hpp"

namespace diacut {

/// A class of matrices that sparse products are judged by: the classes of the tables of Williams et
/// al. (Optimization of sparse matrix-vector multiplication on emerging multicore platforms, SC
/// 2007) and Su and Keutzer (clSpMV, ICS 2012), whose matrices may not be distributed here. A
/// stand-in has the shape, the non-zeros in a row and the structure of its class; values are
/// random. In parentheses: the class that it stands for, and rows and non-zeros at scale 1:
///
///  - dense (Dense; 2,048 rows and columns, 4.2 M): every entry.
///  - elements (FEM/Cantilever, Spheres; 66 k, 4.7 M): the 27 neighbours in a solid, some missing,
///    in blocks of 3x3.
///  - shell (FEM/Ship; 140 k, 7.0 M): the 9 neighbours in a plane, some missing, in blocks of 6x6.
///  - grid5 (Epidemiology; 526 k, 2.6 M): a 5-point stencil.
///  - grid27 (a Laplacian in space; 512 k, 13.5 M): a 27-point stencil.
///  - lattice (QCD; 49 k, 1.9 M): a torus of four dimensions, 13 blocks of 3x3 a row.
///  - unstructured (FEM/Accelerator; 121 k, 2.5 M): rows of 7 to 38, columns near the diagonal.
///  - economics (Economics; 207 k, 1.2 M): a few columns near and a few anywhere.
///  - circuit (Circuit; 171 k, 0.83 M): a diagonal, a few columns near, some very long rows.
///  - web (Webbase; 1 M, 3.5 M): power laws of the rows' lengths and of the columns.
///  - programme (LP; 4,284 rows of 1.09 M columns, 11.1 M): few, very long rows.
///  - quantum (Si41Ge41H72; 185 k, 10 M): 37 diagonals of a stencil of sixth order, and a dense
///    cluster around each atom.
struct MatrixClass {
  std::string name;
  bool regular = false;  ///< Whether one format suits the whole matrix.
  /// What generate_matrix() calls for a scale and a seed that it accepts.
  CsrMatrix (*make)(double scale, std::uint64_t seed) = nullptr;
};
const std::vector<MatrixClass>& matrix_classes();

/// A matrix of a class, with `scale` times the rows and non-zeros of the table (`dense`: the
/// non-zeros). A seed gives equal bytes on every machine. Throws ConfigError for an unknown name or
/// a scale that is not in (0, 100].
CsrMatrix generate_matrix(const std::string& name, double scale, std::uint64_t seed);

/// A square matrix of full diagonals in runs of eight at random places. Every format can hold it,
/// and x is read in runs as by the matrix of a stencil or a mesh.
CsrMatrix scattered_runs(std::size_t rows, std::size_t row_length, std::uint64_t seed);
/// A square matrix of `count` full diagonals, in runs of eight around the main diagonal.
CsrMatrix adjacent_diagonals(std::size_t rows, std::size_t count, std::uint64_t seed);

}  // namespace diacut
