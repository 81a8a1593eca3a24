#include "kubexx/controller/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kFinalizer = "example.com/cleanup";

/// A server that stores what it is sent, or refuses it.
class FinalizeTest : public ::testing::Test {
 protected:
  static ConfigMap Object(bool deleted, bool has_finalizer) {
    ConfigMap object;
    object.metadata.namespace_ = "ns";
    object.metadata.name = "x";
    if (deleted) {
      object.metadata.deletion_timestamp = apimachinery::Time{100};
    }
    if (has_finalizer) {
      object.metadata.finalizers = {"other.com/f", std::string(kFinalizer)};
    }
    return object;
  }

  Result<Finalization> Run(ConfigMap& object) {
    return Finalize(client_, object, kFinalizer, [this](const ConfigMap& seen) -> Result<void> {
      EXPECT_EQ(seen.metadata.name, "x");
      ++cleaned_;
      return clean_up_;
    });
  }

  std::atomic<int> writes_ = 0;
  std::atomic<bool> refuses_ = false;
  int cleaned_ = 0;
  Result<void> clean_up_{};

 private:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      ++writes_;
      if (refuses_) {
        connection.Respond(409, "application/json",
                           R"({"kind":"Status","reason":"Conflict","code":409})");
      } else {
        connection.Respond(200, request->headers["content-type"], request->body);
      }
    }
  }

  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
  const Client client_{{.rest = rest::testing::NewClient(server_.Url())}};
};

TEST_F(FinalizeTest, AnObjectThatNobodyDeletesGetsTheFinalizerOnce) {
  ConfigMap object = Object(false, false);
  EXPECT_EQ(Run(object), Finalization::kStays);
  EXPECT_THAT(object.metadata.finalizers, ElementsAre(kFinalizer));
  EXPECT_EQ(writes_, 1);
  EXPECT_EQ(Run(object), Finalization::kStays);
  EXPECT_EQ(writes_, 1);
  EXPECT_EQ(cleaned_, 0);
}

TEST_F(FinalizeTest, OneThatIsBeingDeletedIsCleanedUpBeforeItMayGo) {
  ConfigMap object = Object(true, true);
  EXPECT_EQ(Run(object), Finalization::kGoes);
  EXPECT_EQ(cleaned_, 1);
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("other.com/f"));
  EXPECT_EQ(writes_, 1);
}

TEST_F(FinalizeTest, OneThatWasNeverOursMayGo) {
  ConfigMap object = Object(true, false);
  EXPECT_EQ(Run(object), Finalization::kGoes);
  EXPECT_EQ(cleaned_, 0);
  EXPECT_EQ(writes_, 0);
  EXPECT_THAT(object.metadata.finalizers, IsEmpty());
}

TEST_F(FinalizeTest, TheFinalizerStaysUntilTheCleanUpHasSucceeded) {
  clean_up_ = apimachinery::Fail(Reason::kUnavailable, "the bucket does not answer");
  ConfigMap object = Object(true, true);
  const auto result = Run(object);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the bucket does not answer");
  EXPECT_EQ(writes_, 0);
  EXPECT_TRUE(ContainsFinalizer(object, kFinalizer));
}

TEST_F(FinalizeTest, AWriteThatIsRefusedIsTheResult) {
  refuses_ = true;
  for (const bool deleted : {false, true}) {
    ConfigMap object = Object(deleted, deleted);
    const auto result = Run(object);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kConflict);
  }
}

}  // namespace
}  // namespace kubexx::controller
