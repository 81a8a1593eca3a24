#include "kubexx/controller/object_helpers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/controller/owner_mapping.h"

namespace kubexx::controller {
namespace {

using api::apps::v1::Deployment;
using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Node;
using apimachinery::Reason;

template <class T>
T Object(const std::string& namespace_, const std::string& name, const std::string& uid = "") {
  T object;
  object.metadata.namespace_ = namespace_;
  object.metadata.name = name;
  object.metadata.uid = uid;
  return object;
}

TEST(FinalizerTest, IsThereOnce) {
  ConfigMap object;
  EXPECT_FALSE(ContainsFinalizer(object, "example.com/a"));
  EXPECT_TRUE(AddFinalizer(object, "example.com/a"));
  EXPECT_FALSE(AddFinalizer(object, "example.com/a"));
  EXPECT_TRUE(AddFinalizer(object, "example.com/b"));
  EXPECT_TRUE(ContainsFinalizer(object, "example.com/a"));
  EXPECT_TRUE(RemoveFinalizer(object, "example.com/a"));
  EXPECT_FALSE(RemoveFinalizer(object, "example.com/a"));
  EXPECT_EQ(object.metadata.finalizers, std::vector<std::string>{"example.com/b"});
}

TEST(OwnerReferenceTest, ControllerIsSetAndFoundAgain) {
  const auto owner = Object<Deployment>("ns", "web", "uid-1");
  auto owned = Object<ConfigMap>("ns", "config");
  EXPECT_FALSE(HasControllerReference(owned));
  ASSERT_TRUE(SetControllerReference(owner, owned));
  ASSERT_EQ(owned.metadata.owner_references.size(), 1U);
  const OwnerReference& reference = owned.metadata.owner_references[0];
  EXPECT_EQ(reference.api_version, "apps/v1");
  EXPECT_EQ(reference.kind, "Deployment");
  EXPECT_EQ(reference.name, "web");
  EXPECT_EQ(reference.uid, "uid-1");
  EXPECT_EQ(reference.controller, true);
  EXPECT_EQ(reference.block_owner_deletion, true);
  EXPECT_TRUE(HasControllerReference(owned));
  EXPECT_TRUE(IsControlledBy(owned, owner));
  EXPECT_TRUE(IsOwnedBy(owned.metadata, owner.metadata.uid));
  EXPECT_FALSE(IsOwnedBy(owned.metadata, "uid-2"));
  EXPECT_FALSE(IsControlledBy(owned, Object<Deployment>("ns", "web", "uid-2")));
  const auto owners =
      OwnersOf(owned.metadata, api::ResourceOf<Deployment>(), OwnerMatch::kController);
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_EQ(owners[0].object, (apimachinery::ObjectKey{"ns", "web"}));
}

TEST(OwnerReferenceTest, ReferenceOfAnEarlierOwnerOfThatNameIsReplaced) {
  auto owned = Object<ConfigMap>("ns", "config");
  ASSERT_TRUE(SetControllerReference(Object<Deployment>("ns", "web", "uid-1"), owned));
  owned.metadata.owner_references[0].api_version = "apps/v1beta2";
  ASSERT_TRUE(SetControllerReference(Object<Deployment>("ns", "web", "uid-2"), owned));
  ASSERT_EQ(owned.metadata.owner_references.size(), 1U);
  EXPECT_EQ(owned.metadata.owner_references[0].uid, "uid-2");
  EXPECT_EQ(owned.metadata.owner_references[0].api_version, "apps/v1");
}

TEST(OwnerReferenceTest, ThereIsOneController) {
  auto owned = Object<ConfigMap>("ns", "config");
  ASSERT_TRUE(SetControllerReference(Object<Deployment>("ns", "web", "uid-1"), owned));
  const auto second = SetControllerReference(Object<Deployment>("ns", "other", "uid-2"), owned);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::kConflict);
  ASSERT_TRUE(SetOwnerReference(Object<Deployment>("ns", "other", "uid-2"), owned));
  EXPECT_EQ(owned.metadata.owner_references.size(), 2U);
  EXPECT_FALSE(owned.metadata.owner_references[1].controller);
  EXPECT_EQ(OwnersOf(owned.metadata, api::ResourceOf<Deployment>(), OwnerMatch::kAny).size(), 2U);
  EXPECT_EQ(OwnersOf(owned.metadata, api::ResourceOf<Deployment>(), OwnerMatch::kController).size(),
            1U);
}

TEST(OwnerReferenceTest, OwnerMustBeInReach) {
  auto in_other = Object<ConfigMap>("other", "config");
  auto no_namespace = Object<Node>("", "node");
  const auto namespaced = Object<Deployment>("ns", "web", "uid");
  for (const auto& result :
       {SetControllerReference(namespaced, in_other),
        SetControllerReference(namespaced, no_namespace), SetOwnerReference(namespaced, in_other),
        SetControllerReference(Object<Deployment>("other", "web"), in_other)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kInvalid);
  }
  EXPECT_TRUE(SetControllerReference(Object<Node>("", "node", "uid"), in_other));
}

TEST(OwnerReferenceTest, ClusterScopedOwnerHasNoNamespace) {
  auto owned = Object<ConfigMap>("ns", "config");
  ASSERT_TRUE(SetControllerReference(Object<Node>("", "node", "uid"), owned));
  const auto owners = OwnersOf(owned.metadata, api::ResourceOf<Node>(), OwnerMatch::kController);
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_EQ(owners[0].object, (apimachinery::ObjectKey{"", "node"}));
  EXPECT_TRUE(OwnersOf(owned.metadata, api::ResourceOf<Namespace>(), OwnerMatch::kAny).empty());
}

TEST(OwnerReferenceTest, IsRemoved) {
  auto owned = Object<ConfigMap>("ns", "config");
  const auto owner = Object<Deployment>("ns", "web", "uid-1");
  EXPECT_FALSE(RemoveOwnerReference(owner, owned));
  ASSERT_TRUE(SetControllerReference(owner, owned));
  EXPECT_TRUE(RemoveOwnerReference(owner, owned));
  EXPECT_TRUE(owned.metadata.owner_references.empty());
}

}  // namespace
}  // namespace kubexx::controller
