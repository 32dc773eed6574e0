// Sparse matrices of SciPy as graphs: formats, element types, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "diacut/clusters.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

class ReadGraph : public ::testing::Test {
 protected:
  Graph read(const std::string& bytes) {
    const std::string path = (folder_.path() / "w.npz").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return read_graph(path);
  }
  std::string message(const std::string& bytes) {
    const std::string told = message_of<InputError>([&] { read(bytes); });
    EXPECT_THAT(told, AnyOf("", HasSubstr("w.npz: ")));
    return told;
  }

  testing::TempFolder folder_;
};

ZipMember format(const std::string& name) {
  return {"format.npy", npy_of("|S" + std::to_string(name.size()), "()", name)};
}
ZipMember shape(std::int64_t rows, std::int64_t columns) {
  return {"shape.npy", npy_of<std::int64_t>("<i8", {rows, columns})};
}

using Members = std::vector<ZipMember>;

/// The path 0-1-2 with the weights 1 and 2; some members are others than usual.
Members path_members(const Members& others = {}) {
  Members members = {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, 1})},
                     {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 1, 3, 4})},
                     format("csr"),
                     shape(3, 3),
                     {"data.npy", npy_of<float>("<f4", {1, 1, 2, 2})}};
  for (const ZipMember& other : others) {
    std::replace_if(
        members.begin(), members.end(),
        [&](const ZipMember& member) { return member.name == other.name; }, other);
  }
  return members;
}

/// The members of a matrix of coordinates.
Members coordinates(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& columns,
                    const std::vector<double>& values, std::int64_t side) {
  return {{"row.npy", npy_of("<i4", rows)},
          {"col.npy", npy_of("<i4", columns)},
          format("coo"),
          shape(side, side),
          {"data.npy", npy_of("<f8", values)}};
}

void expect_path(const Graph& graph) {
  EXPECT_EQ(graph.starts, (std::vector<std::uint64_t>{0, 1, 3, 4}));
  EXPECT_EQ(graph.columns, (std::vector<std::uint32_t>{1, 0, 2, 1}));
  EXPECT_EQ(graph.weights, (std::vector<float>{1, 1, 2, 2}));
}

TEST_F(ReadGraph, ReadsEveryFormatAndTypeHoweverItIsStored) {
  for (Members members :
       {path_members(), path_members({{"data.npy", npy_of<double>("<f8", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::int64_t>("<i8", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::uint8_t>("|u1", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::int16_t>("<i2", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::uint16_t>(">u2", {256, 256, 512, 512})}}),
        path_members({{"indices.npy", npy_of<std::int64_t>("<i8", {1, 0, 2, 1})},
                      {"indptr.npy", npy_of<std::int64_t>("<i8", {0, 1, 3, 4})}}),
        // Columns in no order, and entries of one place.
        path_members({{"indices.npy", npy_of<std::int32_t>("<i4", {1, 2, 0, 2, 1})},
                      {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 1, 4, 5})},
                      {"data.npy", npy_of<float>("<f4", {1, 0.5, 1, 1.5, 2})}}),
        path_members({format("csc")}),
        coordinates({2, 1, 0, 1, 1}, {1, 2, 1, 0, 2}, {2, 1, 1, 1, 1}, 3)}) {
    for (const bool deflated : {false, true}) {
      for (const bool wide : {false, true}) {
        for (ZipMember& member : members) {
          member.deflated = deflated;
          member.in_64_bits = wide;
        }
        expect_path(read(zip_of(members)));
      }
    }
  }
  const ZipMember bits = {"data.npy", npy_of<std::uint8_t>("|b1", {1, 1, 1, 1})};
  EXPECT_EQ(read(zip_of(path_members({bits}))).weights[2], 1);
}

TEST_F(ReadGraph, NamesWhatIsNoArchiveOfAMatrix) {
  EXPECT_THAT(message("hello, this is no archive"), HasSubstr("no .npz file"));
  EXPECT_THAT(message(""), HasSubstr("w.npz: "));
  EXPECT_THAT(message(zip_of({{"arr_0.npy", npy_of<float>("<f4", {1})}})),
              HasSubstr("no member format.npy"));
  EXPECT_THROW(read_graph((folder_.path() / "missing.npz").string()), InputError);
}

TEST_F(ReadGraph, NamesTheMemberThatIsWrong) {
  const std::string four(16, '\0');
  const std::vector<std::pair<ZipMember, const char*>> cases = {
      {format("dia"), "format 'dia', expected csr, csc or coo"},
      {shape(3, 4), "shape (3, 4), expected a square one"},
      {shape(2'000'000'000, 2'000'000'000), "for 2000000000 rows"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, 7})},
       "has the entry 7 at 3, expected 0 to 2"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, -1})}, "has the entry -1"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2})}, "4 values, 3 indices"},
      {{"indptr.npy", npy_of<std::int32_t>("<i4", {0, 3, 1, 4})}, "contradict"},
      {{"data.npy", npy_of("<c8", "(4,)", four + four)}, "type '<c8'"},
      {{"data.npy", npy_of<float>("<f4", {1, 1, 2, 3})}, "not symmetric"},
      {{"data.npy", npy_of<double>("<f8", {1e300, 1e300, 2, 2})}, "is inf"},
      {{"data.npy", npy_of<float>("<f4", {-1, -1, 2, 2})}, "is -1"},
      // The array's own header claims more than the member has, and less.
      {{"data.npy", npy_of("<f4", "(1000000000000,)", four)}, "cut off"},
      {{"data.npy", npy_of("<f4", "(3,)", four)}, "16 bytes of elements, not the 12"}};
  for (const auto& [wrong, told] : cases) {
    EXPECT_THAT(message(zip_of(path_members({wrong}))), HasSubstr(told));
  }
  EXPECT_THAT(message(zip_of(coordinates({1, 0, 2, 1}, {0, 1, 2, 1}, {1, 1, 2, 2}, 2'000'000'000))),
              HasSubstr("only 4 entries"));
}

TEST_F(ReadGraph, RefusesSizesThatDoNotHold) {
  struct Claim {
    std::int64_t more;
    bool deflated;
    bool in_64_bits;
    const char* told;
  };
  // Members that inflate to more or to less than their headers say; and claims that no data can
  // hold, which are refused before memory is taken. libzip 1.11 refuses the last two itself.
  for (const auto& [more, deflated, in_64_bits, told] :
       {Claim{-1, true, false, "does not inflate"},
        {-40, true, false, "does not inflate"},
        {1, true, false, "does not inflate"},
        {1000, true, false, "does not inflate"},
        {2'000'000'000, true, false, "claims 2000000"},
        {2'000'000'000, false, false, "claims 2000000"},
        {std::int64_t{1} << 50, false, true, "main memory"}}) {
    ZipMember claiming = path_members().back();
    claiming.deflated = deflated;
    claiming.in_64_bits = in_64_bits;
    claiming.claimed_more = more;
    EXPECT_THAT(message(zip_of(path_members({claiming}))),
                AnyOf(HasSubstr(told), HasSubstr(deflated ? told : "sizes don't match")))
        << more;
  }
}

TEST_F(ReadGraph, NeverTakesADamagedByteForAnother) {
  Members members = path_members();
  for (ZipMember& member : members) member.deflated = true;
  const std::string whole = zip_of(members);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x24);
    try {
      // Bytes that nothing is read from, as the versions in headers, may change.
      expect_path(read(damaged));
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace diacut::testing
