#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/apiserver/storage/testing/store_file.h"
#include "kubexx/apiserver/storage/testing/watch_recorder.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::PodKey;
using testing::WatchRecorder;

/// Files may not become larger than this for as long as it lives: a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

class MemoryFullDisk : public testing::StoreFileTest {};

TEST_F(MemoryFullDisk, ARefusedWriteLeavesNothingAndTheNextIsTried) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(PodKey(1), "one", {}));
  ASSERT_TRUE(storage.Create(PodKey(2), "two", {}));
  auto watch =
      std::make_unique<WatchRecorder>(storage, "/registry/", WatchOptions{.from_revision = 2});
  const std::uint64_t size = Size();
  {
    const FullDisk full(size + 200);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const auto refused = storage.Create(PodKey(3), std::string(1000, 'x'), {});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().reason, Reason::kInternalError);
      EXPECT_EQ(refused.error().code, 500);
      EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
      EXPECT_THAT(refused.error().message, EndsWith("/store: File too large"));
    }
    EXPECT_EQ(Size(), size) << "half a record is not left";
    EXPECT_FALSE(storage.CompareAndSwap(PodKey(1), 1, std::string(1000, 'x'), {}));
    EXPECT_EQ(*storage.Get(PodKey(1), 0, {})->value, "one");
    EXPECT_EQ(storage.Get(PodKey(3), 0, {}).error().reason, Reason::kNotFound);
    EXPECT_EQ(*storage.CurrentRevision({}), 2);
    EXPECT_FALSE(Writes());
    // There is room for a small one.
    ASSERT_TRUE(storage.Delete(PodKey(2), 0, {}));
    EXPECT_FALSE(Writes()) << "as much as was refused may still not fit";
  }
  const auto created = storage.Create(PodKey(3), std::string(1200, 'y'), {});
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(created->mod_revision, 4);
  EXPECT_TRUE(Writes());
  EXPECT_EQ(watch->Await(2).size(), 2U);
  watch.reset();
  const auto before = All();
  EXPECT_EQ(before.size(), 2U);
  Reopen();
  EXPECT_EQ(All(), before);
  EXPECT_EQ(*storage_->CurrentRevision({}), 4);
}

TEST_F(MemoryFullDisk, ADeletionThatIsRefusedBringsTheKeyBackAsItWas) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(PodKey(1), "one", {}));
  {
    const FullDisk full(Size());
    EXPECT_FALSE(storage.Delete(PodKey(1), 0, {}));
  }
  EXPECT_EQ(storage.Get(PodKey(1), 0, {})->mod_revision, 1);
  EXPECT_EQ(*storage.Count("/registry/", {}), 1);
  EXPECT_EQ(storage.Usage().keys, 1U);
  ASSERT_TRUE(storage.Delete(PodKey(1), 1, {}));
  {
    const FullDisk full(Size());
    EXPECT_FALSE(storage.Create(PodKey(1), "again", {}));
  }
  EXPECT_EQ(storage.Usage().keys, 0U);
  EXPECT_EQ(storage.Usage().revisions, 2U);
  EXPECT_EQ(storage.Create(PodKey(1), "once more", {})->mod_revision, 3);
}

TEST_F(MemoryFullDisk, IsToldOnceInTheLogAndSoIsItsEnd) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(PodKey(100), std::string(10000, 'x'), {}));  // The log has room.
  ::testing::internal::CaptureStderr();
  {
    const FullDisk full(Size());
    for (int number = 0; number < 20; ++number) {
      EXPECT_FALSE(storage.Create(PodKey(number), "x", {}));
    }
  }
  for (int number = 0; number < 20; ++number) {
    EXPECT_TRUE(storage.Create(PodKey(number), "x", {}));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 2) << log;
  EXPECT_THAT(log, HasSubstr("Cannot write to the store's file"));
  EXPECT_THAT(log, HasSubstr("The store can write to its file again"));
}

TEST_F(MemoryFullDisk, TheFirstLookAtTheHealthKnows) {
  Reopen();
  EXPECT_TRUE(Writes());
  storage_.reset();
  const std::uint64_t size = Size();
  {
    const FullDisk full(size);
    Reopen();
    EXPECT_FALSE(Writes());
    EXPECT_EQ(Size(), size);
  }
  EXPECT_TRUE(storage_->Create(PodKey(1), std::string(5000, 'x'), {}));
  EXPECT_TRUE(Writes());
}

// A quota is not seen before it is used up.
TEST_F(MemoryFullDisk, WhatIsHistoryIsGivenUpForTheNextWrites) {
  MemoryStorage& storage = Reopen();
  Revision last = storage.Create(PodKey(1), "0", {})->mod_revision;
  const FullDisk full(200000);
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    const Result<Swap> swap = storage.CompareAndSwap(PodKey(1), last, std::string(1000, 'x'), {});
    if (swap) {
      ASSERT_TRUE(swap->done);
      last = swap->current.mod_revision;
      continue;
    }
    ++refused;
    // No time passes meanwhile.
    KX_AWAIT(Writes());
  }
  EXPECT_GT(refused, 0);
  EXPECT_LE(Size(), 200000U);
  const auto all = All();
  Reopen();
  EXPECT_EQ(All(), all);
  EXPECT_EQ(*storage_->CurrentRevision({}), last);
}

TEST_F(MemoryFullDisk, RoomIsFoundWithoutAWrite) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(PodKey(1), "one", {}));
  const std::uint64_t size = Size();
  {
    const FullDisk full(size);
    EXPECT_FALSE(storage.Create(PodKey(2), std::string(1000, 'x'), {}));
    clock_.AwaitSleepers(1);
    clock_.Advance(std::chrono::seconds(3));
    clock_.AwaitSleepers(1);
    EXPECT_FALSE(Writes());
  }
  clock_.AdvanceToSleeper(std::chrono::seconds(2));
  KX_AWAIT(Writes());
  EXPECT_EQ(Size(), size) << "what was tried is taken back";
  EXPECT_EQ(storage.Create(PodKey(2), "two", {})->mod_revision, 2);
}

TEST_F(MemoryFullDisk, WhatARewriteLeftAtACrashIsRemoved) {
  Reopen();
  storage_.reset();
  std::filesystem::copy_file(path(), path() + ".new");
  Reopen();
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
}

// Each writer has keys of its own, and notes what was acknowledged and what refused.
TEST_F(MemoryFullDisk, HasExactlyWhatWasAcknowledgedWhateverElseIsRefused) {
  options_.rewrite_bytes = 30000;
  options_.uncompressed_bytes = 0;
  options_.clock = &base::Clock::Real();
  MemoryStorage& storage = Reopen();
  constexpr int kWriterCount = 4;
  std::array<std::map<std::string, std::string>, kWriterCount> expected;
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> writers;
    std::jthread disk([](const std::stop_token& stop) {
      for (std::uint64_t turn = 0; !stop.stop_requested(); ++turn) {
        const FullDisk full(10000 + turn * 7919 % 40000);
        base::testing::LetOthersRun();
      }
    });
    for (int writer = 0; writer < kWriterCount; ++writer) {
      writers.emplace_back([&, writer] {
        auto& mine = expected.at(static_cast<std::size_t>(writer));
        for (int round = 0; round < 1500; ++round) {
          const std::string key = PodKey(writer * 100 + round % 10);
          const std::string value =
              std::to_string(round) + std::string(static_cast<unsigned>(round) % 7 * 50U, 'x');
          const auto current = storage.Get(key, 0, {});
          ASSERT_EQ(current.has_value(), mine.contains(key));
          bool done = false;
          if (!current) {
            done = storage.Create(key, value, {}).has_value();
          } else if (round % 5 == 0) {
            if (storage.Delete(key, current->mod_revision, {})) {
              mine.erase(key);
            } else {
              ++refused;
            }
            continue;
          } else {
            const auto swap = storage.CompareAndSwap(key, current->mod_revision, value, {});
            ASSERT_TRUE(!swap || swap->done);
            done = swap.has_value();
          }
          if (done) {
            mine[key] = value;
          } else {
            ++refused;
          }
        }
      });
    }
    writers.clear();
  }
  EXPECT_GT(refused, 0);
  std::map<std::string, std::string> all;
  for (const auto& mine : expected) {
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(All(), all);
  const Revision last = *storage.CurrentRevision({});
  Reopen();
  EXPECT_EQ(All(), all);
  EXPECT_EQ(*storage_->CurrentRevision({}), last);
}

}  // namespace
}  // namespace kubexx::apiserver::storage
