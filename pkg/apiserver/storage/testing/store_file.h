/// @file
/// A test fixture: a store with a file in its own folder.
#ifndef KUBEXX_APISERVER_STORAGE_TESTING_STORE_FILE_H_
#define KUBEXX_APISERVER_STORAGE_TESTING_STORE_FILE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::apiserver::storage::testing {

/// The key of a pod.
inline std::string PodKey(int number) {
  return "/registry/pods/default/pod-" + std::to_string(number);
}

/// A memory store with a file and a fake clock. The folder is removed with the fixture. For one
/// thread, like every fixture.
class StoreFileTest : public ::testing::Test {
 protected:
  StoreFileTest() {
    options_.file = path();
    options_.clock = &clock_;
  }
  ~StoreFileTest() override { storage_.reset(); }

  /// The path of the store's file.
  std::string path() const { return folder_ / "store"; }
  /// The size of the file in bytes.
  std::uint64_t Size() const { return std::filesystem::file_size(path()); }

  /// Closes the store and opens its file again with the current options.
  MemoryStorage& Reopen() {
    storage_.reset();
    auto made = NewMemoryStorage(options_);
    EXPECT_TRUE(made.has_value()) << made.error().ToString();
    storage_ = std::move(*made);
    return *storage_;
  }

  /// Whether the store says that it can write.
  bool Writes() const { return storage_->CheckHealth({}, {}).writes.has_value(); }

  /// All values of the store by key.
  std::map<std::string, std::string> All() const {
    std::map<std::string, std::string> all;
    const auto listed = storage_->GetList("/registry/", {},
                                          [&all](KeyValue&& kv) -> apimachinery::Result<void> {
                                            all[kv.key] = *kv.value;
                                            return {};
                                          },
                                          {});
    EXPECT_TRUE(listed.has_value());
    return all;
  }

  base::testing::FakeClock clock_;
  MemoryOptions options_;
  std::unique_ptr<MemoryStorage> storage_;

 private:
  const base::testing::TemporaryFolder folder_;
};

}  // namespace kubexx::apiserver::storage::testing

#endif  // KUBEXX_APISERVER_STORAGE_TESTING_STORE_FILE_H_
