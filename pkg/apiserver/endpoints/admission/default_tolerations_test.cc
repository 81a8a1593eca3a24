// Tests how long a pod stays on a node that has gone.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/webhook_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using testing::FakeWebhooks;
using testing::kPods;

constexpr const char* kNotReady =
    R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
constexpr const char* kUnreachable =
    R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";

class DefaultTolerationsTest : public testing::WebhookFixture {
 protected:
  static JsonTree Pod(const std::string& tolerations) {
    JsonTree pod = *JsonTree::Parse(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    if (!tolerations.empty()) {
      pod["spec"]["tolerations"] = *JsonTree::Parse(tolerations);
    }
    return pod;
  }
  /// Returns the tolerations of a pod that was created with these.
  JsonTree Made(const std::string& tolerations) {
    const http::Response made = Do("POST", kPods, Pod(tolerations).ToJson());
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(Do("DELETE", std::string(kPods) + "/p").status, 200);
    const JsonTree object = Json(made);
    const JsonTree* const found = object.At({"spec", "tolerations"});
    return found == nullptr ? JsonTree() : *found;
  }
  static JsonTree List(const std::vector<std::string>& elements) {
    JsonTree list = JsonTree::Array();
    for (const std::string& element : elements) {
      list.Append(*JsonTree::Parse(element));
    }
    return list;
  }
};

TEST_F(DefaultTolerationsTest, ANewPodStaysForFiveMinutes) {
  EXPECT_EQ(Made(""), List({kNotReady, kUnreachable}));
  EXPECT_EQ(Made(R"([{"key":"a","operator":"Exists"}])"),
            List({R"({"key":"a","operator":"Exists"})", kNotReady, kUnreachable}));
  const http::Response applied = Do("PATCH", std::string(kPods) + "/p?fieldManager=m",
                                    Pod("").ToJson(), "application/apply-patch+yaml");
  ASSERT_EQ(applied.status, 201) << applied.body;
  EXPECT_EQ(*Json(applied).At({"spec", "tolerations"}), List({kNotReady, kUnreachable}));
  // These tolerations have no owner.
  EXPECT_EQ(At(Json(applied), {"metadata", "managedFields"}).find("tolerations"),
            std::string::npos);
}

TEST_F(DefaultTolerationsTest, WhatThePodSaysItselfCounts) {
  const std::string own =
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":5})";
  EXPECT_EQ(Made("[" + own + "]"), List({own, kUnreachable}));
  for (const char* const all :
       {R"({"operator":"Exists"})", R"({"operator":"Exists","effect":"NoExecute"})"}) {
    EXPECT_EQ(Made("[" + std::string(all) + "]"), List({all}));
  }
  const std::string any_effect = R"({"key":"node.kubernetes.io/unreachable","operator":"Exists"})";
  EXPECT_EQ(Made("[" + any_effect + "]"), List({any_effect, kNotReady}));
  const std::string other =
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoSchedule"})";
  EXPECT_EQ(Made("[" + other + "]"), List({other, kNotReady, kUnreachable}));
}

TEST_F(DefaultTolerationsTest, AnUpdateGetsThemBack) {
  ASSERT_EQ(Do("POST", kPods, Pod("").ToJson()).status, 201);
  const http::Response put = Do("PUT", std::string(kPods) + "/p", Pod("").ToJson());
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(*Json(put).At({"spec", "tolerations"}), List({kNotReady, kUnreachable}));
}

TEST_F(DefaultTolerationsTest, WebhooksSeeThem) {
  Configure(
      kMutating, "m",
      {Hook(
          "m.b.c",
          R"({"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]})")});
  hooks_->Handle(Url("m.b.c"), [](const JsonTree&) {
    return FakeWebhooks::Patch(R"([{"op":"remove","path":"/spec/tolerations"}])");
  });
  const http::Response made = Do("POST", kPods, Pod("").ToJson());
  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_EQ(hooks_->Asked(Url("m.b.c")).size(), 1U);
  EXPECT_EQ(*hooks_->Asked(Url("m.b.c"))[0].At({"object", "spec", "tolerations"}),
            List({kNotReady, kUnreachable}));
  EXPECT_EQ(*Json(made).At({"spec", "tolerations"}), List({kNotReady, kUnreachable}));
}

TEST_F(DefaultTolerationsTest, TemplatesHaveNone) {
  const http::Response made =
      Do("POST", "/apis/apps/v1/namespaces/default/deployments",
         R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Json(made).At({"spec", "template", "spec", "tolerations"}), nullptr);
}

}  // namespace
}  // namespace kubexx::apiserver
