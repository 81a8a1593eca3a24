#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/room.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apiserver::storage {
namespace {

using apimachinery::Reason;
using apimachinery::Result;

// The folder that stands for a disk, while there is one.
std::atomic<const std::string*> disk_folder{nullptr};
std::atomic<std::uint64_t> disk_bytes{0};

bool IsOnSmallDisk(int descriptor) {
  const std::string* const folder = disk_folder;
  if (folder == nullptr) {
    return false;
  }
  std::array<char, 4096> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  return size > 0 &&
         std::string_view(name.data(), static_cast<std::size_t>(size)).starts_with(*folder);
}

std::uint64_t FreeOnSmallDisk() {
  const std::string& folder = *disk_folder.load();
  std::uint64_t used = 0;
  for (const char* const name : {"/store", "/store.new", "/other"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(folder + name, error);
    used += error ? 0 : size;
  }
  return disk_bytes - std::min<std::uint64_t>(used, disk_bytes);
}

}  // namespace
}  // namespace kubexx::apiserver::storage

// These take the place of the C library's in this program.
extern "C" ssize_t write(int descriptor, const void* data, std::size_t size) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(::dlsym(RTLD_NEXT, "write"));
  if (kubexx::apiserver::storage::IsOnSmallDisk(descriptor)) {
    size = std::min<std::size_t>(size, kubexx::apiserver::storage::FreeOnSmallDisk());
    if (size == 0) {
      errno = ENOSPC;
      return -1;
    }
  }
  return real(descriptor, data, size);
}

extern "C" int fstatvfs(int descriptor, struct statvfs* about) {
  static const auto real =
      reinterpret_cast<int (*)(int, struct statvfs*)>(::dlsym(RTLD_NEXT, "fstatvfs"));
  const int failed = real(descriptor, about);
  if (failed == 0 && kubexx::apiserver::storage::IsOnSmallDisk(descriptor)) {
    about->f_frsize = 1;
    about->f_bfree = about->f_bavail = kubexx::apiserver::storage::FreeOnSmallDisk();
  }
  return failed;
}

namespace kubexx::apiserver::storage {
namespace {

std::string ConfigKey(std::size_t number) {
  return "/registry/configmaps/default/config-" + std::to_string(number);
}

class MemorySmallDisk : public ::testing::Test {
 protected:
  MemorySmallDisk() {
    disk_bytes = 4 << 20;
    disk_folder = &folder_.path();
  }
  ~MemorySmallDisk() override {
    storage_.reset();
    disk_folder = nullptr;
  }

  MemoryStorage& Reopen() {
    storage_.reset();
    MemoryOptions options;
    options.file = folder_ / "store";
    auto made = NewMemoryStorage(options);
    EXPECT_TRUE(made.has_value()) << made.error().ToString();
    storage_ = std::move(*made);
    return *storage_;
  }

  Result<void> Health() const { return storage_->CheckHealth({}, {}).writes; }

  // Until writes are possible again.
  void AwaitRecovery() const { KX_AWAIT(Health()); }

  // Updates the key so often; a write that came faster than a rewrite may be refused once.
  void Update(const std::string& key, const std::string& value, int times) {
    Revision last = storage_->Get(key, 0, {})->mod_revision;
    for (int time = 0; time < times; ++time) {
      Result<Swap> swap = storage_->CompareAndSwap(key, last, value, {});
      KX_UNTIL(swap) {
        swap = storage_->CompareAndSwap(key, last, value, {});
      }
      ASSERT_TRUE(swap->done);
      last = swap->current.mod_revision;
    }
  }

  const base::testing::TemporaryFolder folder_;
  std::unique_ptr<MemoryStorage> storage_;
};

TEST_F(MemorySmallDisk, UpdatesOfOneObjectNeverFillIt) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(ConfigKey(1), "0", {}));
  Update(ConfigKey(1), std::string(8000, 'x'), 650);
  AwaitRecovery();
  EXPECT_TRUE(storage.Create(ConfigKey(2), "one more", {}));
  const Revision last = *storage.CurrentRevision({});
  EXPECT_EQ(*Reopen().CurrentRevision({}), last);
}

TEST_F(MemorySmallDisk, ObjectsThatFillItAreUpdatedAndDeleted) {
  MemoryStorage& storage = Reopen();
  const std::string value(30000, 'x');
  std::size_t made = 0;
  Result<KeyValue> created = storage.Create(ConfigKey(0), value, {});
  while (created && made < 200) {
    created = storage.Create(ConfigKey(++made), value, {});
  }
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().reason, Reason::kInternalError);
  EXPECT_THAT(created.error().message, ::testing::HasSubstr("delete objects or make room"));
  EXPECT_GT(made, 45U) << "more than a third of the disk holds objects";
  Update(ConfigKey(0), std::string(30100, 'y'), 150);
  while (storage.Create(ConfigKey(1000 + made), "small", {})) {
    ++made;
  }
  EXPECT_FALSE(Health());
  EXPECT_FALSE(Reopen().CheckHealth({}, {}).writes) << "a start knows at once";
  for (std::size_t number = 0; number < 40; ++number) {
    ASSERT_TRUE(storage_->Delete(ConfigKey(number), 0, {})) << number;
  }
  AwaitRecovery();
  EXPECT_TRUE(storage_->Create(ConfigKey(0), value, {}));
}

TEST_F(MemorySmallDisk, RoomThatOthersGiveBackIsFound) {
  MemoryStorage& storage = Reopen();
  ASSERT_TRUE(storage.Create(ConfigKey(1), std::string(100000, 'x'), {}));
  storage_.reset();
  disk_bytes = 150000;
  Reopen();
  EXPECT_FALSE(Health());
  EXPECT_FALSE(storage_->Create(ConfigKey(2), "a", {}));
  EXPECT_TRUE(storage_->Delete(ConfigKey(1), 0, {})) << "that needs no room for a rewrite";
  disk_bytes = 4 << 20;
  AwaitRecovery();
  EXPECT_TRUE(storage_->Create(ConfigKey(2), "a", {}));
}

TEST(Room, IsKeptForARewrite) {
  constexpr std::size_t kMib = 1 << 20;
  using internal::Room;
  EXPECT_FALSE((Room{.file = 3 * kMib, .live = 100}).WantsRewrite(4 * kMib));
  EXPECT_TRUE((Room{.file = 5 * kMib, .live = kMib}).WantsRewrite(4 * kMib));
  EXPECT_FALSE((Room{.file = 5 * kMib, .live = 2 * kMib}).WantsRewrite(4 * kMib));
  EXPECT_TRUE((Room{.file = 3 * kMib, .live = 100, .failing = true}).WantsRewrite(4 * kMib));
  EXPECT_TRUE((Room{.file = 3 * kMib, .live = kMib, .free = kMib}).WantsRewrite(4 * kMib));
  EXPECT_FALSE((Room{.file = kMib, .live = kMib, .free = kMib}).WantsRewrite(4 * kMib));
  EXPECT_FALSE((Room{.file = 9 * kMib, .live = kMib, .free = 9000}).WantsRewrite(4 * kMib));
  EXPECT_TRUE((Room{.file = kMib, .live = kMib}).CheckGrowth(kMib)) << "no limit is known";
  EXPECT_TRUE((Room{.file = kMib, .live = kMib, .free = kMib + kMib / 4}).CheckGrowth(0));
  EXPECT_FALSE((Room{.file = kMib, .live = kMib, .free = kMib}).CheckGrowth(0)) << "too close";
  EXPECT_FALSE((Room{.file = kMib, .live = kMib, .free = kMib}).CheckGrowth(1));
  EXPECT_TRUE((Room{.file = kMib, .live = kMib, .free = 2 * kMib}).CheckGrowth(1));
}

}  // namespace
}  // namespace kubexx::apiserver::storage
