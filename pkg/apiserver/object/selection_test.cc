#include "kubexx/apiserver/object/selection.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kubexx::apiserver {
namespace {

ResourceType TypeOf(std::string group, std::string kind, bool namespaced,
                    std::vector<std::string_view> selectable = {}) {
  ResourceType type;
  type.group = std::move(group);
  type.version = "v1";
  type.kind = std::move(kind);
  type.namespaced = namespaced;
  type.selectable = std::move(selectable);
  return type;
}

TEST(FieldSelectorTest, TypesWithoutFieldsOfTheirOwnHaveANamespaceToSelectBy) {
  constexpr std::string_view kFields = "metadata.name=a,metadata.namespace!=b";
  EXPECT_TRUE(FieldSelector::Parse(kFields, TypeOf("", "ConfigMap", true)));
  EXPECT_TRUE(
      FieldSelector::Parse(kFields, TypeOf("rbac.authorization.k8s.io", "ClusterRole", false)));
  EXPECT_FALSE(FieldSelector::Parse(kFields, TypeOf("", "Node", false, {"spec.unschedulable"})));
  ResourceType custom = TypeOf("example.com", "Bolt", false);
  custom.custom = schema::CustomVersionRef(std::make_shared<schema::CustomVersion>());
  EXPECT_FALSE(FieldSelector::Parse(kFields, custom));
}

TEST(FieldSelectorTest, TheFirstTermThatNamesOneValueCounts) {
  const auto selector =
      FieldSelector::ParseAny("spec.a!=x,metadata.name!=a,metadata.name=b,metadata.name=c");
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->Exactly("metadata.name"), "b");
  EXPECT_EQ(selector->Exactly("spec.a"), "");
  EXPECT_FALSE(FieldSelector::ParseAny("metadata.name"));
}

// As with kube-apiserver: what cannot have been meant selects nothing by mistake.
TEST(FieldSelectorTest, ValuesAreEscaped) {
  for (const char* const bad :
       {"metadata.name===x", "metadata.name=a=b", "metadata.name=\\", "metadata.name=a\\b"}) {
    EXPECT_FALSE(FieldSelector::ParseAny(bad)) << bad;
  }
  EXPECT_EQ(FieldSelector::ParseAny(R"(a=b\=c\,d\\e)")->Exactly("a"), R"(b=c,d\e)");
}

TEST(FieldSelectorTest, OnlyTheFieldsOfATypeCanBeSelectedBy) {
  const ResourceType type = TypeOf("events.k8s.io", "Event", true,
                                   {"regarding.kind", "regarding.namespace", "regarding.name",
                                    "reason", "reportingController", "type"});
  const auto event = codec::JsonTree::Parse(
      R"({"metadata":{"name":"e"},"reason":"Started","type":"Normal","reportingController":"c",
          "regarding":{"kind":"Pod","name":"p","namespace":"n"}})");
  ASSERT_TRUE(event);
  const Attributes attributes = AttributesOf(type, *event);
  for (const char* const good : {"reason=Started", "type=Normal", "reportingController=c",
                                 "regarding.kind=Pod,regarding.name=p,regarding.namespace=n"}) {
    const auto selector = FieldSelector::Parse(good, type);
    ASSERT_TRUE(selector) << good;
    EXPECT_TRUE(selector->Matches({.namespace_ = "n", .name = "e"}, attributes)) << good;
  }
  EXPECT_FALSE(FieldSelector::Parse("involvedObject.name=p", type));
  const auto other = FieldSelector::Parse("regarding.name=q", type);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->Matches({.namespace_ = "n", .name = "e"}, attributes));
}

/// "k0op,k1op,...".
std::string Terms(std::size_t count, std::string_view key, std::string_view op) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ",").append(key).append(std::to_string(i)).append(op);
  }
  return text;
}

Selection SelectionOf(const std::string& labels, const std::string& fields) {
  return {.labels = *apimachinery::LabelSelector::Parse(labels),
          .fields = *FieldSelector::ParseAny(fields)};
}

// Each object is compared with all of them, and a watch keeps them.
TEST(SelectionTest, HasOnlySoManyRequirementsAndValues) {
  constexpr std::size_t kHalf = Selection::kMaxRequirements / 2;
  EXPECT_TRUE(SelectionOf(Terms(kHalf, "!k", ""), Terms(kHalf, "f", "=v")).CheckSize());
  const auto many = SelectionOf(Terms(kHalf, "!k", ""), Terms(kHalf + 1, "f", "=v")).CheckSize();
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, 400);
  EXPECT_EQ(many.error().message, "the selectors have 257 requirements, at most 256 are possible");
  const auto set = [](std::size_t count) { return "k in (" + Terms(count, "v", "") + ")"; };
  EXPECT_TRUE(SelectionOf(set(Selection::kMaxValues), "").CheckSize());
  EXPECT_FALSE(SelectionOf(set(Selection::kMaxValues + 1), "").CheckSize());
}

}  // namespace
}  // namespace kubexx::apiserver
