#include "kubexx/reloader/notify/webhook_record.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using testing::HasSubstr;

/// A server with one ConfigMap, which it may refuse to write.
class WebhookStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void Answer(FakeConnection& connection, const FakeRequest& request) {
    const base::MutexLock lock(mu_);
    if (is_by_proxy_) {
      connection.Respond(404, "text/html", "<html>Not Found</html>");
    } else if (request.method == "GET" ? object_.empty()
                                       : request.method == "PUT" && object_.empty()) {
      connection.Respond(404, "application/json", StatusOf(404, "NotFound", "not found"));
    } else if (request.method != "GET" && !refusal_.empty()) {
      connection.Respond(403, "application/json", StatusOf(403, "Forbidden", refusal_));
    } else {
      if (request.method != "GET") {
        object_ = request.body;
        is_json_ = object_.starts_with("{");
      }
      connection.Respond(200, is_json_ ? "application/json" : "application/vnd.kubernetes.protobuf",
                         object_);
    }
  }
  static std::string StatusOf(int code, const std::string& reason, const std::string& message) {
    JsonTree status = JsonTree::Object();
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["status"] = "Failure";
    status["message"] = message;
    status["reason"] = reason;
    status["code"] = code;
    if (code == 404) {
      status["details"]["name"] = "kubexx-reloader-webhook";
    }
    return status.ToJson();
  }
  void Refuse(const std::string& message) {
    const base::MutexLock lock(mu_);
    refusal_ = message;
  }
  /// Makes a proxy answer that finds no server.
  void SetByProxy(bool is_by_proxy) {
    const base::MutexLock lock(mu_);
    is_by_proxy_ = is_by_proxy;
  }

  base::Mutex mu_;
  std::string object_ KX_GUARDED_BY(mu_);
  bool is_json_ KX_GUARDED_BY(mu_) = true;
  std::string refusal_ KX_GUARDED_BY(mu_);
  bool is_by_proxy_ KX_GUARDED_BY(mu_) = false;
  rest::testing::Recorder server_{[this](FakeConnection& connection, const FakeRequest& request) {
    Answer(connection, request);
  }};
  metrics::Registry registry_;
  std::shared_ptr<Fallbacks> fallbacks_ = std::make_shared<Fallbacks>(&registry_);
  WebhookStore store_ = NewWebhookStore(server_.client(), "ops", fallbacks_);
};

TEST(WebhookRecordOfFields, ANewDescriptionIsMetAnew) {
  const auto describe = [](const char* field) {
    AddSourceKinds({{.group = "told.example.com",
                     .version = "v1",
                     .kind = "ToldCertificate",
                     .resource = "toldcertificates",
                     .fields = {ObjectField::Parse(field).value()}}});
    return SourceId{TypeCalled(&SourceTypeNames::kind, "ToldCertificate").value(),
                    {"ns", "web-tls"}};
  };
  using testing::ElementsAre;
  WebhookRecord record(base::Clock::Real());
  record.Note({.id = describe("status.a"), .digest = DigestOf("1")});
  const SourceState now{.id = describe("status.b"), .digest = DigestOf("2")};
  EXPECT_THAT(record.Compare({now}, {}), ElementsAre(WebhookRecord::Finding::kFirst));
  const SourceState later{.id = now.id, .digest = DigestOf("3")};
  EXPECT_THAT(record.Compare({later}, {}), ElementsAre(WebhookRecord::Finding::kChanged));
}

TEST(WebhookRecordOfFields, AKindThatIsNotListedKeepsItsEntriesAndNoOthers) {
  AddSourceKinds({{.group = "told.example.com",
                   .version = "v1",
                   .kind = "UntoldCertificate",
                   .resource = "untoldcertificates",
                   .fields = {ObjectField::Parse("status.a").value()}}});
  const SourceType type = TypeCalled(&SourceTypeNames::kind, "UntoldCertificate").value();
  using testing::ElementsAre;
  WebhookRecord record(base::Clock::Real());
  const SourceState certificate{.id = {type, {"ns", "web-tls"}}, .digest = DigestOf("1")};
  const SourceState config{.id = {SourceType::kConfigMap, {"ns", "config"}},
                           .digest = DigestOf("1")};
  record.Note(certificate);
  record.Note(config);
  EXPECT_THAT(record.Compare({}, record.Mark(), {type}), testing::IsEmpty());
  EXPECT_THAT(record.Compare({certificate, config}, {}),
              ElementsAre(WebhookRecord::Finding::kSame, WebhookRecord::Finding::kFirst));
}

TEST_F(WebhookStoreTest, WhatIsSavedIsLoaded) {
  EXPECT_EQ(store_.load({}).value_or("failed"), "") << "there is none yet";
  ASSERT_TRUE(store_.save("first", {})) << "it is made";
  EXPECT_EQ(server_.last().method, "POST");
  EXPECT_EQ(store_.load({}).value_or("failed"), "first");
  ASSERT_TRUE(store_.save("second", {})) << "it is written over";
  EXPECT_EQ(server_.last().method, "PUT");
  EXPECT_THAT(server_.last().target,
              HasSubstr("/api/v1/namespaces/ops/configmaps/kubexx-reloader-webhook"));
  EXPECT_THAT(server_.last().body, HasSubstr("reloader.stakater.com/ignore"));
  EXPECT_EQ(store_.load({}).value_or("failed"), "second");
}

TEST_F(WebhookStoreTest, WhatAProxyDoesNotFindIsNoEmptyRecord) {
  ASSERT_TRUE(store_.save("first", {}));
  SetByProxy(true);
  EXPECT_FALSE(store_.load({})) << "or the record would be written over";
  EXPECT_FALSE(store_.save("second", {}));
  EXPECT_EQ(server_.last().method, "PUT") << "it is not made anew";
  SetByProxy(false);
  EXPECT_EQ(store_.load({}).value_or("failed"), "first");
}

TEST_F(WebhookStoreTest, ARefusalIsCountedByItsReason) {
  ASSERT_TRUE(store_.save("first", {}));
  Refuse(R"(admission webhook "policy.example.com" denied the request: no)");
  EXPECT_FALSE(store_.save("second", {}));
  EXPECT_THAT(registry_.Serialize(), HasSubstr(R"(writes_refused_total{by="rule"} 1)"));
  EXPECT_THAT(registry_.Serialize(), HasSubstr(R"(writes_refused_total{by="missing_right"} 0)"));
  Refuse(R"(configmaps "kubexx-reloader-webhook" is forbidden: User "r" cannot update resource )"
         R"("configmaps" in API group "" in the namespace "ops")");
  EXPECT_FALSE(store_.save("second", {}));
  EXPECT_THAT(registry_.Serialize(), HasSubstr(R"(writes_refused_total{by="missing_right"} 1)"));
}

}  // namespace
}  // namespace kubexx::reloader
