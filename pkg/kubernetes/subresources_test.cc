#include "kubexx/kubernetes/subresources.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/api/certificates/v1/types.gen.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/kubernetes/certificates_v1.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;

template <class T>
std::string Enveloped(const std::string& api_version, const std::string& kind, const T& object) {
  std::string out;
  codec::WriteEnvelope(api_version, kind, codec::EncodeProtobuf(object), out);
  return out;
}

// Sends the request's own body back, as the API server does for most subresources.
void Echo(FakeConnection& connection, const FakeRequest& request) {
  connection.Respond(200, "application/vnd.kubernetes.protobuf", request.body);
}

template <class C>
concept HasUpdateStatus = requires(const C& client) { client.UpdateStatus({}); };
template <class C>
concept HasScale = requires(const C& client) { client.GetScale("a"); };
template <class C>
concept HasEvict = requires(const C& client) { client.Evict({}); };
template <class C>
concept HasToken = requires(const C& client) { client.CreateToken("a", {}); };

TEST(SubresourcesTest, ExistOnlyWhereTheServerHasThem) {
  using Core = CoreV1Client;
  using Apps = AppsV1Client;
  using Certificates = CertificatesV1Client;
  static_assert(HasUpdateStatus<decltype(std::declval<Core>().Pods(""))>);
  static_assert(!HasUpdateStatus<decltype(std::declval<Core>().ConfigMaps(""))>);
  static_assert(HasScale<decltype(std::declval<Core>().ReplicationControllers(""))>);
  static_assert(HasScale<decltype(std::declval<Apps>().StatefulSets(""))>);
  static_assert(HasScale<decltype(std::declval<Apps>().ReplicaSets(""))>);
  static_assert(!HasScale<decltype(std::declval<Apps>().DaemonSets(""))>);
  static_assert(HasEvict<decltype(std::declval<Core>().Pods(""))>);
  static_assert(!HasEvict<decltype(std::declval<Apps>().Deployments(""))>);
  static_assert(HasToken<decltype(std::declval<Core>().ServiceAccounts(""))>);
  static_assert(!HasToken<decltype(std::declval<Core>().Secrets(""))>);
  static_assert(
      HasUpdateStatus<decltype(std::declval<Certificates>().CertificateSigningRequests())>);
}

TEST(SubresourcesTest, ScaleTravelsAsScale) {
  Recorder server(Echo);
  const auto deployments = AppsV1Client(server.client()).Deployments("ns");
  api::autoscaling::v1::Scale scale;
  scale.metadata.name = "web";
  scale.spec.replicas = 0;
  const auto updated = deployments.UpdateScale(scale, {.dry_run = true});
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(*updated, scale);
  EXPECT_EQ(server.last().method, "PUT");
  EXPECT_EQ(server.last().target, "/apis/apps/v1/namespaces/ns/deployments/web/scale?dryRun=All");
  EXPECT_EQ(server.last().body, Enveloped("autoscaling/v1", "Scale", scale));
}

TEST(SubresourcesTest, ScaleIsReadAndPatched) {
  api::autoscaling::v1::Scale scale;
  scale.spec.replicas = 4;
  Recorder server([&scale](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", codec::EncodeJson(scale));
  });
  const auto sets = AppsV1Client(server.client()).StatefulSets("ns");
  const auto got = sets.GetScale("db");
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(got->spec.replicas, 4);
  const auto patched = sets.PatchScale(
      "db", {.type = rest::PatchType::kMerge, .text = R"({"spec":{"replicas":4}})"});
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(server.last().target, "/apis/apps/v1/namespaces/ns/statefulsets/db/scale");
  EXPECT_EQ(server.last().headers["content-type"], "application/merge-patch+json");
}

TEST(SubresourcesTest, EvictionAndBindingPostObjectsOfTheirOwn) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(201, "application/json",
                       R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})");
  });
  const auto pods = CoreV1Client(server.client()).Pods("");
  api::policy::v1::Eviction eviction;
  eviction.metadata.name = "p";
  eviction.metadata.namespace_ = "ns";
  ASSERT_TRUE(pods.Evict(eviction));
  EXPECT_EQ(server.last().method, "POST");
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/eviction");
  EXPECT_EQ(server.last().body, Enveloped("policy/v1", "Eviction", eviction));

  api::core::v1::Binding binding;
  binding.metadata = eviction.metadata;
  binding.target.kind = "Node";
  binding.target.name = "n";
  ASSERT_TRUE(pods.Bind(binding));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/binding");
  EXPECT_EQ(server.last().body, Enveloped("v1", "Binding", binding));
}

TEST(SubresourcesTest, RefusedEvictionIsTooManyRequests) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(429, "application/json",
                       R"({"kind":"Status","apiVersion":"v1","reason":"TooManyRequests",)"
                       R"("message":"budget","code":429,"details":{"causes":[)"
                       R"({"reason":"DisruptionBudget","message":"needs 1"}]}})");
  });
  api::policy::v1::Eviction eviction;
  eviction.metadata.name = "p";
  const auto evicted = CoreV1Client(server.client()).Pods("ns").Evict(eviction);
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().reason, Reason::kTooManyRequests);
  ASSERT_EQ(evicted.error().details.causes.size(), 1U);
  EXPECT_EQ(evicted.error().details.causes[0].reason, "DisruptionBudget");
}

TEST(SubresourcesTest, TokenIsAskedForWithARequest) {
  Recorder server(Echo);
  api::authentication::v1::TokenRequest request;
  request.spec.audiences = {"vault"};
  request.spec.expiration_seconds = 600;
  const auto token =
      CoreV1Client(server.client()).ServiceAccounts("ns").CreateToken("robot", request);
  ASSERT_TRUE(token) << token.error().ToString();
  EXPECT_EQ(*token, request);
  EXPECT_EQ(server.last().method, "POST");
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/serviceaccounts/robot/token");
  EXPECT_EQ(server.last().body, Enveloped("authentication.k8s.io/v1", "TokenRequest", request));
}

TEST(SubresourcesTest, StatusIsPatchedAlone) {
  Recorder server([](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", R"({"kind":"Pod","apiVersion":"v1"})");
  });
  ASSERT_TRUE(CoreV1Client(server.client())
                  .Pods("ns")
                  .PatchStatus("p", rest::PatchType::kStrategicMerge, "{}",
                               {.field_manager = "m", .subresource = "ignored"}));
  EXPECT_EQ(server.last().method, "PATCH");
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/status?fieldManager=m");
}

TEST(SubresourcesTest, WholeObjectsArePutAtTheirSubresource) {
  Recorder server(Echo);
  const CoreV1Client core(server.client());
  api::core::v1::Pod pod;
  pod.metadata.name = "p";
  ASSERT_TRUE(core.Pods("ns").UpdateEphemeralContainers(pod));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/ephemeralcontainers");
  ASSERT_TRUE(core.Pods("ns").UpdateResize(pod));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/resize");
  ASSERT_TRUE(core.Pods("ns").UpdateStatus(pod));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/ns/pods/p/status");
  api::core::v1::Namespace namespace_;
  namespace_.metadata.name = "old";
  ASSERT_TRUE(core.Namespaces().Finalize(namespace_));
  EXPECT_EQ(server.last().target, "/api/v1/namespaces/old/finalize");
  api::certificates::v1::CertificateSigningRequest csr;
  csr.metadata.name = "c";
  const auto approved =
      CertificatesV1Client(server.client()).CertificateSigningRequests().UpdateApproval(csr);
  ASSERT_TRUE(approved) << approved.error().ToString();
  EXPECT_EQ(server.last().method, "PUT");
  EXPECT_EQ(server.last().target,
            "/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval");
}

}  // namespace
}  // namespace kubexx::kubernetes
