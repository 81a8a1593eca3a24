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
  EXPECT_FALSE(taken.Decide(own).conflict);
  taken.Add(own);
  EXPECT_FALSE(taken.Decide(own).conflict) << "with itself";
  EXPECT_FALSE(taken.Decide(Definition("widgets", "b.example", Widgets())).conflict);
  const auto conflict = taken.Decide(Definition("others", "a.example", Widgets())).conflict;
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->reason, "ListKindConflict");
  EXPECT_EQ(conflict->message, R"("WidgetList" is already in use)");
}

TEST(TakenNamesTest, EachNameOfAResourceIsAgainstAllOfResources) {
  TakenNames taken;
  taken.Add(Definition("widgets", "a.example", Widgets()));
  const auto reason = [&](CustomNames names) {
    const auto conflict =
        taken.Decide(Definition("others", "a.example", std::move(names))).conflict;
    return conflict ? conflict->reason + " " + conflict->message : std::string();
  };
  EXPECT_EQ(reason({.plural = "wd"}), R"(PluralConflict "wd" is already in use)");
  EXPECT_EQ(reason({.plural = "a", .singular = "widgets"}),
            R"(SingularConflict "widgets" is already in use)");
  EXPECT_EQ(reason({.short_names = {"b", "widget"}}),
            R"(ShortNamesConflict "widget" is already in use)");
  EXPECT_EQ(reason({.short_names = {"wd", "b", "widget"}}),
            R"(ShortNamesConflict ["wd" is already in use, "widget" is already in use])");
  EXPECT_EQ(reason({.kind = "WidgetList"}), R"(KindConflict "WidgetList" is already in use)");
  EXPECT_EQ(reason({.kind = "Other", .list_kind = "Widget"}),
            R"(ListKindConflict "Widget" is already in use)");
  EXPECT_EQ(reason({.plural = "Widget", .kind = "widget"}), "") << "kinds are apart";
}

TEST(TakenNamesTest, WhatIsFreeIsAcceptedAndTheRestStaysAsItWas) {
  TakenNames taken;
  taken.Add(Definition("widgets", "a.example", Widgets()));
  DefinitionNames other = Definition("others", "a.example",
                                     {.plural = "others",
                                      .singular = "widget",
                                      .short_names = {"o", "wd"},
                                      .kind = "Other",
                                      .list_kind = "WidgetList"},
                                     false);
  EXPECT_EQ(taken.Decide(other).names, (CustomNames{.plural = "others", .kind = "Other"}));
  other.taken = CustomNames{.plural = "others",
                            .singular = "other",
                            .short_names = {"x"},
                            .kind = "Before",
                            .list_kind = "BeforeList"};
  EXPECT_EQ(taken.Decide(other).names, (CustomNames{.plural = "others",
                                                    .singular = "other",
                                                    .short_names = {"x"},
                                                    .kind = "Other",
                                                    .list_kind = "BeforeList"}));
}

TEST(TakenNamesTest, WhatIsNotAcceptedTakesNothing) {
  TakenNames taken;
  taken.Add(Definition("widgets", "a.example", Widgets(), false));
  EXPECT_FALSE(taken.Decide(Definition("others", "a.example", Widgets())).conflict);
}

TEST(TakenNamesTest, OfTwoThatHaveTheSameEachIsInTheOthersWay) {
  const DefinitionNames one = Definition("widgets", "a.example", Widgets());
  TakenNames taken;
  taken.Add(one);
  taken.Add(Definition("others", "a.example", Widgets()));
  const NameDecision decision = taken.Decide(one);
  EXPECT_TRUE(decision.conflict);
  EXPECT_EQ(decision.names, Widgets()) << "it keeps what it has";
}

}  // namespace
}  // namespace kubexx::apiserver
