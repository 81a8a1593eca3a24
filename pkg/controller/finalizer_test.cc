#include "kubexx/controller/finalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kFinalizer = "example.com/cleanup";

/// A server that answers with an object that has the finalizers of the patch, or refuses the patch.
class FinalizeTest : public ::testing::Test {
 protected:
  static ConfigMap Object(bool deleted, bool has_finalizer) {
    ConfigMap object;
    object.metadata.namespace_ = "ns";
    object.metadata.name = "x";
    object.metadata.resource_version = "7";
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

  std::string LastWrite() const {
    base::MutexLock lock(mu_);
    return last_write_;
  }

  std::atomic<int> writes_ = 0;
  std::atomic<const char*> refusal_ = nullptr;  ///< the whole Status
  int cleaned_ = 0;
  Result<void> clean_up_{};

 private:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      ++writes_;
      const std::string write = request->method + " " + request->headers["content-type"] + " " +
                                request->target + " " + request->body;
      {
        base::MutexLock lock(mu_);
        last_write_ = write;
      }
      if (const char* const refusal = refusal_) {
        const auto status = codec::JsonTree::Parse(refusal);
        connection.Respond(static_cast<int>(*status->Find("code")->AsInt()), "application/json",
                           refusal);
        continue;
      }
      const auto patch = codec::JsonTree::Parse(request->body);
      codec::JsonTree stored = *codec::JsonTree::Parse(R"({"kind":"ConfigMap","metadata":{
          "name":"x","namespace":"ns","resourceVersion":"8"},"data":{"stored":"yes"}})");
      if (const auto* const finalizers = patch->At({"metadata", "finalizers"})) {
        stored["metadata"]["finalizers"] = *finalizers;
      }
      connection.Respond(200, "application/json", stored.ToJson());
    }
  }

  mutable base::Mutex mu_;
  std::string last_write_ KX_GUARDED_BY(mu_);
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
  EXPECT_EQ(object.data.count("stored"), 1U) << "it is as the server has it";
  EXPECT_EQ(writes_, 1);
}

TEST_F(FinalizeTest, NothingButTheFinalizersIsWritten) {
  const std::string head = "PATCH application/merge-patch+json /api/v1/namespaces/ns/configmaps/x ";
  ConfigMap object = Object(false, false);
  object.metadata.labels["app"] = "web";
  object.data["a"] = "b";
  EXPECT_EQ(Run(object), Finalization::kStays);
  EXPECT_EQ(LastWrite(), head + R"({"metadata":{"resourceVersion":"7",)"
                                R"("finalizers":["example.com/cleanup"]}})");
  object = Object(true, true);
  EXPECT_EQ(Run(object), Finalization::kGoes);
  EXPECT_EQ(LastWrite(),
            head + R"({"metadata":{"resourceVersion":"7","finalizers":["other.com/f"]}})");
  object = Object(true, true);
  object.metadata.finalizers = {std::string(kFinalizer)};
  EXPECT_EQ(Run(object), Finalization::kGoes);
  EXPECT_EQ(LastWrite(), head + R"({"metadata":{"resourceVersion":"7","finalizers":null}})");
}

TEST_F(FinalizeTest, AnObjectThatWasNotReadIsRefusedBeforeAnythingIsDone) {
  for (const bool deleted : {false, true}) {
    ConfigMap object = Object(deleted, deleted);
    object.metadata.resource_version = "";
    const ConfigMap before = object;
    const auto result = Run(object);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kInvalid);
    EXPECT_THAT(result.error().message, HasSubstr("\"ns/x\" cannot be changed: it has no "));
    EXPECT_EQ(object, before);
  }
  EXPECT_EQ(cleaned_, 0);
  EXPECT_EQ(writes_, 0);
  ConfigMap has_it = Object(false, true);
  has_it.metadata.resource_version = "";
  EXPECT_EQ(Run(has_it), Finalization::kStays) << "nothing has to change";
}

TEST_F(FinalizeTest, OneThatIsNoLongerThereHasGone) {
  refusal_ = R"({"kind":"Status","reason":"NotFound","code":404,"details":{"name":"x"}})";
  ConfigMap object = Object(true, true);
  EXPECT_EQ(Run(object), Finalization::kGoes) << "an old cache had it still";
  EXPECT_EQ(cleaned_, 1);
  object = Object(false, false);
  EXPECT_EQ(Run(object).error().reason, Reason::kNotFound) << "it has not got the finalizer";
  refusal_ = R"({"kind":"Status","reason":"NotFound","code":404})";
  object = Object(true, true);
  EXPECT_EQ(Run(object).error().reason, Reason::kNotFound) << "of a proxy: it may be there";
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
  refusal_ = R"({"kind":"Status","reason":"Conflict","code":409})";
  for (const bool deleted : {false, true}) {
    ConfigMap object = Object(deleted, deleted);
    const ConfigMap before = object;
    const auto result = Run(object);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kConflict);
    EXPECT_EQ(object, before);
  }
}

}  // namespace
}  // namespace kubexx::controller
