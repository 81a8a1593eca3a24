#include "kubexx/apiserver/endpoints/registry/custom_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

DefinitionNames Definition(const std::string& name, const std::string& group, CustomNames names,
                           bool accepted = true) {
  DefinitionNames made = {.definition = name + "." + group, .group = group, .accepted = accepted};
  made.wanted = names;
  if (accepted) {
    made.taken = std::move(names);
  }
  return made;
}

CustomNames Widgets() {
  return {.plural = "widgets",
          .singular = "widget",
          .short_names = {"wd"},
          .kind = "Widget",
          .list_kind = "WidgetList"};
}

TEST(CustomNamesTest, AreReadFromADefinition) {
  const auto definition = *codec::JsonTree::Parse(R"({"metadata":{"name":"widgets.a.example"},
      "spec":{"group":"a.example","names":{"plural":"widgets","singular":"widget","kind":"Widget",
        "listKind":"WidgetList","shortNames":["wd",1,"w"]}},
      "status":{"conditions":[{"type":"NamesAccepted","status":"False"},
        {"type":"Established","status":"True"}]}})");
  const DefinitionNames names = NamesOfDefinition(definition);
  EXPECT_EQ(names.definition, "widgets.a.example");
  EXPECT_EQ(names.group, "a.example");
  EXPECT_FALSE(names.accepted);
  EXPECT_FALSE(names.taken);
  ASSERT_TRUE(names.wanted);
  EXPECT_EQ(names.wanted->plural, "widgets");
  EXPECT_EQ(names.wanted->list_kind, "WidgetList");
  EXPECT_THAT(names.wanted->short_names, ::testing::ElementsAre("wd", "w"));
}

TEST(TakenNamesTest, ADefinitionIsInNobodysWayButAnothers) {
  const DefinitionNames own = Definition("widgets", "a.example", Widgets());
  TakenNames taken;
  EXPECT_FALSE(taken.ConflictOf(own));
  taken.Add(own);
  EXPECT_FALSE(taken.ConflictOf(own)) << "with itself";
  EXPECT_FALSE(taken.ConflictOf(Definition("widgets", "b.example", Widgets())));
  const auto conflict = taken.ConflictOf(Definition("others", "a.example", Widgets()));
  ASSERT_TRUE(conflict);
  EXPECT_STREQ(conflict->reason, "ShortNamesConflict");
  EXPECT_EQ(conflict->name, "wd");
}

TEST(TakenNamesTest, EachNameOfAResourceIsAgainstAllOfResources) {
  TakenNames taken;
  taken.Add(Definition("widgets", "a.example", Widgets()));
  const auto reason = [&](CustomNames names) {
    const auto conflict = taken.ConflictOf(Definition("others", "a.example", std::move(names)));
    return conflict ? std::string(conflict->reason) + " " + conflict->name : std::string();
  };
  EXPECT_EQ(reason({.plural = "wd"}), "PluralConflict wd");
  EXPECT_EQ(reason({.plural = "a", .singular = "widgets"}), "SingularConflict widgets");
  EXPECT_EQ(reason({.short_names = {"b", "widget"}}), "ShortNamesConflict widget");
  EXPECT_EQ(reason({.kind = "WidgetList"}), "KindConflict WidgetList");
  EXPECT_EQ(reason({.kind = "Other", .list_kind = "Widget"}), "ListKindConflict Widget");
  EXPECT_EQ(reason({.plural = "Widget", .kind = "widget"}), "") << "kinds are apart";
}

TEST(TakenNamesTest, WhatIsNotAcceptedTakesNothing) {
  TakenNames taken;
  taken.Add(Definition("widgets", "a.example", Widgets(), false));
  EXPECT_FALSE(taken.ConflictOf(Definition("others", "a.example", Widgets())));
}

TEST(TakenNamesTest, OfTwoThatHaveTheSameEachIsInTheOthersWay) {
  const DefinitionNames one = Definition("widgets", "a.example", Widgets());
  TakenNames taken;
  taken.Add(one);
  taken.Add(Definition("others", "a.example", Widgets()));
  EXPECT_TRUE(taken.ConflictOf(one));
}

}  // namespace
}  // namespace kubexx::apiserver
