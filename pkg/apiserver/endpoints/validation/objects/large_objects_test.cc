// Checks of objects that are as large as they may be: what takes time by the square of the number
// of their parts does not end.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/validation/objects/type_warnings.h"
#include "kubexx/apiserver/endpoints/validation/objects/validation.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_parts.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_update.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::StatusCause;
using codec::JsonTree;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kParts = base::testing::LargeInput(200'000);

template <class Make>
JsonTree ListOf(int count, const Make& make) {
  std::vector<JsonTree> elements;
  for (int i = 0; i < count; ++i) {
    elements.push_back(make(i));
  }
  return JsonTree::Array(std::move(elements));
}

JsonTree MapOf(int count) {
  std::vector<JsonTree::Member> members;
  for (int i = 0; i < count; ++i) {
    members.push_back({.key = "k" + std::to_string(i), .value = "v"});
  }
  return JsonTree::Object(std::move(members));
}

JsonTree WithFinalizers(const std::string& domain) {
  JsonTree object = JsonTree::Object();
  object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  object["metadata"]["finalizers"] =
      ListOf(kParts, [&](int i) { return domain + "f" + std::to_string(i); });
  return object;
}

ResourceType TypeNamed(const std::string& group, const std::string& plural) {
  ResourceType type;
  type.group = group;
  type.plural = plural;
  return type;
}

TEST(LargeObjectTest, FinalizersOfAnObjectThatGoes) {
  const JsonTree old = WithFinalizers("e.x/");
  JsonTree object = old;
  FieldCauses causes;
  CheckMetadata(TypeNamed("", "configmaps"), &old, object, causes);
  EXPECT_THAT(causes.kept(), IsEmpty());
  object["metadata"]["finalizers"].Append("e.x/new");
  object["metadata"]["finalizers"].Append("e.x/newer");
  CheckMetadata(TypeNamed("", "configmaps"), &old, object, causes);
  ASSERT_THAT(causes.kept(), SizeIs(1));
  EXPECT_EQ(causes.kept()[0].message,
            "Forbidden: no new finalizers can be added if the object is being deleted, found new "
            "finalizers []string{\"e.x/new\", \"e.x/newer\"}");
}

TEST(LargeObjectTest, FinalizersOfACustomResource) {
  ResourceType type = TypeNamed("e.x", "widgets");
  type.custom = schema::CustomVersionRef(std::make_shared<const schema::CustomVersion>());
  const JsonTree object = WithFinalizers("");
  std::vector<std::string> old = FinalizersOf(object);
  old.pop_back();
  std::vector<std::string> warnings;
  AppendTypeWarnings(type, old, object, warnings);
  EXPECT_THAT(warnings, SizeIs(1));
}

TEST(LargeObjectTest, GatesAndSelectorOfAPod) {
  JsonTree old = JsonTree::Object();
  old["schedulingGates"] = ListOf(kParts, [](int i) {
    JsonTree gate = JsonTree::Object();
    gate["name"] = "e.x/g" + std::to_string(i);
    return gate;
  });
  old["nodeSelector"] = MapOf(kParts);
  JsonTree spec = old;
  FieldCauses causes;
  CheckPodUpdate(old, spec, causes);
  EXPECT_THAT(causes.kept(), IsEmpty());
  spec["schedulingGates"].elements().back()["name"] = "e.x/new";
  CheckPodUpdate(old, spec, causes);
  ASSERT_THAT(causes.kept(), SizeIs(1));
  EXPECT_EQ(causes.kept()[0].field, "spec.schedulingGates");
  spec = old;
  spec["nodeSelector"].Erase("k" + std::to_string(kParts - 1));
  CheckPodUpdate(old, spec, causes);
  ASSERT_THAT(causes.kept(), SizeIs(2));
  EXPECT_EQ(causes.kept()[1].field, "spec.nodeSelector");
}

TEST(LargeObjectTest, EphemeralContainers) {
  JsonTree old = JsonTree::Object();
  old["spec"]["ephemeralContainers"] = ListOf(kParts, [](int i) {
    JsonTree container = JsonTree::Object();
    container["name"] = "c" + std::to_string(i);
    return container;
  });
  JsonTree object = old;
  JsonTree& list = object["spec"]["ephemeralContainers"];
  list.elements().front()["image"] = "other";
  list.elements().back()["name"] = "other";
  FieldCauses causes;
  CheckPartOfPod(WritePart::kEphemeralContainers, old, object, causes);
  ASSERT_THAT(causes.kept(), SizeIs(2));
  EXPECT_EQ(causes.kept()[0].message,
            "Forbidden: existing ephemeral containers \"c0\" may not be changed");
  EXPECT_EQ(causes.kept()[1].message, "Forbidden: existing ephemeral containers \"c" +
                                          std::to_string(kParts - 1) + "\" may not be removed");
}

TEST(LargeObjectTest, ConditionsWithoutTimes) {
  JsonTree old = JsonTree::Object();
  old["status"]["conditions"] = ListOf(kParts, [](int i) {
    JsonTree condition = JsonTree::Object();
    condition["type"] = "Approved";
    condition["status"] = i % 2 == 0 ? "True" : "False";
    condition["lastTransitionTime"] = std::to_string(i);
    return condition;
  });
  JsonTree object = old;
  for (JsonTree& condition : object["status"]["conditions"].elements()) {
    condition.Erase("lastTransitionTime");
  }
  object["status"]["conditions"].elements()[0]["status"] = "Unknown";
  SetConditionTimes(old, "now", object);
  const auto times = object["status"]["conditions"].elements();
  // The last that is alike counts.
  EXPECT_EQ(times[2].TextAt("lastTransitionTime"), std::to_string(kParts - 2));
  EXPECT_EQ(times[3].TextAt("lastTransitionTime"), std::to_string(kParts - 1));
  EXPECT_EQ(times[0].TextAt("lastTransitionTime"), "now");
  EXPECT_EQ(times[0].TextAt("lastUpdateTime"), "now");
}

}  // namespace
}  // namespace kubexx::apiserver
