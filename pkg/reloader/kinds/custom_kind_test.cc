#include "kubexx/reloader/kinds/custom_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace kubexx::reloader {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr char kCloneSets[] =
    "- {group: apps.kruise.io, version: v1alpha1, kind: CloneSet, resource: clonesets}\n";

std::string ErrorFor(const std::string& yaml) {
  const auto kinds = ParseCustomKinds(
      yaml, {{"apps", "v1", "Deployment", "deployments", true}, {"", "v1", "Secret", "secrets"}});
  return kinds ? "no error" : kinds.error().message;
}

/// The error for a kind with these further members.
std::string ErrorWith(const std::string& members) {
  return ErrorFor("- {group: a.example.com, version: v1, kind: Worker, resource: workers, " +
                  members + "}");
}

TEST(ParseCustomKindsTest, AKindHasDefaults) {
  const auto kinds = ParseCustomKinds(kCloneSets, {});
  ASSERT_TRUE(kinds) << kinds.error().message;
  ASSERT_EQ(kinds->size(), 1);
  EXPECT_EQ(kinds->front(), (CustomKind{.group = "apps.kruise.io",
                                        .version = "v1alpha1",
                                        .kind = "CloneSet",
                                        .resource = "clonesets"}));
  EXPECT_THAT(kinds->front().pod_template, ElementsAre("spec", "template"));
  EXPECT_EQ(kinds->front().Resource().ApiVersion(), "apps.kruise.io/v1alpha1");
}

TEST(ParseCustomKindsTest, AllMembersAreRead) {
  const auto kinds = ParseCustomKinds(
      R"([{"group":"a.example.com","version":"v1","kind":"Worker","resource":"workers",
           "podTemplate":".spec.pool.podTemplate",
           "done":[{"condition":"Ready"},{"field":"status.updated","sameAs":"spec.replicas"}],
           "failed":[{"condition":"Ready","status":false,"reason":"Crashing"},
                     {"field":"status.ok","value":false},{"field":"status.phase","value":"Bad"},
                     {"condition":"Known","status":"Unknown"}],
           "settledFor":"1m30s"}])",
      {});
  ASSERT_TRUE(kinds) << kinds.error().message;
  const CustomKind& kind = kinds->front();
  EXPECT_THAT(kind.pod_template, ElementsAre("spec", "pool", "podTemplate"));
  EXPECT_THAT(kind.done, ElementsAre(StatusRule{.condition = "Ready"},
                                     StatusRule{.field = {"status", "updated"},
                                                .same_as = {"spec", "replicas"}}));
  EXPECT_THAT(kind.failed,
              ElementsAre(StatusRule{.condition = "Ready", .status = "False", .reason = "Crashing"},
                          StatusRule{.field = {"status", "ok"}, .value = "false"},
                          StatusRule{.field = {"status", "phase"}, .value = "Bad"},
                          StatusRule{.condition = "Known", .status = "Unknown"}));
  EXPECT_EQ(kind.settled_for, std::chrono::seconds(90));
}

TEST(ParseCustomKindsTest, NothingIsNoKind) {
  for (const char* text : {"", " \n", "[]"}) {
    const auto kinds = ParseCustomKinds(text, {});
    ASSERT_TRUE(kinds) << text;
    EXPECT_THAT(*kinds, IsEmpty());
  }
}

TEST(ParseCustomKindsTest, ErrorsSayWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorFor("a: b"), "must be a list of 0 to 50 kinds");
  EXPECT_EQ(ErrorFor("[1]"), "[0]: must be an object");
  EXPECT_EQ(ErrorFor("- {group: apps.kruise.io, version: v1alpha1, kind: CloneSet}"),
            "[0].resource: \"\" is no resource, which is the kind in the plural and in small "
            "letters, such as clonesets");
  EXPECT_EQ(ErrorFor(std::string(kCloneSets) + kCloneSets),
            "[1].kind: \"CloneSet\" is what another one of the list is called");
  EXPECT_EQ(ErrorFor("- {group: a_b, version: v1, kind: A, resource: as}"),
            "[0].group: \"a_b\" is no API group of custom resources, such as apps.kruise.io");
  EXPECT_EQ(ErrorFor("- {group: a.b, version: V1, kind: A, resource: as}"),
            "[0].version: \"V1\" is no version, such as v1alpha1");
  EXPECT_EQ(ErrorFor("- {group: a.b, version: v1, kind: A/B, resource: as}"),
            "[0].kind: \"A/B\" is no kind, such as CloneSet");
  EXPECT_EQ(ErrorWith("pods: 1"),
            "[0]: there is no member \"pods\"; the members are group, version, kind, resource, "
            "podTemplate, done, failed, settledFor");
  for (const char* path : {"\"\"", "spec..template", "spec.", "\"spec.pods[0]\"", "spec.a/b"}) {
    EXPECT_THAT(ErrorWith(std::string("podTemplate: ") + path),
                ::testing::HasSubstr("is not the names of members with dots between them"))
        << path;
  }
  EXPECT_EQ(ErrorWith("podTemplate: metadata.annotations"),
            "[0].podTemplate: must begin with spec");
  EXPECT_EQ(ErrorWith("done: []"), "[0].done: must be a list of 1 to 20 rules");
  EXPECT_EQ(ErrorWith("done: [{}]"), "[0].done[0]: must have either a condition or a field");
  EXPECT_EQ(ErrorWith("done: [{condition: A, field: b}]"),
            "[0].done[0]: must have either a condition or a field");
  EXPECT_EQ(ErrorWith("done: [{condition: A, value: b}]"),
            "[0].done[0].value: belongs to a rule about a field");
  EXPECT_EQ(ErrorWith("done: [{condition: A, status: maybe}]"),
            "[0].done[0].status: must be \"True\", \"False\" or \"Unknown\"");
  EXPECT_EQ(ErrorWith("failed: [{field: a, status: \"True\"}]"),
            "[0].failed[0].status: belongs to a rule about a condition");
  EXPECT_EQ(ErrorWith("failed: [{field: a}]"), "[0].failed[0]: must have either a value or sameAs");
  EXPECT_EQ(ErrorWith("failed: [{field: a, value: [1]}]"),
            "[0].failed[0].value: must be a text, a number, true or false");
  for (const char* time : {"0s", "25h", "soon", "-1s"}) {
    EXPECT_EQ(
        ErrorWith("done: [{condition: A}], settledFor: " + std::string(time)),
        "[0].settledFor: \"" + std::string(time) + "\" is no time from 1s to 24h, such as 2m");
  }
  EXPECT_EQ(ErrorWith("settledFor: 1m"), "[0].settledFor: is about rules, and there are none");
}

TEST(ParseCustomKindsTest, NoKindIsCalledAsAnotherOne) {
  const auto error_for = [](const std::string& kind, const std::string& resource,
                            const std::string& group = "a.example.com") {
    return ErrorFor(std::string(kCloneSets) + "- {group: " + group +
                    ", version: v1, kind: " + kind + ", resource: " + resource + "}");
  };
  constexpr char kOwn[] =
      " is what the operator calls a kind of its own, and it tells kinds apart by their names";
  EXPECT_EQ(error_for("deployment", "foos"), std::string("[1].kind: \"deployment\"") + kOwn);
  EXPECT_EQ(error_for("Secret", "foos"), std::string("[1].kind: \"Secret\"") + kOwn);
  EXPECT_EQ(error_for("Foo", "deployments"), std::string("[1].resource: \"deployments\"") + kOwn);
  EXPECT_EQ(error_for("Foo", "secret"), std::string("[1].resource: \"secret\"") + kOwn);
  EXPECT_EQ(error_for("Secrets", "foos"), std::string("[1].kind: \"Secrets\"") + kOwn);
  EXPECT_EQ(error_for("Foo", "clonesets"),
            "[1].resource: \"clonesets\" is what another one of the list is called");
  EXPECT_EQ(error_for("Foo", "cloneset"),
            "[1].resource: \"cloneset\" is what another one of the list is called");
  EXPECT_EQ(error_for("ClonesetS", "foos"),
            "[1].kind: \"ClonesetS\" is what another one of the list is called");
  EXPECT_EQ(error_for("ReplicaSet", "replicasets", "apps"),
            "[1].group: \"apps\" is no API group of custom resources, such as apps.kruise.io")
      << "a Deployment owns it";
  EXPECT_EQ(error_for("Foo", "foos"), "no error");
}

TEST(AddCustomKindsTest, AKindKeepsItsPlaceAndIsReplacedByOneOfItsName) {
  const CustomKind one{.group = "a", .version = "v1", .kind = "AddedOne", .resource = "addedones"};
  const CustomKind other{
      .group = "a", .version = "v1", .kind = "AddedOther", .resource = "addedothers"};
  AddCustomKinds({one, other});
  const auto& before = CustomKinds();
  const auto place = std::ranges::find(before, one) - before.begin();
  ASSERT_LT(place, static_cast<std::ptrdiff_t>(before.size()));
  AddCustomKinds({other});
  EXPECT_EQ(&CustomKinds(), &before) << "nothing is new";
  CustomKind changed = one;
  changed.version = "v2";
  AddCustomKinds({changed}, Precedence::kKnown);
  EXPECT_EQ(CustomKinds().at(static_cast<std::size_t>(place)), one);
  AddCustomKinds({changed});
  EXPECT_EQ(CustomKinds().at(static_cast<std::size_t>(place)), changed);
  EXPECT_EQ(CustomResources().at(static_cast<std::size_t>(place)), changed.Resource());
  EXPECT_EQ(CustomKinds().size(), before.size());
  EXPECT_EQ(before.at(static_cast<std::size_t>(place)), one) << "what was returned stays";
  EXPECT_THAT(CustomKinds(), Contains(Field(&CustomKind::kind, "AddedOther")));
}

}  // namespace
}  // namespace kubexx::reloader
