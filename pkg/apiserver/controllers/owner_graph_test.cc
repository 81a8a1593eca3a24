#include "kubexx/apiserver/controllers/owner_graph.h"

#include <gmock/gmock.h>

namespace kubexx::apiserver::controllers {
namespace {

using kubernetes::Propagation;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Type = GraphAction::Type;

GraphNode NodeOwnedBy(std::map<std::string, bool> owners = {}) {
  return {.owners = std::move(owners)};
}

TEST(OwnerGraphTest, WhatHasNoOwnerStays) {
  OwnerGraph graph;
  EXPECT_THAT(graph.Put("a", NodeOwnedBy()), IsEmpty());
  EXPECT_EQ(graph.Decide("a"), GraphAction());
  EXPECT_EQ(graph.Decide("unknown"), GraphAction());
}

TEST(OwnerGraphTest, WhatOutlivesItsOwnersIsDeleted) {
  OwnerGraph graph;
  graph.Put("owner", NodeOwnedBy());
  EXPECT_THAT(graph.Put("pod", NodeOwnedBy({{"owner", true}})), ElementsAre("pod"));
  EXPECT_EQ(graph.Decide("pod").type, Type::kNothing);
  EXPECT_THAT(graph.Remove("owner"), ElementsAre("pod"));
  EXPECT_EQ(graph.Decide("pod").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("pod").propagation, Propagation::kBackground);
  EXPECT_THAT(graph.Remove("pod"), ElementsAre("owner"));
  EXPECT_EQ(graph.size(), 0U);
}

TEST(OwnerGraphTest, OneOwnerThatStaysKeepsIt) {
  OwnerGraph graph;
  graph.Put("stays", NodeOwnedBy());
  graph.Put("pod", NodeOwnedBy({{"stays", false}, {"gone", true}}));
  const GraphAction action = graph.Decide("pod");
  EXPECT_EQ(action.type, Type::kForgetOwners);
  EXPECT_THAT(action.owners, ElementsAre("gone"));
}

TEST(OwnerGraphTest, WhatHasAskedForItsDependentsIsDeletedSo) {
  OwnerGraph graph;
  GraphNode set = NodeOwnedBy({{"gone", true}});
  set.orphan = true;
  graph.Put("set", set);
  graph.Put("pod", NodeOwnedBy({{"set", true}}));
  EXPECT_EQ(graph.Decide("set").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("set").propagation, Propagation::kOrphan);
  set.orphan = false;
  set.foreground = true;
  graph.Put("set", set);
  EXPECT_EQ(graph.Decide("set").propagation, Propagation::kForeground);
}

TEST(OwnerGraphTest, WithObjectsThatNobodyCanReadNothingGoesForTheLackOfAnOwner) {
  OwnerGraph graph;
  graph.Put("stays", NodeOwnedBy());
  graph.Put("pod", NodeOwnedBy({{"unread", true}}));
  graph.Put("other", NodeOwnedBy({{"unread", true}, {"stays", true}}));
  GraphNode elsewhere = NodeOwnedBy({{"unread", true}});
  elsewhere.key.namespace_ = "elsewhere";
  graph.Put("elsewhere", elsewhere);
  graph.SetUnknown({""});
  EXPECT_EQ(graph.Decide("pod").type, Type::kNothing);
  EXPECT_EQ(graph.Decide("other").type, Type::kNothing);
  EXPECT_EQ(graph.Decide("elsewhere").type, Type::kNothing);
  graph.SetUnknown({"elsewhere"});
  EXPECT_EQ(graph.Decide("elsewhere").type, Type::kNothing);
  graph.SetUnknown({"another"});
  EXPECT_EQ(graph.Decide("elsewhere").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("pod").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("other").type, Type::kForgetOwners);
}

TEST(OwnerGraphTest, AtTheStartOwnersThatWaitAreDueToo) {
  OwnerGraph graph;
  graph.Put("stays", NodeOwnedBy());
  graph.Put("pod", NodeOwnedBy({{"stays", true}}));
  GraphNode leaving = NodeOwnedBy();
  leaving.deleting = leaving.orphan = true;
  graph.Put("leaving", leaving);
  EXPECT_THAT(graph.Due(), UnorderedElementsAre("leaving", "pod"));
}

TEST(OwnerGraphTest, WhatIsBeingDeletedIsLeftAlone) {
  OwnerGraph graph;
  GraphNode pod = NodeOwnedBy({{"gone", true}});
  pod.deleting = true;
  graph.Put("pod", pod);
  EXPECT_EQ(graph.Decide("pod").type, Type::kNothing);
}

TEST(OwnerGraphTest, AForegroundDeletionGoesFromTheLeavesToTheRoot) {
  OwnerGraph graph;
  GraphNode root = NodeOwnedBy();
  graph.Put("root", root);
  graph.Put("set", NodeOwnedBy({{"root", true}}));
  graph.Put("pod", NodeOwnedBy({{"set", true}}));
  root.deleting = root.foreground = true;
  EXPECT_THAT(graph.Put("root", root), ElementsAre("root"));
  EXPECT_EQ(graph.Decide("root").type, Type::kVisit);
  EXPECT_THAT(graph.Decide("root").dependents, ElementsAre("set"));
  EXPECT_EQ(graph.Decide("set").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("set").propagation, Propagation::kForeground);

  GraphNode set = NodeOwnedBy({{"root", true}});
  set.deleting = set.foreground = true;
  graph.Put("set", set);
  EXPECT_EQ(graph.Decide("pod").propagation, Propagation::kBackground);
  EXPECT_THAT(graph.Remove("pod"), ElementsAre("set"));
  EXPECT_EQ(graph.Decide("set").type, Type::kRemoveFinalizer);
  EXPECT_EQ(graph.Decide("set").finalizer, kForegroundFinalizer);
  EXPECT_THAT(graph.Remove("set"), ElementsAre("root"));
  EXPECT_EQ(graph.Decide("root").type, Type::kRemoveFinalizer);
}

TEST(OwnerGraphTest, ADependentThatDoesNotBlockIsNotWaitedFor) {
  OwnerGraph graph;
  GraphNode root = NodeOwnedBy();
  root.deleting = root.foreground = true;
  graph.Put("root", root);
  graph.Put("pod", NodeOwnedBy({{"root", false}}));
  EXPECT_EQ(graph.Decide("root").type, Type::kRemoveFinalizer);
}

TEST(OwnerGraphTest, AnOrphaningDeletionReleasesTheDependents) {
  OwnerGraph graph;
  GraphNode root = NodeOwnedBy();
  graph.Put("root", root);
  graph.Put("a", NodeOwnedBy({{"root", true}}));
  graph.Put("b", NodeOwnedBy({{"root", true}}));
  root.deleting = root.orphan = true;
  graph.Put("root", root);
  const GraphAction action = graph.Decide("root");
  EXPECT_EQ(action.type, Type::kRelease);
  EXPECT_THAT(action.dependents, UnorderedElementsAre("a", "b"));
  EXPECT_EQ(graph.Decide("a").type, Type::kNothing);
  EXPECT_THAT(graph.Put("a", NodeOwnedBy()), ElementsAre("root"));
}

TEST(OwnerGraphTest, ACircleThatIsDeletedInTheForegroundComesToAnEnd) {
  OwnerGraph graph;
  GraphNode a = NodeOwnedBy({{"b", true}});
  GraphNode b = NodeOwnedBy({{"a", true}});
  graph.Put("b", b);
  a.deleting = a.foreground = true;
  graph.Put("a", a);
  EXPECT_EQ(graph.Decide("a").type, Type::kVisit);
  const GraphAction action = graph.Decide("b");
  EXPECT_EQ(action.type, Type::kDelete);
  EXPECT_EQ(action.propagation, Propagation::kForeground);
  EXPECT_TRUE(action.unblock);
  b.owners["a"] = false;
  EXPECT_THAT(graph.Put("b", b), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(graph.Decide("a").type, Type::kRemoveFinalizer);
  b.deleting = b.foreground = true;
  graph.Put("b", b);
  EXPECT_EQ(graph.Decide("b").type, Type::kVisit);
  EXPECT_THAT(graph.Remove("a"), Contains("b"));
  EXPECT_EQ(graph.Decide("b").type, Type::kRemoveFinalizer);
}

TEST(OwnerGraphTest, AnObjectThatOwnsItselfDoesNotWaitForItself) {
  OwnerGraph graph;
  GraphNode self = NodeOwnedBy({{"self", true}});
  self.deleting = self.foreground = true;
  graph.Put("self", self);
  EXPECT_EQ(graph.Decide("self").type, Type::kRemoveFinalizer);
}

TEST(OwnerGraphTest, OwnersOfACycleKeepEachOther) {
  OwnerGraph graph;
  graph.Put("a", NodeOwnedBy({{"b", true}}));
  graph.Put("b", NodeOwnedBy({{"a", true}}));
  EXPECT_EQ(graph.Decide("a").type, Type::kNothing);
  EXPECT_THAT(graph.Due(), ElementsAre("a", "b"));
}

GraphNode NodeIn(const std::string& namespace_, std::map<std::string, bool> owners = {}) {
  GraphNode node = NodeOwnedBy(std::move(owners));
  node.key.namespace_ = namespace_;
  return node;
}

TEST(OwnerGraphTest, AnOwnerInAnotherNamespaceIsNone) {
  OwnerGraph graph;
  GraphNode owner = NodeIn("a");
  graph.Put("owner", owner);
  graph.Put("of-the-cluster", NodeIn(""));
  graph.Put("beside", NodeIn("a", {{"owner", true}}));
  graph.Put("elsewhere", NodeIn("b", {{"owner", true}}));
  graph.Put("has-two", NodeIn("b", {{"owner", true}, {"of-the-cluster", false}}));
  EXPECT_EQ(graph.Decide("beside").type, Type::kNothing);
  EXPECT_EQ(graph.Decide("elsewhere").type, Type::kDelete);
  EXPECT_EQ(graph.Decide("has-two").type, Type::kForgetOwners);
  EXPECT_THAT(graph.Decide("has-two").owners, ElementsAre("owner"));

  owner.deleting = owner.foreground = true;
  graph.Put("owner", owner);
  EXPECT_THAT(graph.Decide("owner").dependents, ElementsAre("beside"));
  graph.Remove("beside");
  EXPECT_EQ(graph.Decide("owner").type, Type::kRemoveFinalizer) << "others do not hold it";
}

TEST(OwnerGraphTest, AnObjectOfTheClusterWithAnOwnerInANamespaceStays) {
  OwnerGraph graph;
  GraphNode owner = NodeIn("a");
  graph.Put("owner", owner);
  graph.Put("role", NodeIn("", {{"owner", true}}));
  EXPECT_EQ(graph.Decide("role").type, Type::kNothing);
  owner.deleting = owner.foreground = true;
  graph.Put("owner", owner);
  EXPECT_EQ(graph.Decide("role").type, Type::kNothing);
  EXPECT_EQ(graph.Decide("owner").type, Type::kRemoveFinalizer);
}

}  // namespace
}  // namespace kubexx::apiserver::controllers
