// As in kube-apiserver, a create first checks whether the namespace exists: before webhooks,
// service accounts and faults of the object.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using testing::FakeWebhooks;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPod =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})";

class NamespaceOrderTest : public testing::WebhookFixture {
 protected:
  /// Configures webhooks that would accept anything.
  void ConfigureBoth() {
    const std::string rules =
        R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["configmaps","pods","pods/*"]}]})";
    Configure(kMutating, "m", {Hook("m.b.c", rules)});
    Configure(kValidating, "v", {Hook("v.b.c", rules)});
    for (const char* const name : {"m.b.c", "v.b.c"}) {
      hooks_->Handle(Url(name), [](const JsonTree&) { return FakeWebhooks::Allowed(); });
    }
  }

  /// Makes a namespace that is being deleted and waits for a finalizer of the pod p.
  void MakeTerminating(const std::string& name) {
    ASSERT_EQ(Do("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + name + "\"}}").status,
              201);
    const std::string pods = "/api/v1/namespaces/" + name + "/pods";
    JsonTree pod = *JsonTree::Parse(kPod);
    pod["metadata"]["finalizers"].Append("example.com/f");
    ASSERT_EQ(Do("POST", pods, pod.ToJson()).status, 201);
    ASSERT_EQ(Do("DELETE", "/api/v1/namespaces/" + name).status, 200);
  }
};

TEST_F(NamespaceOrderTest, WebhooksAreNotAskedAboutANamespaceThatIsNotThere) {
  ConfigureBoth();
  const http::Response refused =
      Do("POST", "/api/v1/namespaces/missing/configmaps", ConfigMap("x"));
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(Message(refused), HasSubstr("namespaces \"missing\" not found"));
  const http::Response applied =
      Do("PATCH", "/api/v1/namespaces/missing/configmaps/x?fieldManager=m",
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})",
         "application/apply-patch+yaml");
  EXPECT_EQ(applied.status, 404);
  EXPECT_THAT(Message(applied), HasSubstr("namespaces \"missing\" not found"));
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
}

TEST_F(NamespaceOrderTest, WebhooksAreNotAskedAboutANamespaceThatEnds) {
  MakeTerminating("ending");
  ConfigureBoth();
  const http::Response refused = Do("POST", "/api/v1/namespaces/ending/configmaps", ConfigMap("x"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(At(Json(refused), {"details", "causes", "0", "reason"}), "NamespaceTerminating");
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
}

TEST_F(NamespaceOrderTest, AMissingNamespaceIsToldBeforeTheObjectsFaults) {
  for (const char* const object : {R"({"metadata":{"name":"Not A Name"}})", "{}"}) {
    const http::Response refused = Do("POST", "/api/v1/namespaces/missing/configmaps", object);
    EXPECT_EQ(refused.status, 404) << object << refused.body;
  }
  EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/configmaps", "{}").status, 422);
}

// A client that drains a node learns by this that the pod is deleted without an eviction.
TEST_F(NamespaceOrderTest, NothingIsPostedToSubresourcesInANamespaceThatEnds) {
  MakeTerminating("ending");
  ConfigureBoth();
  const std::string pod = "/api/v1/namespaces/ending/pods/p";
  const http::Response evicted = Do("POST", pod + "/eviction", R"({"metadata":{"name":"p"}})");
  EXPECT_EQ(evicted.status, 403) << evicted.body;
  EXPECT_EQ(At(Json(evicted), {"details", "causes", "0", "reason"}), "NamespaceTerminating");
  EXPECT_EQ(Do("POST", pod + "/binding",
               R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})")
                .status,
            403);
  EXPECT_THAT(hooks_->Urls(), IsEmpty());
  // A review of rights creates nothing.
  EXPECT_EQ(
      Do("POST", "/apis/authorization.k8s.io/v1/namespaces/ending/localsubjectaccessreviews",
         R"({"spec":{"user":"u","resourceAttributes":{"namespace":"ending","verb":"get","resource":"pods"}}})")
          .status,
      201);
}

}  // namespace
}  // namespace kubexx::apiserver
