#include <gtest/gtest.h>

#include <utility>

#include "memory_check.hpp"

namespace diacut::app {
namespace {

using Need = MemoryLedger::Need;

Need always(std::uint64_t bytes) { return {bytes, bytes, bytes, 0}; }

TEST(MemoryLedger, CountsTheImagesThatAreInMemory) {
  MemoryLedger ledger([] { return std::uint64_t{100}; });
  MemoryShare first = ledger.enter(always(60));
  EXPECT_TRUE(first);
  EXPECT_THROW(ledger.enter(always(41)), NoRoomBesideOthers);
  EXPECT_EQ(ledger.most_together(), 0u);
  MemoryShare second = ledger.enter(always(40));  // What was refused does not count.
  EXPECT_EQ(ledger.most_together(), 100u);
  EXPECT_THROW(ledger.enter(always(1)), NoRoomBesideOthers);
  const MemoryShare moved = std::move(first);
  EXPECT_THROW(ledger.enter(always(1)), NoRoomBesideOthers);
  second.reset();
  EXPECT_TRUE(ledger.enter(always(30)));
  EXPECT_EQ(ledger.most_together(), 100u);
}

TEST(MemoryLedger, FinishesOneWorksOnOneAndReadsTheOthers) {
  MemoryLedger ledger([] { return std::uint64_t{1000}; });
  const Need need{10, 20, 40, 100};
  const MemoryShare first = ledger.enter(need);
  const MemoryShare second = ledger.enter(need);
  EXPECT_EQ(ledger.most_together(), 40u + 20 + 100);
  const MemoryShare third = ledger.enter(need);
  EXPECT_EQ(ledger.most_together(), 40u + 20 + 10 + 100);
  const MemoryShare fourth = ledger.enter({10, 20, 40, 300});
  EXPECT_EQ(ledger.most_together(), 40u + 20 + 10 + 10 + 300);
}

TEST(MemoryLedger, LetsTheOnlyImageIn) {
  MemoryLedger ledger([] { return std::uint64_t{100}; });
  EXPECT_TRUE(ledger.enter(always(200)));
  EXPECT_TRUE(ledger.enter(always(200)));  // The one before is gone.
  EXPECT_EQ(ledger.most_together(), 0u);
}

TEST(MemoryLedger, RefusesNothingWhereMemoryIsNotKnown) {
  MemoryLedger ledger([] { return std::uint64_t{0}; });
  const MemoryShare first = ledger.enter(always(std::uint64_t{1} << 50));
  EXPECT_TRUE(ledger.enter(always(std::uint64_t{1} << 50)));
}

TEST(MemoryLedger, MayBeGoneBeforeItsShares) {
  MemoryShare share;
  {
    MemoryLedger ledger([] { return std::uint64_t{100}; });
    share = ledger.enter(always(10));
  }
  share.reset();
}

}  // namespace
}  // namespace diacut::app
