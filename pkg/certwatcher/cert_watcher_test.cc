#include "kubexx/certwatcher/cert_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::certwatcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What a watcher has told.
http::KeyPair Awaited(std::promise<http::KeyPair>& told) {
  auto future = told.get_future();
  KX_AWAIT(future.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  return future.get();
}

class CertWatcherTest : public ::testing::Test {
 protected:
  void SetUp() override { Write(first_); }

  static http::KeyPair MakePair(const std::string& name) {
    auto pair = http::SelfSigned({name});
    EXPECT_TRUE(pair) << pair.error().ToString();
    return std::move(*pair);
  }
  static void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void Write(const http::KeyPair& pair) const {
    WriteFile(directory_ / "tls.crt", pair.certificate);
    WriteFile(directory_ / "tls.key", pair.key.view());
  }
  CertWatcher::Options OptionsFor(const std::filesystem::path& directory) {
    return {.certificate_file = (directory / "tls.crt").string(),
            .key_file = (directory / "tls.key").string(),
            .clock = clock_,
            .registry = &registry_};
  }
  std::unique_ptr<CertWatcher> Watch(const std::filesystem::path& directory) {
    auto watcher = CertWatcher::New(OptionsFor(directory));
    EXPECT_TRUE(watcher) << watcher.error().ToString();
    return std::move(*watcher);
  }
  double Errors() {
    return registry_.Counter("certwatcher_read_certificate_errors_total", "").Value();
  }
  double Reads() { return registry_.Counter("certwatcher_read_certificate_total", "").Value(); }

  const base::testing::TemporaryFolder directory_;
  base::testing::FakeClock clock_;
  metrics::Registry registry_;
  const http::KeyPair first_ = MakePair("first");
  const http::KeyPair second_ = MakePair("second");
};

TEST_F(CertWatcherTest, ReadsThePair) {
  const auto watcher = Watch(directory_.path());
  EXPECT_EQ(*watcher->Current(), first_);
  EXPECT_EQ(watcher->Provider()(), watcher->Current());
  EXPECT_GE(Reads(), 1);
  EXPECT_EQ(Errors(), 0);
}

TEST_F(CertWatcherTest, TellsOfAReplacedPairAtOnce) {
  const auto watcher = Watch(directory_.path());
  std::promise<http::KeyPair> told;
  const auto subscription =
      watcher->OnChange([&told](const http::KeyPair& pair) { told.set_value(pair); });
  const auto provider = watcher->Provider();
  Write(second_);  // The clock stands still: only the file system tells.
  EXPECT_EQ(Awaited(told), second_);
  EXPECT_EQ(*provider(), second_);
}

TEST_F(CertWatcherTest, FollowsASwappedLinkAsInAMountedSecret) {
  namespace fs = std::filesystem;
  fs::create_directory(directory_ / "old");
  fs::create_directory(directory_ / "new");
  fs::create_directory(directory_ / "mount");
  for (const auto& [name, pair] : {std::pair("old", &first_), std::pair("new", &second_)}) {
    WriteFile(directory_ / name / "tls.crt", pair->certificate);
    WriteFile(directory_ / name / "tls.key", pair->key.view());
  }
  const fs::path mount = directory_ / "mount";
  fs::create_symlink(directory_ / "old", mount / "..data");
  fs::create_symlink("..data/tls.crt", mount / "tls.crt");
  fs::create_symlink("..data/tls.key", mount / "tls.key");
  const auto watcher = Watch(mount);
  std::promise<http::KeyPair> told;
  const auto subscription =
      watcher->OnChange([&told](const http::KeyPair& pair) { told.set_value(pair); });
  fs::create_symlink(directory_ / "new", mount / "..data_tmp");
  fs::rename(mount / "..data_tmp", mount / "..data");
  EXPECT_EQ(Awaited(told), second_);
}

TEST_F(CertWatcherTest, LooksEveryIntervalWhereTheFileSystemTellsNothing) {
  namespace fs = std::filesystem;
  fs::create_directory(directory_ / "links");
  for (const char* const name : {"tls.crt", "tls.key"}) {
    fs::create_symlink(directory_ / name, directory_ / "links" / name);
  }
  const auto watcher = Watch(directory_ / "links");
  std::promise<http::KeyPair> told;
  const auto subscription =
      watcher->OnChange([&told](const http::KeyPair& pair) { told.set_value(pair); });
  clock_.AwaitSleepers(1);
  Write(second_);  // In place, behind the links: no event in the watched directory.
  clock_.AdvanceToSleeper(std::chrono::seconds(10));
  EXPECT_EQ(Awaited(told), second_);
}

TEST_F(CertWatcherTest, BadPairsLeaveTheLastGoodOneInUse) {
  const logging::testing::Capture capture;
  const auto watcher = Watch(directory_.path());
  WriteFile(directory_ / "tls.crt", second_.certificate);  // The key does not fit.
  // Not its first error, which may be about a file that is half written.
  KX_UNTIL(capture.Count("is not the key of the certificate") > 0) {
    clock_.AdvanceToSleeper(std::chrono::seconds(10));
  }
  EXPECT_GE(Errors(), 1);
  EXPECT_EQ(*watcher->Current(), first_);
  std::promise<http::KeyPair> told;
  const auto subscription =
      watcher->OnChange([&told](const http::KeyPair& pair) { told.set_value(pair); });
  WriteFile(directory_ / "tls.key", second_.key.view());
  EXPECT_EQ(Awaited(told), second_);
}

TEST_F(CertWatcherTest, ProviderWorksWithoutTheWatcher) {
  http::CertificateProvider provider;
  {
    const auto watcher = Watch(directory_.path());
    provider = watcher->Provider();
  }
  EXPECT_EQ(*provider(), first_);
}

TEST_F(CertWatcherTest, FirstPairHasToBeGood) {
  const auto failure = [this](const std::filesystem::path& directory) {
    const auto watcher = CertWatcher::New(OptionsFor(directory));
    return watcher ? std::string("ok") : watcher.error().ToString();
  };
  EXPECT_THAT(failure("no/such"),
              HasSubstr("InvalidConfig: cannot read no/such/tls.crt: No such file or directory"));
  WriteFile(directory_ / "tls.key", "secret text");
  EXPECT_THAT(failure(directory_.path()), HasSubstr("holds no usable PEM private key"));
  EXPECT_THAT(failure(directory_.path()), Not(HasSubstr("secret text")));
  WriteFile(directory_ / "tls.key", std::string((1 << 20) + 1, 'x'));
  EXPECT_THAT(failure(directory_.path()), HasSubstr("larger than 1 MiB"));
  EXPECT_EQ(Errors(), 4);
}

}  // namespace
}  // namespace kubexx::certwatcher
