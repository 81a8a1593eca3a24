#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/append_log.h"
#include "kubexx/apiserver/storage/internal/record.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/apiserver/storage/testing/watch_recorder.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::WatchRecorder;

std::string Key(int number) { return "/registry/pods/default/pod-" + std::to_string(number); }

class MemoryFile : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "store"; }

  MemoryOptions Options() const {
    MemoryOptions options;
    options.file = path();
    return options;
  }

  std::unique_ptr<MemoryStorage> MustOpen() const {
    auto made = NewMemoryStorage(Options());
    EXPECT_TRUE(made.has_value()) << made.error().ToString();
    return made ? std::move(*made) : nullptr;
  }

  // A store with so many keys, closed again.
  void Fill(int keys) const {
    const auto storage = MustOpen();
    for (int number = 1; number <= keys; ++number) {
      ASSERT_TRUE(storage->Create(Key(number), "value-" + std::to_string(number), {}).has_value());
    }
  }

  std::uint64_t Size() const { return std::filesystem::file_size(path()); }

  void Flip(std::uint64_t offset) const {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

 private:
  const base::testing::TemporaryFolder folder_;
};

TEST_F(MemoryFile, HasOneLockUnderAllItsNames) {
  const auto storage = MustOpen();
  MemoryOptions options = Options();
  for (const std::string name : {"/symbolic", "/hard"}) {
    options.file = std::filesystem::path(path()).parent_path().string() + name;
    if (name == "/symbolic") {
      std::filesystem::create_symlink("store", options.file);
    } else {
      std::filesystem::create_hard_link(path(), options.file);
    }
    const auto second = NewMemoryStorage(options);
    ASSERT_FALSE(second) << name;
    EXPECT_EQ(second.error().reason, Reason::kInvalidConfig);
    EXPECT_THAT(second.error().message, ::testing::HasSubstr("another process has "));
  }
}

TEST_F(MemoryFile, IsRewrittenWhereASymbolicLinkLeads) {
  MemoryOptions options = Options();
  options.file = path() + "-link";
  options.rewrite_bytes = 1000;
  std::filesystem::create_symlink("store", options.file);
  {
    const auto made = NewMemoryStorage(options);
    ASSERT_TRUE(made.has_value()) << made.error().ToString();
    // Until the thread that rewrites has had a turn.
    std::size_t largest = 0;
    bool shrunk = false;
    for (int round = 0; round < 20000 && !shrunk; ++round) {
      ASSERT_TRUE((*made)->Create(Key(1), std::string(100, 'x'), {}).has_value());
      ASSERT_TRUE((*made)->Delete(Key(1), 0, {}).has_value());
      const std::size_t size = (*made)->Usage().file_bytes;
      shrunk = size < largest;
      largest = std::max(largest, size);
    }
    EXPECT_TRUE(shrunk) << "it was rewritten";
    ASSERT_TRUE((*made)->Create(Key(2), "kept", {}).has_value());
  }
  EXPECT_TRUE(std::filesystem::is_symlink(options.file));
  EXPECT_EQ(*(*MustOpen()->Get(Key(2), 0, {})).value, "kept");
}

TEST_F(MemoryFile, ANewFileBeginsAfterTheBase) {
  MemoryOptions options = Options();
  options.base_revision = 1000;
  for (int time = 0; time < 2; ++time) {
    const auto storage = *NewMemoryStorage(options);
    EXPECT_EQ(*storage->CurrentRevision({}), 1000);
    EXPECT_EQ(storage->Usage().file_bytes, Size());
    options.base_revision = 2000;  // Of the process that finds the file.
  }
  {
    const auto storage = *NewMemoryStorage(options);
    const auto made = storage->Create(Key(1), "a", {});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->mod_revision, 1001);
  }
  const auto storage = *NewMemoryStorage(options);
  EXPECT_EQ(*storage->CurrentRevision({}), 1001);
  EXPECT_EQ(storage->Get(Key(1), 0, {})->mod_revision, 1001);
  // What another file gave out has expired here.
  const auto watched =
      storage->Watch("/registry/", {.from_revision = 5},
                     [](const std::shared_ptr<const Event>&) -> Result<void> { return {}; }, {});
  ASSERT_FALSE(watched);
  EXPECT_EQ(watched.error().reason, Reason::kExpired);
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(internal::Crc32c(""), 0U);
  EXPECT_EQ(internal::Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(internal::Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(internal::Crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

TEST(Record, ComesBackAndIsRefusedWithAnyBitChanged) {
  std::string bytes;
  internal::EncodeRecord({.type = internal::Record::Type::kPut,
                          .revision = 7,
                          .create = 5,
                          .key = "/registry/a",
                          .value = "text",
                          .durable = 3},
                         bytes);
  const std::string longer = bytes + "more";  // what is decoded refers to it
  const internal::DecodedRecord whole = internal::DecodeRecord(longer);
  ASSERT_TRUE(whole.record.has_value());
  EXPECT_EQ(whole.size, bytes.size());
  EXPECT_EQ(whole.record->revision, 7);
  EXPECT_EQ(whole.record->create, 5);
  EXPECT_EQ(whole.record->key, "/registry/a");
  EXPECT_EQ(whole.record->value, "text");
  EXPECT_EQ(whole.record->durable, 3U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(internal::DecodeRecord(bytes.substr(0, size)).record.has_value());
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(internal::DecodeRecord(changed).record.has_value()) << "bit " << bit;
  }
}

TEST_F(MemoryFile, KeepsKeysAndHistory) {
  {
    const auto storage = MustOpen();
    ASSERT_TRUE(storage->Create(Key(1), "one", {}).has_value());
    ASSERT_TRUE(storage->Create(Key(2), std::string("\0\n", 2), {}).has_value());
    ASSERT_TRUE(storage->CompareAndSwap(Key(1), 1, "uno", {}).has_value());
    ASSERT_TRUE(storage->Delete(Key(2), 2, {}).has_value());
  }
  const auto storage = MustOpen();
  ASSERT_NE(storage, nullptr);
  EXPECT_EQ(storage->CurrentRevision({}).value_or(0), 4);
  const Result<KeyValue> one = storage->Get(Key(1), 0, {});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(*one->value, "uno");
  EXPECT_EQ(one->create_revision, 1);
  EXPECT_EQ(one->mod_revision, 3);
  EXPECT_EQ(*storage->Get(Key(2), 2, {})->value, std::string("\0\n", 2));
  EXPECT_FALSE(storage->Get(Key(2), 0, {}).has_value());
  WatchRecorder watch(*storage, "/registry/", {.from_revision = 1});
  EXPECT_EQ(watch.Await(3).size(), 3U);
  EXPECT_EQ(storage->Create(Key(3), "three", {})->mod_revision, 5);
}

TEST_F(MemoryFile, CutsWhatACrashLeftUnfinished) {
  Fill(3);
  const std::uint64_t whole = Size();
  for (const std::uint64_t missing : {1U, 5U, 40U}) {
    std::filesystem::resize_file(path(), Size() - missing);
    {
      const auto storage = MustOpen();
      ASSERT_NE(storage, nullptr);
      EXPECT_EQ(storage->CurrentRevision({}).value_or(0), 2);
      EXPECT_FALSE(storage->Get(Key(3), 0, {}).has_value());
      ASSERT_TRUE(storage->Create(Key(3), "value-3", {}).has_value());
    }
    EXPECT_EQ(Size(), whole);
  }
  for (const std::string& garbage : {std::string(100, '\0'), std::string(5000, '\xab')}) {
    std::ofstream(path(), std::ios::app | std::ios::binary) << garbage;
    const auto storage = MustOpen();
    ASSERT_NE(storage, nullptr);
    EXPECT_EQ(storage->CurrentRevision({}).value_or(0), 3);
    EXPECT_EQ(Size(), whole);
  }
  // Not even the first bytes came to the disk.
  std::filesystem::resize_file(path(), 4);
  const auto storage = MustOpen();
  ASSERT_NE(storage, nullptr);
  EXPECT_EQ(storage->CurrentRevision({}).value_or(-1), 0);
}

TEST_F(MemoryFile, RefusesDamageBeforeTheEnd) {
  Fill(20);
  for (const std::uint64_t place : {Size() / 3, Size() / 2, Size() / 2 + 31}) {
    Flip(place);
    const auto damaged = NewMemoryStorage(Options());
    ASSERT_FALSE(damaged.has_value());
    EXPECT_EQ(damaged.error().reason, Reason::kMalformed) << damaged.error().ToString();
    Flip(place);
  }
  EXPECT_EQ(MustOpen()->CurrentRevision({}).value_or(0), 20);
  Flip(3);
  const auto other = NewMemoryStorage(Options());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().reason, Reason::kMalformed);
}

// A rewritten file is on the disk as a whole before it has its name: nothing of it is a write that
// a crash has cut off.
TEST_F(MemoryFile, RefusesDamageInARewrittenFile) {
  MemoryOptions options = Options();
  options.rewrite_bytes = 1000;
  {
    auto made = NewMemoryStorage(options);
    ASSERT_TRUE(made.has_value());
    MemoryStorage& storage = **made;
    for (int i = 1; i <= 5; ++i) {
      ASSERT_TRUE(storage.Create(Key(i), std::string(200, 'v'), {}).has_value());
    }
    Revision last = storage.Create(Key(6), "0", {})->mod_revision;
    std::size_t before = 0;
    for (bool shrunk = false; !shrunk; shrunk = storage.Usage().file_bytes < before) {
      before = storage.Usage().file_bytes;
      last = storage.CompareAndSwap(Key(6), last, std::string(400, 'x'), {})->current.mod_revision;
    }
  }
  for (const std::uint64_t place : {30U, 300U}) {  // in its beginning, and in an object
    Flip(place);
    const auto damaged = NewMemoryStorage(Options());
    ASSERT_FALSE(damaged.has_value()) << place;
    EXPECT_EQ(damaged.error().reason, Reason::kMalformed) << damaged.error().ToString();
    Flip(place);
  }
  EXPECT_TRUE(MustOpen()->Get(Key(5), 0, {}).has_value());
}

// Of several writes that were on their way together, the first that is readable says nothing of the
// one before it.
TEST_F(MemoryFile, RefusesDamageThatOnlyALaterWriteShows) {
  std::string file(internal::kFileMagic);
  std::size_t second = 0;
  for (int i = 1; i <= 4; ++i) {
    if (i == 2) {
      second = file.size();
    }
    internal::EncodeRecord({.type = internal::Record::Type::kPut,
                            .revision = i,
                            .create = i,
                            .key = Key(i),
                            .value = "v",
                            .durable = i < 4 ? 0 : file.size()},
                           file);
  }
  std::ofstream(path(), std::ios::binary) << file;
  Flip(second + 20);
  const auto damaged = NewMemoryStorage(Options());
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().reason, Reason::kMalformed);
}

TEST_F(MemoryFile, RefusesAKeyTwiceAtTheBeginning) {
  std::string file(internal::kFileMagic);
  internal::EncodeRecord({.type = internal::Record::Type::kBase, .revision = 10}, file);
  for (const Revision revision : {9, 5}) {
    internal::EncodeRecord({.type = internal::Record::Type::kItem,
                            .revision = revision,
                            .create = 1,
                            .key = Key(1),
                            .value = "v"},
                           file);
  }
  std::ofstream(path(), std::ios::binary) << file;
  const auto twice = NewMemoryStorage(Options());
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().reason, Reason::kMalformed);
}

TEST_F(MemoryFile, HasOneOwner) {
  {
    const auto storage = MustOpen();
    const auto second = NewMemoryStorage(Options());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().reason, Reason::kInvalidConfig);
  }
  EXPECT_NE(MustOpen(), nullptr);
  MemoryOptions nowhere;
  nowhere.file = path() + "/none/store";
  const auto made = NewMemoryStorage(nowhere);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().reason, Reason::kInvalidConfig);
}

TEST_F(MemoryFile, IsRewrittenWhenMostOfItIsHistory) {
  MemoryOptions options = Options();
  options.rewrite_bytes = 20000;
  std::size_t largest = 0;
  Revision last = 0;
  {
    auto made = NewMemoryStorage(options);
    ASSERT_TRUE(made.has_value());
    MemoryStorage& storage = **made;
    ASSERT_TRUE(storage.Create(Key(1), "kept", {}).has_value());
    last = storage.Create(Key(2), "0", {})->mod_revision;
    bool shrunk = false;
    for (int round = 0; round < 20000 && !shrunk; ++round) {
      const Result<Swap> swap = storage.CompareAndSwap(Key(2), last, std::string(400, 'x'), {});
      ASSERT_TRUE(swap && swap->done);
      last = swap->current.mod_revision;
      const std::size_t size = storage.Usage().file_bytes;
      shrunk = size < largest;
      largest = std::max(largest, size);
    }
    EXPECT_TRUE(shrunk);
    EXPECT_EQ(storage.Usage().file_bytes, Size());
  }
  const auto storage = MustOpen();
  ASSERT_NE(storage, nullptr);
  EXPECT_EQ(storage->CurrentRevision({}).value_or(0), last);
  EXPECT_EQ(*storage->Get(Key(1), 0, {})->value, "kept");
  EXPECT_EQ(storage->Get(Key(2), 0, {})->mod_revision, last);
  // The history of before is gone with the rest.
  EXPECT_EQ(storage->Get(Key(2), 2, {}).error().reason, Reason::kExpired);
}

TEST_F(MemoryFile, AStartRewritesWhatIsMostlyHistory) {
  MemoryOptions options = Options();
  options.rewrite_bytes = 1 << 30;
  {
    const auto storage = *NewMemoryStorage(options);
    Revision last = storage->Create(Key(1), "0", {})->mod_revision;
    while (storage->Usage().file_bytes < 5 << 20) {
      last =
          storage->CompareAndSwap(Key(1), last, std::string(50000, 'x'), {})->current.mod_revision;
    }
  }
  EXPECT_GT(Size(), 5U << 20U);
  const auto storage = MustOpen();
  KX_AWAIT_LE(storage->Usage().file_bytes, 100000);
  EXPECT_LT(Size(), 100000U);
}

// What the writer tells of each acknowledged write.
struct Acknowledged {
  std::int64_t writer = 0;
  std::int64_t number = 0;
  Revision revision = 0;
};
constexpr int kWriters = 4;

// Never returns: counts up one key a thread and tells of every number that was acknowledged.
[[noreturn]] void WriteUntilKilled(const MemoryOptions& options, int tell) {
  auto storage = NewMemoryStorage(options);
  if (!storage) {
    ::_exit(3);
  }
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&storage, writer, tell] {
      for (;;) {
        Acknowledged told{.writer = writer};
        const auto next = [&told](const KeyValue& now) -> Result<std::optional<std::string>> {
          told.number = now.mod_revision == 0 ? 1 : std::stoll(*now.value) + 1;
          return std::optional<std::string>(std::to_string(told.number));
        };
        UpdateOptions update;
        update.create_if_missing = true;
        const Result<KeyValue> done =
            GuaranteedUpdate(**storage, Key(writer), next, std::move(update), {});
        told.revision = done ? done->mod_revision : 0;
        if (!done || ::write(tell, &told, sizeof told) != sizeof told) {
          ::_exit(4);
        }
      }
    });
  }
  writers.clear();
  ::_exit(5);
}

TEST_F(MemoryFile, KillLosesNothingAcknowledged) {
  MemoryOptions options = Options();
  options.rewrite_bytes = 8000;  // some of the kills come while the file is rewritten
  std::array<Acknowledged, kWriters> last{};
  Revision newest = 0;
  for (int round = 0; round < 8; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      WriteUntilKilled(options, ends[1]);
    }
    ::close(ends[1]);
    Acknowledged told;
    for (int count = 0; ::read(ends[0], &told, sizeof told) == sizeof told; ++count) {
      last.at(static_cast<std::size_t>(told.writer)) = told;
      newest = std::max(newest, told.revision);
      if (count == 100 + 13 * round) {
        ASSERT_EQ(::kill(child, SIGKILL), 0);
      }
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;

    auto storage = NewMemoryStorage(options);
    ASSERT_TRUE(storage.has_value()) << storage.error().ToString();
    EXPECT_GE((*storage)->CurrentRevision({}).value_or(0), newest);
    for (std::size_t writer = 0; writer < last.size(); ++writer) {
      const Result<KeyValue> now = (*storage)->Get(Key(static_cast<int>(writer)), 0, {});
      if (last.at(writer).number == 0) {
        continue;
      }
      ASSERT_TRUE(now.has_value()) << now.error().ToString();
      // One more may have been written and not told.
      const std::int64_t number = std::stoll(*now->value);
      EXPECT_GE(number, last.at(writer).number);
      EXPECT_LE(number, last.at(writer).number + 1);
      EXPECT_GE(now->mod_revision, last.at(writer).revision);
    }
  }
}

}  // namespace
}  // namespace kubexx::apiserver::storage
