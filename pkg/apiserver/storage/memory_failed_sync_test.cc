#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/testing/store_file.h"
#include "kubexx/base/testing/await.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Result;
using ::testing::HasSubstr;
using testing::PodKey;

// While more than 0: so many syncs of files whose name ends like this fail.
std::atomic<int> failing_syncs{0};
std::atomic<const char*> failing_name{""};
std::atomic<int> syncs{0};
// While true: the last sync of a new file, before it takes the place of the old, does not end.
std::atomic<bool> holding{false};
std::atomic<int> next_syncs{0};

bool NameEndsWith(int descriptor, std::string_view end) {
  std::array<char, 4096> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  return size > 0 && std::string_view(name.data(), static_cast<std::size_t>(size)).ends_with(end);
}

bool IsToFail(int descriptor) {
  return failing_syncs > 0 && NameEndsWith(descriptor, failing_name.load()) &&
         failing_syncs.fetch_sub(1) > 0;
}

void HoldTheLast(int descriptor) {
  if (!holding || !NameEndsWith(descriptor, "/store.new") || ++next_syncs < 2) {
    return;
  }
  KX_AWAIT(!holding);
}

}  // namespace
}  // namespace kubexx::apiserver::storage

// Takes the place of the C library's in this program.
extern "C" int fdatasync(int descriptor) {
  using kubexx::apiserver::storage::failing_syncs;
  ++kubexx::apiserver::storage::syncs;
  kubexx::apiserver::storage::HoldTheLast(descriptor);
  if (kubexx::apiserver::storage::IsToFail(descriptor)) {
    errno = EIO;
    return -1;
  }
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"));
  return real(descriptor);
}

namespace kubexx::apiserver::storage {
namespace {

class MemoryFailedSync : public testing::StoreFileTest {
 protected:
  ~MemoryFailedSync() override {
    failing_syncs = 0;
    holding = false;
  }
};

TEST_F(MemoryFailedSync, AfterAFailedSyncTheFileIsWrittenAnewBeforeAnythingElse) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(PodKey(1), "one", {}));
  ASSERT_TRUE(storage.Create(PodKey(2), "two", {}));
  failing_name = "/store";
  failing_syncs = 1;
  const auto refused = storage.Create(PodKey(3), "three", {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot sync"));
  EXPECT_THAT(refused.error().message, HasSubstr("a crash may bring the change back"));
  const int before = syncs;
  EXPECT_FALSE(storage.Create(PodKey(3), "three", {}));
  EXPECT_FALSE(storage.Delete(PodKey(1), 0, {}));
  EXPECT_EQ(syncs, before) << "the old file is not believed any more";
  EXPECT_EQ(All().size(), 2U);

  // The new file cannot be written either.
  failing_name = "/store.new";
  failing_syncs = 1;
  clock_.AdvanceToSleeper(std::chrono::seconds(2));
  clock_.AdvanceToSleeper(std::chrono::seconds(4));
  KX_AWAIT(Writes());
  EXPECT_LE(failing_syncs, 0);
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
  EXPECT_EQ(storage.Create(PodKey(3), "three", {})->mod_revision, 3);
  const auto all = All();
  Reopen();
  EXPECT_EQ(All(), all);
  EXPECT_EQ(*storage_->CurrentRevision({}), 3);
}

TEST_F(MemoryFailedSync, ARewriteThatFailsLeavesNoFileAndStopsNoWrite) {
  options_.rewrite_bytes = 2000;
  MemoryStorage& storage = Reopen();
  failing_name = "/store.new";
  failing_syncs = 1;
  Revision last = storage.Create(PodKey(1), "0", {})->mod_revision;
  for (int round = 0; round < 200 || failing_syncs > 0; ++round) {
    const Result<Swap> swap = storage.CompareAndSwap(PodKey(1), last, std::to_string(round), {});
    ASSERT_TRUE(swap && swap->done);
    last = swap->current.mod_revision;
  }
  EXPECT_TRUE(Writes());
  storage_.reset();
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
  Reopen();  // Which may begin another one.
  EXPECT_EQ(storage_->Get(PodKey(1), 0, {})->mod_revision, last);
}

// What they are added behind is at another place in the new file.
TEST_F(MemoryFailedSync, ATornWriteBehindANewFileIsNoDamage) {
  options_.rewrite_bytes = 20000;
  MemoryStorage& storage = Reopen();
  next_syncs = 0;
  holding = true;
  std::jthread fills([&storage] {
    Revision last = storage.Create(PodKey(1), "0", {})->mod_revision;
    while (next_syncs < 2) {
      last =
          storage.CompareAndSwap(PodKey(1), last, std::string(500, 'x'), {})->current.mod_revision;
    }
  });
  KX_AWAIT_GE(next_syncs, 2);
  const std::size_t before = storage.Usage().file_bytes;
  std::vector<std::jthread> writers;
  for (const int key : {2, 3}) {
    writers.emplace_back(
        [&storage, key] { EXPECT_TRUE(storage.Create(PodKey(key), std::string(3000, 'y'), {})); });
  }
  KX_AWAIT_GE(storage.Usage().file_bytes, before + 6000);
  holding = false;
  writers.clear();
  fills.join();
  storage_.reset();

  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  file.seekp(static_cast<std::streamoff>(bytes.find("yyy")));
  file.put('z');
  file.close();
  Reopen();
  EXPECT_FALSE(All().contains(PodKey(2)) && All().contains(PodKey(3)));
  EXPECT_TRUE(All().contains(PodKey(1)));
}

}  // namespace
}  // namespace kubexx::apiserver::storage
