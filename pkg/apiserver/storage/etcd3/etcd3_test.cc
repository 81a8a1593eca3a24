#include "kubexx/apiserver/storage/etcd3/etcd3.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/etcd3/internal/translate.h"

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
