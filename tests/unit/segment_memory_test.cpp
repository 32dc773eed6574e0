#include <gtest/gtest.h>

#include <utility>

#include "memory_check.hpp"

namespace diacut::app {
namespace {

TEST(MemoryLedger, CountsTheImagesThatAreInMemory) {
  MemoryLedger ledger([] { return std::uint64_t{100}; });
  MemoryShare first = ledger.enter(60);
  EXPECT_TRUE(first);
  EXPECT_THROW(ledger.enter(41), NoRoomBesideOthers);
  EXPECT_EQ(ledger.most_together(), 0u);
  MemoryShare second = ledger.enter(40);  // What was refused does not count.
  EXPECT_EQ(ledger.most_together(), 100u);
  EXPECT_THROW(ledger.enter(1), NoRoomBesideOthers);
  const MemoryShare moved = std::move(first);
  EXPECT_THROW(ledger.enter(1), NoRoomBesideOthers);
  second.reset();
  EXPECT_TRUE(ledger.enter(30));
  EXPECT_EQ(ledger.most_together(), 100u);
}

TEST(MemoryLedger, LetsTheOnlyImageIn) {
  MemoryLedger ledger([] { return std::uint64_t{100}; });
  EXPECT_TRUE(ledger.enter(200));
  EXPECT_TRUE(ledger.enter(200));  // The one before is gone.
  EXPECT_EQ(ledger.most_together(), 0u);
}

TEST(MemoryLedger, RefusesNothingWhereMemoryIsNotKnown) {
  MemoryLedger ledger([] { return std::uint64_t{0}; });
  const MemoryShare first = ledger.enter(std::uint64_t{1} << 50);
  EXPECT_TRUE(ledger.enter(std::uint64_t{1} << 50));
}

TEST(MemoryLedger, MayBeGoneBeforeItsShares) {
  MemoryShare share;
  {
    MemoryLedger ledger([] { return std::uint64_t{100}; });
    share = ledger.enter(10);
  }
  share.reset();
}

}  // namespace
}  // namespace diacut::app
