#include "kubexx/apiserver/storage/etcd3/etcd3.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "etcd.grpc.pb.h"
#include "kubexx/apiserver/storage/etcd3/internal/translate.h"
#include "kubexx/apiserver/storage/etcd3/internal/version.h"

namespace kubexx::apiserver::storage::etcd3 {
namespace {

using apimachinery::Reason;

TEST(Etcd3Options, RefusesEndpointsThatCannotBe) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {""},
      {"127.0.0.1:2379"},
      {"http://127.0.0.1"},
      {"http://127.0.0.1:2379/path"},
      {"ftp://127.0.0.1:21"},
      {"http://127.0.0.1:2379", "https://127.0.0.1:2379"}};
  for (const auto& endpoints : wrong) {
    Etcd3Options options;
    options.endpoints = endpoints;
    const auto made = NewEtcd3Storage(options);
    ASSERT_FALSE(made.has_value()) << ::testing::PrintToString(endpoints);
    EXPECT_EQ(made.error().reason, Reason::kInvalidConfig);
  }
}

TEST(Etcd3Options, RefusesFilesThatCannotBeRead) {
  Etcd3Options options;
  options.endpoints = {"https://127.0.0.1:2379"};
  options.ca_file = ::testing::TempDir() + "no-such-file";
  EXPECT_EQ(NewEtcd3Storage(options).error().reason, Reason::kInvalidConfig);
  options.ca_file.clear();
  options.certificate_file = "/dev/null";
  EXPECT_EQ(NewEtcd3Storage(options).error().reason, Reason::kInvalidConfig);
  options.key_file = "/dev/null";
  EXPECT_EQ(NewEtcd3Storage(options).error().reason, Reason::kInvalidConfig);
}

TEST(Etcd3Storage, StopEndsTheWaitForAConnection) {
  Etcd3Options options;
  options.endpoints = {"http://127.0.0.1:1"};
  options.request_timeout = std::chrono::hours(1);
  const auto storage = NewEtcd3Storage(options);
  ASSERT_TRUE(storage.has_value());
  std::jthread reader([&storage](const std::stop_token& stop) {
    const auto read = (*storage)->Get("/registry/a", 0, stop);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().reason, Reason::kCancelled);
  });
  reader.request_stop();
}

TEST(EtcdVersion, IsOldWhereProgressMayBeAheadOfEvents) {
  for (const char* const good :
       {"3.4.25", "3.4.30", "3.5.8", "3.5.21", "3.6.0-rc.1", "3.6.5", "4.0.0", "", "kine", "3"}) {
    EXPECT_TRUE(internal::TellsProgressTruly(good)) << good;
  }
  for (const char* const old : {"3.3.27", "3.4.24", "3.5.0", "3.5.7", "3.5.0-rc.1", "2.3.8"}) {
    EXPECT_FALSE(internal::TellsProgressTruly(old)) << old;
  }
}

TEST(EtcdVersion, IsOldWhereProgressMayNeverBeTold) {
  for (const char* const good : {"3.4.31", "3.5.13", "3.6.5", "kine"}) {
    EXPECT_TRUE(internal::TellsProgressAlways(good)) << good;
  }
  for (const char* const old : {"3.4.30", "3.5.0", "3.5.12"}) {
    EXPECT_FALSE(internal::TellsProgressAlways(old)) << old;
  }
}

/// An etcd that says which it is, and nothing else.
class FakeEtcd final : public etcdserverpb::Maintenance::Service {
 public:
  explicit FakeEtcd(std::string version) : version_(std::move(version)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  grpc::Status Status(grpc::ServerContext* /*context*/,
                      const etcdserverpb::StatusRequest* /*request*/,
                      etcdserverpb::StatusResponse* response) override {
    response->set_version(version_);
    return grpc::Status::OK;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  const std::string version_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(Etcd3Storage, AnEtcdWhoseWatchesCannotBeBelievedIsRefused) {
  for (const auto& [version, is_good] : {std::pair("3.5.7", false), {"3.5.8", true}}) {
    const FakeEtcd etcd(version);
    Etcd3Options options;
    options.endpoints = {etcd.url()};
    options.compact_interval = {};
    options.request_timeout = std::chrono::minutes(1);
    const auto storage = NewEtcd3Storage(options);
    ASSERT_TRUE(storage.has_value());
    const auto is_refused = [](const apimachinery::Status& status) {
      return status.message.find("etcd 3.5.7 at 127.0.0.1:") != std::string::npos;
    };
    const auto read = (*storage)->Get("/registry/a", 0, {});
    ASSERT_FALSE(read.has_value());  // It has no objects.
    EXPECT_EQ(is_refused(read.error()), !is_good) << read.error().ToString();
    const auto watched = (*storage)->Watch(
        "/registry/a/", {},
        [](const std::shared_ptr<const Event>&) -> apimachinery::Result<void> { return {}; }, {});
    ASSERT_FALSE(watched.has_value());
    EXPECT_EQ(is_refused(watched.error()), !is_good) << watched.error().ToString();
  }
}

/// An etcd without keys that has its moods.
class MoodyEtcd final : public etcdserverpb::KV::Service {
 public:
  MoodyEtcd() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  grpc::Status Range(grpc::ServerContext* /*context*/,
                     const etcdserverpb::RangeRequest* /*request*/,
                     etcdserverpb::RangeResponse* /*response*/) override {
    return has_leader ? grpc::Status::OK
                      : grpc::Status(grpc::StatusCode::INTERNAL, "etcdserver: no leader");
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::atomic<bool> has_leader{true};

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(Etcd3Storage, TellsOnceThatEtcdIsLostAndOnceThatItIsBack) {
  MoodyEtcd etcd;
  Etcd3Options options;
  options.endpoints = {etcd.url()};
  options.compact_interval = {};
  const auto storage = NewEtcd3Storage(options);
  ASSERT_TRUE(storage.has_value());
  ::testing::internal::CaptureStderr();
  for (const bool has_leader : {true, false, false, false, true, true}) {
    etcd.has_leader = has_leader;
    const StorageHealth health = (*storage)->CheckHealth(std::chrono::minutes(1), {});
    EXPECT_EQ(health.reads.has_value(), has_leader);
    EXPECT_EQ(health.writes.has_value(), has_leader);
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 2) << log;
  const std::size_t lost = log.find("Cannot reach etcd");
  ASSERT_NE(lost, std::string::npos) << log;
  EXPECT_NE(log.find("The server can reach etcd again", lost), std::string::npos) << log;
}

/// A cluster at revision `latest`, with a member that is at 5 when a watch begins, and at 12 later.
class LaggingEtcd final : public etcdserverpb::KV::Service, public etcdserverpb::Watch::Service {
 public:
  explicit LaggingEtcd(Revision latest) : latest_(latest) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(static_cast<etcdserverpb::KV::Service*>(this));
    builder.RegisterService(static_cast<etcdserverpb::Watch::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  grpc::Status Range(grpc::ServerContext* /*context*/,
                     const etcdserverpb::RangeRequest* /*request*/,
                     etcdserverpb::RangeResponse* response) override {
    response->mutable_header()->set_revision(latest_);
    return grpc::Status::OK;
  }
  grpc::Status Watch(grpc::ServerContext* /*context*/,
                     grpc::ServerReaderWriter<etcdserverpb::WatchResponse,
                                              etcdserverpb::WatchRequest>* stream) override {
    etcdserverpb::WatchRequest request;
    stream->Read(&request);
    etcdserverpb::WatchResponse response;
    response.set_created(true);
    response.mutable_header()->set_revision(5);
    stream->Write(response);
    response.set_created(false);
    response.mutable_header()->set_revision(12);
    stream->Write(response);
    while (stream->Read(&request)) {
    }
    return grpc::Status::OK;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  const Revision latest_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(Etcd3Storage, AMemberThatIsBehindIsNotTakenForAnotherHistory) {
  for (const Revision latest : {11, 9}) {
    LaggingEtcd etcd(latest);
    Etcd3Options options;
    options.endpoints = {etcd.url()};
    options.compact_interval = {};
    const auto storage = NewEtcd3Storage(options);
    ASSERT_TRUE(storage.has_value());
    Revision told = 0;
    const auto watched = (*storage)->Watch(
        "/registry/a/", {.from_revision = 10, .was_given_out = true},
        [&](const std::shared_ptr<const Event>& event) -> apimachinery::Result<void> {
          told = event->kv.mod_revision;
          return apimachinery::Fail(Reason::kCancelled, "that was it");
        },
        {});
    ASSERT_FALSE(watched.has_value());
    EXPECT_EQ(watched.error().reason, latest == 11 ? Reason::kCancelled : Reason::kExpired)
        << watched.error().ToString();
    EXPECT_EQ(told, latest == 11 ? 12 : 0);
  }
}

TEST(Etcd3Storage, ACheckOfHealthEndsInItsTime) {
  Etcd3Options options;
  options.endpoints = {"http://127.0.0.1:1"};
  options.compact_interval = {};
  options.request_timeout = std::chrono::hours(1);
  const auto storage = NewEtcd3Storage(options);
  ASSERT_TRUE(storage.has_value());
  const StorageHealth health = (*storage)->CheckHealth(std::chrono::milliseconds(100), {});
  ASSERT_FALSE(health.reads);
  EXPECT_EQ(health.reads.error().reason, Reason::kUnavailable);
}

TEST(Translate, EndsOfPrefixes) {
  EXPECT_EQ(internal::EndOf("/registry/"), "/registry0");
  EXPECT_EQ(internal::EndOf("a\xff\xff"), "b");
  EXPECT_EQ(internal::EndOf("\xff"), std::string(1, '\0'));
  EXPECT_EQ(internal::EndOf(""), std::string(1, '\0'));
}

struct Case {
  grpc::StatusCode code;
  const char* message;
  Reason reason;
};

TEST(Translate, ErrorsOfEtcd) {
  const std::vector<Case> cases = {
      {grpc::StatusCode::UNAVAILABLE, "connection refused", Reason::kUnavailable},
      {grpc::StatusCode::CANCELLED, "stream reset", Reason::kUnavailable},
      {grpc::StatusCode::DEADLINE_EXCEEDED, "too late", Reason::kTimeout},
      {grpc::StatusCode::UNAUTHENTICATED, "who", Reason::kUnauthorized},
      {grpc::StatusCode::PERMISSION_DENIED, "no", Reason::kForbidden},
      {grpc::StatusCode::INVALID_ARGUMENT, "etcdserver: request is too large",
       Reason::kRequestEntityTooLarge},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, "received message larger than max (1 vs. 2)",
       Reason::kRequestEntityTooLarge},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests",
       Reason::kTooManyRequests},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded",
       Reason::kInternalError},
      {grpc::StatusCode::OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted",
       Reason::kExpired}};
  for (const Case& one : cases) {
    const auto status = internal::Translate(grpc::Status(one.code, one.message), "read", {});
    EXPECT_EQ(status.reason, one.reason) << status.ToString();
  }
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(
      internal::Translate(grpc::Status(grpc::StatusCode::CANCELLED, ""), "read", source.get_token())
          .reason,
      Reason::kCancelled);
}

}  // namespace
}  // namespace kubexx::apiserver::storage::etcd3
