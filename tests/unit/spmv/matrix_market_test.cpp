#include "spmv/matrix_market.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "sparse_matrices.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

CsrMatrix parse(const std::string& text) { return parse_matrix_market(text, "m.mtx"); }

TEST(MatrixMarket, CoordinateRealGeneralInAnyOrder) {
  const CsrMatrix matrix = parse(
      "%%MatrixMarket MATRIX Coordinate Real General\r\n% a comment\n%\n\n 3 4 4 \n"
      "3 4 -2.5e1\n1\t1 +1\n\n3 1 0\n1 3 .5");
  EXPECT_EQ(matrix.rows, 3U);
  EXPECT_EQ(matrix.cols, 4U);
  EXPECT_THAT(matrix.starts, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(matrix.columns, ElementsAre(0, 2, 0, 3));
  EXPECT_THAT(matrix.values, ElementsAre(1.0F, 0.5F, 0.0F, -25.0F));
  // A short file may have many empty rows.
  EXPECT_EQ(parse("%%MatrixMarket matrix coordinate real general\n1000000 9 1\n5 5 1\n").rows,
            1'000'000U);
}

TEST(MatrixMarket, EveryKindOfFileAndEntry) {
  struct Case {
    const char* kind;
    const char* entries;
    std::vector<std::uint32_t> columns;
    std::vector<float> values;
  };
  for (const auto& [kind, entries, columns, values] :
       {// Symmetric and skew files hold one triangle.
        Case{"integer symmetric", "2 2 2\n1 1 7\n2 1 -3\n", {0, 1, 0}, {7, -3, -3}},
        {"real skew-symmetric", "2 2 1\n2 1 4\n", {1, 0}, {-4, 4}},
        {"pattern symmetric", "3 3 2\n3 1\n2 2\n", {2, 1, 0}, {1, 1, 1}},
        // Entries of one place are summed, in double.
        {"real symmetric",
         "2 2 4\n2 1 1\n2 1 9.31322574615478515625e-10\n1 1 5\n2 1 -1\n",
         {0, 1, 0},
         {5, 0x1p-30F, 0x1p-30F}},
        // A number that is too small for a double is 0.
        {"real general", "1 1 1\n1 1 1e-400\n", {0}, {0}}}) {
    const CsrMatrix matrix =
        parse(std::string("%%MatrixMarket matrix coordinate ") + kind + "\n" + entries);
    EXPECT_EQ(matrix.columns, columns) << kind;
    EXPECT_EQ(matrix.values, values) << kind;
  }
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

TEST(Csr, EntriesBeyondTheMatrixAreRefused) {
  EXPECT_THROW(csr_from_entries(2, 2, {{2, 0, 1.0}}), InputError);
  EXPECT_THROW(csr_from_entries(std::size_t{1} << 31, 2, {}), InputError);
}

}  // namespace
}  // namespace diacut::testing
