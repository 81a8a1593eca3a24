#include "kubexx/dynamic/dynamic_informer.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/base/testing/await.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::dynamic {
namespace {

using apimachinery::GroupVersionResource;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;

const GroupVersionResource kPodResource{.group = "", .version = "v1", .resource = "pods"};

// Lists one pod, whose form the Accept header decides, and then watches in silence.
void AnswerList(FakeConnection& connection, const FakeRequest& request) {
  if (request.target.find("watch=true") != std::string::npos) {
    connection.RespondChunked(200, "application/json;stream=watch");
    connection.AwaitPeer();
    return;
  }
  const bool partial = request.headers.at("accept").find("PartialObject") != std::string::npos;
  connection.Respond(
      200, "application/json",
      partial ? R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
                R"({"resourceVersion":"5"},"items":[{"kind":"PartialObjectMetadata","apiVersion":)"
                R"("meta.k8s.io/v1","metadata":{"name":"p","namespace":"ns","resourceVersion":"4",)"
                R"("labels":{"a":"b"}}}]})"
              : R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":)"
                R"([{"metadata":{"name":"p","namespace":"ns","resourceVersion":"4",)"
                R"("labels":{"a":"b"}},"spec":{"x":1}}]})");
}

TEST(DynamicInformerTest, KeepsUnstructuredObjects) {
  Recorder server(AnswerList);
  DynamicSharedInformerFactory factory(server.client(), {.namespace_ = "ns"});
  const auto informer = factory.InformerFor(kPodResource, {.use_watch_list = false});
  EXPECT_EQ(factory.InformerFor(kPodResource), informer);
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  const auto lister = factory.ListerFor(kPodResource);
  const auto pod = lister.Get("ns", "p");
  ASSERT_TRUE(pod) << pod.error().ToString();
  EXPECT_EQ((*pod)->Kind(), "Pod");
  EXPECT_EQ((*pod)->ApiVersion(), "v1");
  EXPECT_EQ((*pod)->GetInt({"spec", "x"}), 1);
  const auto selector = apimachinery::LabelSelector::Parse("a=b");
  ASSERT_TRUE(selector);
  EXPECT_EQ(lister.List("ns", *selector).value().size(), 1U);
  const auto other = apimachinery::LabelSelector::Parse("a=c");
  ASSERT_TRUE(other);
  EXPECT_TRUE(lister.List({}, *other).value().empty());
  factory.Shutdown();
}

TEST(DynamicInformerTest, TakesOverHowToListAndWhatToCallIt) {
  Recorder server(AnswerList);
  metrics::Registry registry;
  DynamicSharedInformerFactory factory(server.client(), {.registry = &registry});
  (void)factory.InformerFor(kPodResource, {.use_watch_list = false, .tuning = {.page_size = 7}});
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  factory.Shutdown();
  EXPECT_THAT(server.targets(), ::testing::Contains(::testing::HasSubstr("limit=7")));
  EXPECT_THAT(registry.Serialize(), ::testing::HasSubstr(R"(resource="pods")"));
}

TEST(DynamicInformerTest, KeepsMetadata) {
  Recorder server(AnswerList);
  bool tweaked = false;
  MetadataSharedInformerFactory factory(
      server.client(),
      {.tweak = [&tweaked](const GroupVersionResource& resource, cache::ListWatchOptions& options) {
        tweaked = resource == kPodResource;
        options.label_selector = "a=b";
      }});
  const auto informer = factory.InformerFor(kPodResource, {.use_watch_list = false});
  EXPECT_TRUE(tweaked);
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  const auto pod = factory.ListerFor(kPodResource).Get("ns", "p");
  ASSERT_TRUE(pod) << pod.error().ToString();
  EXPECT_EQ((*pod)->metadata.labels.at("a"), "b");
  EXPECT_TRUE(server.targets().front().starts_with("/api/v1/pods?labelSelector=a%3Db"));
  factory.Shutdown();
}

}  // namespace
}  // namespace kubexx::dynamic
