#include "kubexx/kubelet/config/static_pod.h"

#include <gmock/gmock.h>

#include <string>

namespace kubexx::kubelet {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kWeb[] = R"(
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - name: web
    image: nginx
    ports: [{containerPort: 80}]
    livenessProbe: {httpGet: {port: 80}}
  volumes: [{name: tmp}]
)";

ManifestOrigin File(std::string_view path = "/etc/manifests/web.yaml") {
  return {.node_name = "Node1", .source = kFileSource, .location = path};
}

std::string ErrorOf(std::string_view manifest, const ManifestOrigin& origin = File()) {
  const auto pods = ParseManifest(manifest, origin);
  return pods ? "no error" : pods.error().message;
}

std::string PodWith(const std::string& spec) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{)" + spec + "}}";
}

TEST(StaticPod, IsCompletedAsTheKubeletDoes) {
  const auto pods = ParseManifest(kWeb, File());
  ASSERT_TRUE(pods) << pods.error().ToString();
  ASSERT_THAT(*pods, SizeIs(1));
  const Pod& pod = pods->front();
  EXPECT_EQ(pod.metadata.name, "web-node1");
  EXPECT_EQ(pod.metadata.namespace_, "default");
  EXPECT_EQ(pod.metadata.annotations.at("kubernetes.io/config.hash"), pod.metadata.uid);
  EXPECT_THAT(pod.metadata.uid, SizeIs(32));
  EXPECT_EQ(pod.spec.node_name, "Node1");
  EXPECT_EQ(pod.status.phase, "Pending");
  ASSERT_THAT(pod.spec.tolerations, SizeIs(1));
  EXPECT_EQ(pod.spec.tolerations[0].operator_, "Exists");
  EXPECT_EQ(pod.spec.tolerations[0].effect, "NoExecute");
}

TEST(StaticPod, GetsTheDefaultsOfTheApi) {
  const auto pods = ParseManifest(kWeb, File());
  ASSERT_TRUE(pods);
  const auto& spec = pods->front().spec;
  EXPECT_EQ(spec.restart_policy, "Always");
  EXPECT_EQ(spec.dns_policy, "ClusterFirst");
  EXPECT_EQ(spec.termination_grace_period_seconds, 30);
  EXPECT_EQ(spec.containers[0].image_pull_policy, "Always") << "no tag means latest";
  EXPECT_EQ(spec.containers[0].ports[0].protocol, "TCP");
  EXPECT_EQ(spec.containers[0].liveness_probe->period_seconds, 10);
  EXPECT_EQ(spec.containers[0].liveness_probe->handler.http_get->path, "/");
  EXPECT_TRUE(spec.volumes[0].volume_source.empty_dir.has_value());
}

TEST(StaticPod, PullPolicyFollowsTheTag) {
  for (const auto& [image, policy] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a:latest", "Always"},
           {"registry:5000/a", "Always"},
           {"registry:5000/a:1", "IfNotPresent"},
           {"a@sha256:00", "IfNotPresent"}}) {
    const auto pods = ParseManifest(
        PodWith(R"("containers":[{"name":"c","image":")" + std::string(image) + "\"}]"), File());
    ASSERT_TRUE(pods) << image;
    EXPECT_EQ(pods->front().spec.containers[0].image_pull_policy, policy) << image;
  }
}

TEST(StaticPod, HasAUidOfTextNodeAndPlace) {
  const auto uid = [](std::string_view text, const ManifestOrigin& origin) {
    return ParseManifest(text, origin)->front().metadata.uid;
  };
  const std::string other = PodWith(R"("containers":[{"name":"c","image":"i"}])");
  EXPECT_EQ(uid(kWeb, File()), uid(kWeb, File()));
  EXPECT_NE(uid(kWeb, File()), uid(kWeb, File("/elsewhere")));
  EXPECT_NE(uid(kWeb, File()), uid(other, File()));
  ManifestOrigin url = File();
  url.source = kHttpSource;
  EXPECT_NE(uid(kWeb, File()), uid(kWeb, url));
}

TEST(StaticPod, OnlyAUrlMayHaveALists) {
  const std::string list = R"({"apiVersion":"v1","kind":"PodList","items":[
      {"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}},
      {"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}]}}]})";
  ManifestOrigin url = File();
  url.source = kHttpSource;
  const auto pods = ParseManifest(list, url);
  ASSERT_TRUE(pods) << pods.error().ToString();
  EXPECT_THAT(*pods, SizeIs(2));
  EXPECT_TRUE(pods->front().spec.tolerations.empty()) << "a file's pods only";
  EXPECT_THAT(ErrorOf(list), HasSubstr("PodList"));
}

TEST(StaticPod, RefusesWhatNoNodeCanRun) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no manifest"));
  EXPECT_THAT(ErrorOf("{a"), HasSubstr("line 1"));
  EXPECT_THAT(ErrorOf("apiVersion: v1\nkind: ConfigMap"), HasSubstr("ConfigMap"));
  EXPECT_THAT(ErrorOf(std::string(kWeb) + "---" + kWeb), HasSubstr("several documents"));
  EXPECT_THAT(ErrorOf("apiVersion: v1\nkind: Pod"), HasSubstr("metadata.name"));
  EXPECT_THAT(ErrorOf("apiVersion: v1\nkind: Pod\nmetadata: {name: A_b}"), HasSubstr("lower case"));
  EXPECT_THAT(ErrorOf(PodWith("")), HasSubstr("spec.containers"));
  EXPECT_THAT(ErrorOf(PodWith(R"("containers":[{"name":"c"}])")), HasSubstr("image"));
  EXPECT_THAT(ErrorOf(PodWith(R"("containers":7)")), HasSubstr("spec.containers"));
}

TEST(StaticPod, RefusesReferencesToTheApi) {
  const std::string container = R"("containers":[{"name":"c","image":"i")";
  const std::string plain = container + "}]";
  for (const std::string& spec :
       {plain + R"(,"serviceAccountName":"s")",
        plain + R"(,"volumes":[{"name":"v","secret":{"secretName":"s"}}])",
        plain + R"(,"volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"s"}}]}}])",
        plain + R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"s"}}])",
        container + R"(,"envFrom":[{"configMapRef":{"name":"s"}}]}])",
        container +
            R"(,"env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}])"}) {
    EXPECT_THAT(ErrorOf(PodWith(spec)), HasSubstr("may not refer")) << spec;
  }
  EXPECT_EQ(ErrorOf(PodWith(plain + R"(,"volumes":[{"name":"v","hostPath":{"path":"/"}}])")),
            "no error");
}

TEST(StaticPod, MirrorNamesItsHashAndNode) {
  Pod pod = ParseManifest(kWeb, File())->front();
  pod.metadata.annotations[std::string(kConfigSourceAnnotation)] = kFileSource;
  EXPECT_TRUE(IsStaticPod(pod));
  const Pod mirror = MirrorPodOf(pod, "node-uid");
  EXPECT_TRUE(IsMirrorPod(mirror));
  EXPECT_FALSE(IsMirrorPod(pod));
  EXPECT_TRUE(IsMirrorOf(mirror, pod));
  EXPECT_EQ(mirror.metadata.uid, "");
  ASSERT_THAT(mirror.metadata.owner_references, SizeIs(1));
  const auto& owner = mirror.metadata.owner_references[0];
  EXPECT_EQ(owner.api_version, "v1");
  EXPECT_EQ(owner.kind, "Node");
  EXPECT_EQ(owner.name, "Node1");
  EXPECT_EQ(owner.uid, "node-uid");
  EXPECT_EQ(owner.controller, true);
  EXPECT_EQ(owner.block_owner_deletion, std::nullopt);  // the kubelet sets none
  const Pod changed = ParseManifest(kWeb, File("/elsewhere"))->front();
  EXPECT_FALSE(IsMirrorOf(mirror, changed));
}

}  // namespace
}  // namespace kubexx::kubelet
