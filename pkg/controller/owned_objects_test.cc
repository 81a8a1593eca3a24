#include "kubexx/controller/owned_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/api/owner_reference.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::controller {
namespace {

using api::core::v1::Pod;
using apimachinery::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr apimachinery::ResourceInfo kOwners{"apps", "v1", "ReplicaSet", "replicasets"};

ObjectMeta OwnerIn(const std::string& namespace_, const std::string& name, const std::string& uid) {
  ObjectMeta metadata;
  metadata.namespace_ = namespace_;
  metadata.name = name;
  metadata.uid = uid;
  return metadata;
}

class OwnedObjectsTest : public ::testing::Test {
 protected:
  // Puts a pod whose owners are `references`.
  void Put(const std::string& namespace_, const std::string& name,
           std::vector<OwnerReference> references) {
    Pod pod;
    pod.metadata.namespace_ = namespace_;
    pod.metadata.name = name;
    pod.metadata.owner_references = std::move(references);
    source_->PutObject({.encoding = codec::Encoding::kJson,
                        .bytes = codec::EncodeJson(pod),
                        .key = {namespace_, name}});
  }
  static OwnerReference Reference(const std::string& uid, bool is_controller = true) {
    OwnerReference reference = api::OwnerReferenceTo(kOwners, "web", uid);
    if (is_controller) {
      reference.controller = true;
    }
    return reference;
  }
  void Start() {
    informer_->Start();
    ASSERT_TRUE(informer_->WaitForSync(base::testing::PatienceEnd().token()));
  }
  std::vector<std::string> Names(const ObjectMeta& owner) const {
    std::vector<std::string> names;
    const auto owned = OwnedObjects<Pod>(informer_).Of(owner);
    EXPECT_TRUE(owned) << owned.error().ToString();
    for (const auto& pod : owned.value_or(std::vector<cache::Ref<Pod>>())) {
      names.push_back(pod->metadata.namespace_ + "/" + pod->metadata.name);
    }
    std::ranges::sort(names);
    return names;
  }

  std::shared_ptr<cache::testing::FakeSource> source_ =
      std::make_shared<cache::testing::FakeSource>();
  std::shared_ptr<cache::SharedInformer<Pod>> informer_ =
      std::make_shared<cache::SharedInformer<Pod>>(
          source_,
          cache::InformerOptions{.name = "pods",
                                 .use_watch_list = false,
                                 .tuning = {.backoff = {.initial = std::chrono::milliseconds(1)}}});
};

TEST_F(OwnedObjectsTest, AreThoseWhoseControllerHasTheUid) {
  Put("ns", "first", {Reference("u1")});
  Put("ns", "second", {Reference("other", false), Reference("u1")});
  Put("ns", "owned-only", {Reference("u1", false)});
  Put("ns", "of-another", {Reference("u2")});
  Put("ns", "orphan", {});
  Start();
  EXPECT_THAT(Names(OwnerIn("ns", "web", "u1")), ElementsAre("ns/first", "ns/second"));
  EXPECT_THAT(Names(OwnerIn("ns", "web", "u3")), IsEmpty());
}

TEST_F(OwnedObjectsTest, OfAnOwnerInANamespaceAreInThatNamespace) {
  Put("ns", "own", {Reference("u1")});
  Put("elsewhere", "given-by-others", {Reference("u1")});
  Start();
  EXPECT_THAT(Names(OwnerIn("ns", "web", "u1")), ElementsAre("ns/own"));
}

TEST_F(OwnedObjectsTest, OfAnOwnerWithoutNamespaceAreInAllNamespaces) {
  Put("ns", "mirror", {Reference("node-uid")});
  Put("kube-system", "mirror", {Reference("node-uid")});
  Start();
  EXPECT_THAT(Names(OwnerIn("", "node", "node-uid")),
              ElementsAre("kube-system/mirror", "ns/mirror"));
}

TEST_F(OwnedObjectsTest, ChangeWithTheStore) {
  Start();
  const ObjectMeta owner = OwnerIn("ns", "web", "u1");
  EXPECT_THAT(Names(owner), IsEmpty());
  Put("ns", "late", {Reference("u1")});
  KX_AWAIT(!Names(owner).empty());
  EXPECT_THAT(Names(owner), ElementsAre("ns/late"));
  Put("ns", "late", {});  // its owner has released it
  KX_AWAIT(Names(owner).empty());
}

TEST_F(OwnedObjectsTest, OfAnOwnerWithoutUidAreAnErrorAndNotTheOrphans) {
  Put("ns", "orphan", {});
  Start();
  const auto owned = OwnedObjects<Pod>(informer_).Of(OwnerIn("ns", "web", ""));
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().reason, Reason::kInvalid);
  EXPECT_THAT(owned.error().message, HasSubstr("web controls: it has no uid"));
}

TEST_F(OwnedObjectsTest, OrphansAreThoseOfTheNamespaceWithoutAController) {
  Put("ns", "orphan", {});
  Put("ns", "owned-only", {Reference("u1", false)});
  Put("ns", "controlled", {Reference("u1")});
  Put("ns", "of-an-odd-uid", {Reference("/ns")});
  Put("elsewhere", "orphan", {});
  Start();
  const auto orphans = OwnedObjects<Pod>(informer_).Orphans("ns");
  ASSERT_TRUE(orphans) << orphans.error().ToString();
  std::vector<std::string> names;
  for (const auto& pod : *orphans) {
    names.push_back(pod->metadata.namespace_ + "/" + pod->metadata.name);
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("ns/orphan", "ns/owned-only"));
}

TEST_F(OwnedObjectsTest, AreAnErrorWhereOneCannotBeDecoded) {
  const logging::testing::Capture logged;
  source_->PutObject({.encoding = codec::Encoding::kJson,
                      .bytes = R"({"metadata":{"namespace":"ns","name":"broken"},"spec":7})",
                      .key = {"ns", "broken"}});
  Start();
  const auto owned = OwnedObjects<Pod>(informer_).Of(OwnerIn("ns", "web", "u1"));
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().reason, Reason::kMalformed);
  EXPECT_THAT(Names(OwnerIn("elsewhere", "web", "u1")), IsEmpty());
  EXPECT_FALSE(OwnedObjects<Pod>(informer_).Orphans("ns"));
  const auto orphans = OwnedObjects<Pod>(informer_).Orphans("elsewhere");
  ASSERT_TRUE(orphans) << orphans.error().ToString();
  EXPECT_THAT(*orphans, IsEmpty());
}

TEST_F(OwnedObjectsTest, AreUnknownBeforeTheFirstList) {
  const auto owned = OwnedObjects<Pod>(informer_).Of(OwnerIn("ns", "web", "u1"));
  ASSERT_FALSE(owned);
  EXPECT_EQ(owned.error().reason, Reason::kUnavailable);
}

}  // namespace
}  // namespace kubexx::controller
