// Tests what a server answers while its store hangs: it is connected, and does not answer.
#include <gmock/gmock.h>

#include <atomic>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/server/api_server.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/http/testing/raw_connection.h"

namespace kubexx::apiserver {
namespace {

using http::testing::RawConnection;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kWrites = 200;
constexpr const char* kHungMaps = "/api/v1/namespaces/default/configmaps";

/// A storage whose calls wait while it hangs, until they are stopped, except reads of what is named
/// "quick". What watches have open goes on.
class HangingStorage final : public testing::ForwardingStorage {
 public:
  HangingStorage() : HangingStorage(*storage::NewMemoryStorage({})) {}

  void Hang(bool hangs) {
    const base::MutexLock lock(mu_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  int waiting() const { return waiting_; }

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    if (!key.ends_with("/quick")) {
      KX_RETURN_IF_ERROR(Pass(stop));
    }
    return ForwardingStorage::Get(key, revision, std::move(stop));
  }
  Result<storage::KeyValue> Create(std::string_view key, std::string value,
                                   std::stop_token stop) override {
    KX_RETURN_IF_ERROR(Pass(stop));
    return ForwardingStorage::Create(key, std::move(value), std::move(stop));
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    KX_RETURN_IF_ERROR(Pass(stop));
    return ForwardingStorage::GetList(prefix, options, sink, std::move(stop));
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    KX_RETURN_IF_ERROR(Pass(stop));
    return ForwardingStorage::CurrentRevision(std::move(stop));
  }

 private:
  explicit HangingStorage(std::unique_ptr<storage::MemoryStorage> memory)
      : ForwardingStorage(*memory), memory_(std::move(memory)) {}

  Result<void> Pass(const std::stop_token& stop) {
    ++waiting_;
    base::MutexLock lock(mu_);
    while (hangs_ && !stop.stop_requested()) {
      base::Clock::Real().WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
    --waiting_;
    return stop.stop_requested() ? apimachinery::Fail(apimachinery::Reason::kCancelled, "stopped")
                                 : Result<void>();
  }

  const std::unique_ptr<storage::MemoryStorage> memory_;
  std::atomic<int> waiting_ = 0;
  base::Mutex mu_;
  base::CondVar changed_;
  bool hangs_ KX_GUARDED_BY(mu_) = false;
};

class HungStoreTest : public ::testing::Test {
 protected:
  HungStoreTest() {
    auto storage = std::make_unique<HangingStorage>();
    storage_ = storage.get();
    ApiServerOptions options{.plain_http = true};
    options.address = "127.0.0.1:0";
    options.shared_storage = true;
    server_ = std::make_unique<ApiServer>(std::move(storage), std::move(options));
    const auto started = server_->Start();
    EXPECT_TRUE(started) << started.error().ToString();
  }
  ~HungStoreTest() override { storage_->Hang(false); }

  static std::string Request(const std::string& method, const std::string& target,
                             const std::string& body = {}) {
    return method + " " + target +
           " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
           "Content-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string MapNumber(int i) {
    return R"({"metadata":{"name":"m)" + std::to_string(i) + "\"}}";
  }
  std::string Ask(const std::string& method, const std::string& target,
                  const std::string& body = {}) {
    return RawConnection(server_->port()).Send(Request(method, target, body)).ReadAll();
  }

  HangingStorage* storage_;
  std::unique_ptr<ApiServer> server_;
};

TEST_F(HungStoreTest, WhatNeedsNoStoreIsAnswered) {
  ASSERT_THAT(Ask("POST", kHungMaps, R"({"metadata":{"name":"first"}})"), HasSubstr(" 201 "));
  const std::string list = std::string(kHungMaps) + "?resourceVersion=0";
  const std::string one = std::string(kHungMaps) + "/first?resourceVersion=0";
  KX_AWAIT(Ask("GET", list).find("\"first\"") != std::string::npos);  // there is a cache
  storage_->Hang(true);
  std::list<RawConnection> writers;
  for (int i = 0; i < kWrites; ++i) {
    writers.emplace_back(server_->port()).Send(Request("POST", kHungMaps, MapNumber(i)));
  }
  KX_AWAIT(storage_->waiting() > 100);
  for (const std::string& target : {list, one}) {
    EXPECT_THAT(Ask("GET", target), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\"first\"")));
  }
  for (const char* const target : {"/healthz", "/livez", "/version", "/apis"}) {
    EXPECT_THAT(Ask("GET", target), AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 500 ")))
        << target;
  }
  storage_->Hang(false);
  int made = 0;
  for (const RawConnection& writer : writers) {
    const std::string answer = writer.ReadAll();
    EXPECT_THAT(answer, AnyOf(StartsWith("HTTP/1.1 201 "), StartsWith("HTTP/1.1 429 ")));
    made += answer.starts_with("HTTP/1.1 201 ") ? 1 : 0;
  }
  EXPECT_GT(made, 100);
  EXPECT_THAT(Ask("POST", kHungMaps, R"({"metadata":{"name":"last"}})"), HasSubstr(" 201 "));
}

/// Nothing is due for a long time for the first request, which waits already.
TEST_F(HungStoreTest, WhoeverComesWhileOthersWaitLeavesItsThreadToo) {
  storage_->Hang(true);
  std::list<RawConnection> readers;
  const auto read = [this, &readers](const std::string& query) {
    readers.emplace_back(server_->port())
        .Send(Request("GET", std::string(kHungMaps) + "/slow" + query));
  };
  const std::string quick = std::string(kHungMaps) + "/quick";
  read("?timeout=300s");
  KX_AWAIT(storage_->waiting() >= 1);
  for (int round = 1; round <= 5; ++round) {
    EXPECT_THAT(Ask("GET", quick), StartsWith("HTTP/1.1 404 "));  // the store answers something
    for (int i = 0; i < 10; ++i) {
      read("");
    }
    KX_AWAIT(storage_->waiting() >= 1 + 10 * round);
  }
  storage_->Hang(false);
  for (const RawConnection& reader : readers) {
    EXPECT_THAT(reader.ReadAll(), StartsWith("HTTP/1.1 404 "));
  }
}

/// One of them reads all Services, and the others wait for it.
TEST_F(HungStoreTest, ServicesKeepNobodyFromWhatNeedsNoStore) {
  ASSERT_THAT(Ask("POST", kHungMaps, R"({"metadata":{"name":"first"}})"), HasSubstr(" 201 "));
  const std::string list = std::string(kHungMaps) + "?resourceVersion=0";
  KX_AWAIT(Ask("GET", list).find("\"first\"") != std::string::npos);  // there is a cache
  storage_->Hang(true);
  std::list<RawConnection> writers;
  for (int i = 0; i < 20; ++i) {
    writers.emplace_back(server_->port())
        .Send(Request("POST", "/api/v1/namespaces/default/services",
                      R"({"metadata":{"name":"s)" + std::to_string(i) +
                          R"("},"spec":{"ports":[{"port":1}]}})"));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Ask("GET", list), StartsWith("HTTP/1.1 200 "));
  }
  storage_->Hang(false);
  for (const RawConnection& writer : writers) {
    EXPECT_THAT(writer.ReadAll(), StartsWith("HTTP/1.1 201 "));
  }
}

TEST_F(HungStoreTest, ARequestEndsWhenItsTimeIsOver) {
  storage_->Hang(true);
  const std::string answer = Ask("GET", std::string(kHungMaps) + "/first?timeout=200ms");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 504 "), HasSubstr("\"Timeout\"")));
  EXPECT_THAT(Ask("POST", std::string(kHungMaps) + "?timeout=1ms", MapNumber(1)),
              StartsWith("HTTP/1.1 504 "));
}

}  // namespace
}  // namespace kubexx::apiserver
