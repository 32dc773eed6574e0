#include "spmv/matrix_market.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "sparse_matrices.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

CsrMatrix parse(const std::string& text) { return parse_matrix_market(text, "m.mtx"); }

std::string error_of(const std::string& text) {
  return message_of<InputError>([&] { parse(text); });
}

TEST(MatrixMarket, CoordinateRealGeneralInAnyOrder) {
  const CsrMatrix matrix = parse(
      "%%MatrixMarket MATRIX Coordinate Real General\r\n% a comment\n%\n\n 3 4 4 \n"
      "3 4 -2.5e1\n1\t1 +1\n\n3 1 0\n1 3 .5");
  EXPECT_EQ(matrix.rows, 3U);
  EXPECT_EQ(matrix.cols, 4U);
  EXPECT_THAT(matrix.starts, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(matrix.columns, ElementsAre(0, 2, 0, 3));
  EXPECT_THAT(matrix.values, ElementsAre(1.0F, 0.5F, 0.0F, -25.0F));
}

TEST(MatrixMarket, SymmetricAndSkewFilesHoldOneTriangle) {
  const CsrMatrix symmetric =
      parse("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 -3\n");
  EXPECT_THAT(symmetric.columns, ElementsAre(0, 1, 0));
  EXPECT_THAT(symmetric.values, ElementsAre(7.0F, -3.0F, -3.0F));
  const CsrMatrix skew =
      parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n");
  EXPECT_THAT(skew.columns, ElementsAre(1, 0));
  EXPECT_THAT(skew.values, ElementsAre(-4.0F, 4.0F));
}

TEST(MatrixMarket, PatternsAreOnes) {
  const CsrMatrix matrix =
      parse("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n");
  EXPECT_THAT(matrix.columns, ElementsAre(2, 1, 0));
  EXPECT_THAT(matrix.values, ElementsAre(1.0F, 1.0F, 1.0F));
}

TEST(MatrixMarket, DuplicatesAreSummed) {
  const CsrMatrix matrix = parse(
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n2 1 1\n2 1 "
      "9.31322574615478515625e-10\n1 1 5\n2 1 -1\n");
  EXPECT_THAT(matrix.values, ElementsAre(5.0F, 0x1p-30F, 0x1p-30F));
}

TEST(MatrixMarket, EmptyMatricesAndRows) {
  for (const char* size : {"0 0 0", "0 7 0", "7 0 0", "3 3 0"}) {
    const CsrMatrix matrix =
        parse(std::string("%%MatrixMarket matrix coordinate real general\n") + size + "\n");
    EXPECT_EQ(matrix.nonzeros(), 0U) << size;
    EXPECT_NO_THROW(check_csr(matrix)) << size;
  }
}

TEST(MatrixMarket, WhatIsNoRealMatrixIsToldOf) {
  EXPECT_THAT(error_of(""), HasSubstr("m.mtx:1: ''"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr("expected '%%MatrixMarket matrix coordinate"));
  EXPECT_THAT(error_of("%%MatrixMarket vector coordinate real general\n"), HasSubstr("m.mtx:1"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix sparse real general\n"), HasSubstr("'sparse'"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"),
              HasSubstr("a complex matrix"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n"),
              HasSubstr("a complex matrix"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate quaternion general\n"),
              HasSubstr("'quaternion', expected real, integer or pattern"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate real triangular\n"),
              HasSubstr("'triangular'"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix array real general\n1 1\n1\n"),
              HasSubstr("'array', expected coordinate"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n"),
              HasSubstr("no signs"));
}

/// The same header and size line each time, then `entries`.
std::string error_of_entries(const std::string& entries, const std::string& size = "3 4 2",
                             const std::string& kind = "real general") {
  return error_of("%%MatrixMarket matrix coordinate " + kind + "\n" + size + "\n" + entries);
}

TEST(MatrixMarket, EveryFaultOfAnEntryNamesItsLine) {
  EXPECT_THAT(error_of_entries("1 1 1\n4 1 1\n"), HasSubstr("m.mtx:4: the row '4'"));
  EXPECT_THAT(error_of_entries("1 1 1\n1 5 1\n"), HasSubstr("the column '5'"));
  EXPECT_THAT(error_of_entries("1 0 1\n1 1 1\n"), HasSubstr("m.mtx:3: the column '0'"));
  EXPECT_THAT(error_of_entries("-1 1 1\n1 1 1\n"), HasSubstr("the row '-1'"));
  EXPECT_THAT(error_of_entries("1.5 1 1\n1 1 1\n"), HasSubstr("the row '1.5'"));
  EXPECT_THAT(error_of_entries("99999999999999999999 1 1\n1 1 1\n"), HasSubstr("the row"));
  EXPECT_THAT(error_of_entries("1 1\n1 1 1.00\n"), HasSubstr("expected 'ROW COLUMN VALUE'"));
  EXPECT_THAT(error_of_entries("1 1 1 1\n1 1 1\n"), HasSubstr("expected 'ROW COLUMN VALUE'"));
  EXPECT_THAT(error_of_entries("1 1 one\n1 1 1\n"), HasSubstr("expected a real value"));
  EXPECT_THAT(error_of_entries("1 1 1x\n1 1 1\n"), HasSubstr("expected a real value"));
  EXPECT_THAT(error_of_entries("1 1 nan\n1 1 1\n"), HasSubstr("expected a finite number"));
  EXPECT_THAT(error_of_entries("1 1 1e39\n1 1 1\n"), HasSubstr("expected a finite number"));
  EXPECT_THAT(error_of_entries("1 1 1e999\n1 1 1\n"), HasSubstr("expected a finite number"));
  EXPECT_THAT(error_of_entries("1 1 1.5\n1 1 1\n", "3 4 2", "integer general"),
              HasSubstr("expected an integer value"));
  EXPECT_THAT(error_of_entries("1 1 1\n% no\n1 1 1\n"), HasSubstr("m.mtx:4"));
  EXPECT_THAT(error_of_entries("1 1 1 \n\n   \n\n"),
              HasSubstr("the file ends, expected entry 2 of 2"));
  EXPECT_THAT(error_of_entries("1 1 1\n1 2 1\n1 3 1\n"), HasSubstr("after the last of 2"));
  EXPECT_THAT(error_of_entries("1 1 3e38\n1 1 3e38\n"), HasSubstr("does not fit a float"));
  EXPECT_THAT(error_of_entries("1 2 1\n", "3 3 1", "real symmetric"), HasSubstr("symmetric"));
  EXPECT_THAT(error_of_entries("2 2 1\n", "3 3 1", "real skew-symmetric"),
              HasSubstr("below the diagonal"));
  EXPECT_EQ(error_of_entries("1 1 1e-400\n1 1 1\n"), "") << "too small for a double is 0";
}

TEST(MatrixMarket, EveryFaultOfASizeLineIsToldOf) {
  EXPECT_THAT(error_of_entries("", ""), HasSubstr("the file ends, expected the size line"));
  EXPECT_THAT(error_of_entries("1 1 1\n", "3 4"), HasSubstr("expected the size line"));
  EXPECT_THAT(error_of_entries("1 1 1\n", "x 4 1"), HasSubstr("the number of rows 'x'"));
  EXPECT_THAT(error_of_entries("1 1 1\n", "3 2147483648 1"), HasSubstr("the number of columns"));
  EXPECT_THAT(error_of_entries("1 1 1\n", "3 4 1", "real symmetric"),
              HasSubstr("a symmetric matrix of 3 x 4, expected a square one"));
  EXPECT_THAT(error_of_entries("1 1 1\n", "0 4 1"), HasSubstr("an entry of an empty matrix"));
  // No memory is taken for what a short file cannot hold.
  EXPECT_THAT(error_of_entries("1 1 1\n", "3 4 4000000000000000000"),
              HasSubstr("4000000000000000000 entries announced"));
}

TEST(MatrixMarket, AShortFileMakesNoLargeMatrix) {
  // Each row takes memory, whether it has an entry or not.
  for (const char* size : {"600000000 1 1", "1 600000000 1"}) {
    EXPECT_THAT(error_of_entries("1 1 1\n", size),
                HasSubstr("at most 1048576 rows or columns in a file of this length"));
  }
  const std::string sparse = "%%MatrixMarket matrix coordinate real general\n1000000 9 1\n5 5 1\n";
  EXPECT_EQ(parse_matrix_market(sparse, "a.mtx").rows, 1'000'000u);
}

TEST(MatrixMarket, FilesGoThereAndBack) {
  const testing::TempFolder folder;
  const std::string path = folder / "m.mtx";
  for (const testing::NamedMatrix& each : testing::tiny_matrices()) {
    std::ofstream(path) << matrix_market_text(each.matrix);
    EXPECT_EQ(read_matrix_market(path), each.matrix) << each.name;
  }
}

TEST(MatrixMarket, FilesThatCannotBeReadAreNamed) {
  const testing::TempFolder folder;
  const auto message = [](const std::string& path) {
    return message_of<InputError>([&] { read_matrix_market(path); });
  };
  EXPECT_THAT(message(folder / "none.mtx"), HasSubstr("none.mtx"));
  EXPECT_THAT(message(folder.path().string()), HasSubstr("folder"));
  EXPECT_THAT(message("/dev/zero"), HasSubstr("no Matrix Market file"));
}

TEST(Csr, WhatBreaksItsPromisesIsFound) {
  const CsrMatrix good = testing::random_sparse(5, 6, 0.6, 1);
  EXPECT_NO_THROW(check_csr(good));
  CsrMatrix bad = good;
  bad.columns[1] = bad.columns[0];
  EXPECT_THROW(check_csr(bad), InputError);
  bad = good;
  bad.columns.back() = 6;
  EXPECT_THROW(check_csr(bad), InputError);
  bad = good;
  bad.starts[2] = bad.starts[3] + 1;
  EXPECT_THROW(check_csr(bad), InputError);
  bad = good;
  bad.values.pop_back();
  EXPECT_THROW(check_csr(bad), InputError);
  bad = good;
  bad.starts.pop_back();
  EXPECT_THROW(check_csr(bad), InputError);
  EXPECT_THROW(csr_from_entries(2, 2, {{2, 0, 1.0}}), InputError);
  EXPECT_THROW(csr_from_entries(std::size_t{1} << 31, 2, {}), InputError);
}

}  // namespace
}  // namespace diacut::testing
