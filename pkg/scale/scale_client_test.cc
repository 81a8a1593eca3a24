#include "kubexx/scale/scale_client.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/codec/codec.h"
#include "kubexx/discovery/testing/documents.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::scale {
namespace {

using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;

constexpr const char* kScale =
    R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"w","namespace":"ns"},)"
    R"("spec":{"replicas":4},"status":{"replicas":3,"selector":"a=b"}})";

void Answer(FakeConnection& connection, const FakeRequest& request) {
  using discovery::testing::Groups;
  if (request.target == "/api") {
    connection.Respond(200, "application/json",
                       codec::EncodeJson(Groups(discovery::testing::CoreGroup())));
  } else if (request.target == "/apis") {
    connection.Respond(200, "application/json",
                       codec::EncodeJson(Groups(discovery::testing::AppsGroup(),
                                                discovery::testing::WidgetGroup())));
  } else {
    connection.Respond(200, "application/json", kScale);
  }
}

class ScaleClientTest : public ::testing::Test {
 protected:
  static ScaleTarget Target(const std::string& group, const std::string& kind) {
    return {.kind = {.group = group, .version = "", .kind = kind},
            .object = {.namespace_ = "ns", .name = "w"}};
  }

  Recorder server_{Answer};
  ScaleClient client_{server_.client(), std::make_shared<discovery::RestMapper>(
                                            std::make_shared<discovery::CachedDiscovery>(
                                                discovery::DiscoveryClient(server_.client())))};
};

TEST_F(ScaleClientTest, ScalesBuiltInAndCustomResources) {
  const auto widget = client_.Get(Target("example.com", "Widget"));
  ASSERT_TRUE(widget) << widget.error().ToString();
  EXPECT_EQ(widget->spec.replicas, 4);
  EXPECT_EQ(widget->status.selector, "a=b");
  EXPECT_EQ(server_.last().target, "/apis/example.com/v1/namespaces/ns/widgets/w/scale");
  ASSERT_TRUE(client_.Get(Target("apps", "Deployment")));
  EXPECT_EQ(server_.last().target, "/apis/apps/v1/namespaces/ns/deployments/w/scale");
}

TEST_F(ScaleClientTest, UpdatesAndPatches) {
  ScaleClient::Scale scale;
  scale.metadata.name = "another";
  scale.spec.replicas = 0;
  const auto updated = client_.Update(Target("apps", "Deployment"), scale, {.field_manager = "m"});
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(server_.last().method, "PUT");
  EXPECT_EQ(server_.last().target,
            "/apis/apps/v1/namespaces/ns/deployments/w/scale?fieldManager=m");
  const auto sent = codec::DecodeJson<ScaleClient::Scale>(server_.last().body);
  ASSERT_TRUE(sent) << sent.error().ToString();
  EXPECT_EQ(sent->metadata.name, "w");
  EXPECT_EQ(sent->metadata.namespace_, "ns");
  const auto patched =
      client_.Patch(Target("apps", "Deployment"), {.type = rest::PatchType::kMerge, .text = "{}"});
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(server_.last().method, "PATCH");
  EXPECT_EQ(server_.last().target, "/apis/apps/v1/namespaces/ns/deployments/w/scale");
}

TEST_F(ScaleClientTest, RefusesKindsWithoutScale) {
  const auto node = client_.Get(Target("", "Node"));
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().reason, Reason::kMethodNotAllowed);
  const auto unknown = client_.Update(Target("example.com", "Gadget"), {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::kNotFound);
}

}  // namespace
}  // namespace kubexx::scale
