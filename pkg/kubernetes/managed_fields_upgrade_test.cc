#include "kubexx/kubernetes/managed_fields_upgrade.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/thread_time.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::kubernetes {
namespace {

using api::meta::v1::ManagedFieldsEntry;
using api::meta::v1::ObjectMeta;
using apimachinery::Reason;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ManagedFieldsEntry Owner(const std::string& manager, const std::string& operation,
                         const std::string& fields, const std::string& version = "apps/v1") {
  ManagedFieldsEntry entry;
  entry.manager = manager;
  entry.operation = operation;
  entry.api_version = version;
  entry.fields_type = "FieldsV1";
  entry.fields_v1.emplace().raw = fields;
  return entry;
}

const ManagedFieldsUpgrade kUpgrade{.update_managers = {"old", "older"}, .apply_manager = "new"};

TEST(ManagedFieldsUpgradeTest, TheFormerManagersFieldsBecomeThoseOfTheApplyManager) {
  std::vector entries{Owner("new", "Apply", R"({"f:spec":{"f:replicas":{}}})"),
                      Owner("somebody", "Update", R"({"f:status":{}})"),
                      Owner("old", "Update", R"({"f:spec":{"f:template":{".":{},"f:spec":{}}}})"),
                      Owner("older", "Update", R"({"f:metadata":{"f:labels":{"f:a":{}}}})")};
  ASSERT_TRUE(UpgradeManagedFields(entries, kUpgrade));
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0], Owner("new", "Apply",
                              R"({"f:spec":{"f:replicas":{},"f:template":{".":{},"f:spec":{}}},)"
                              R"("f:metadata":{"f:labels":{"f:a":{}}}})"));
  EXPECT_EQ(entries[1].manager, "somebody");
}

TEST(ManagedFieldsUpgradeTest, WithoutAnApplyManagerTheFirstFormerOneBecomesIt) {
  std::vector entries{Owner("old", "Update", R"({"f:data":{"f:a":{}}})"),
                      Owner("older", "Update", R"({"f:data":{"f:b":{}}})")};
  ASSERT_TRUE(UpgradeManagedFields(entries, kUpgrade));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0], Owner("new", "Apply", R"({"f:data":{"f:a":{},"f:b":{}}})"));
}

TEST(ManagedFieldsUpgradeTest, AFieldThatOneOwnsAndTheOtherOwnsPartsOfIsBoth) {
  std::vector entries{
      Owner("new", "Apply", R"({"f:a":{},"f:b":{"f:x":{}},"f:c":{".":{},"f:y":{}}})"),
      Owner("old", "Update", R"({"f:a":{"f:x":{}},"f:b":{},"f:c":{"f:z":{}}})")};
  ASSERT_TRUE(UpgradeManagedFields(entries, kUpgrade));
  EXPECT_EQ(
      codec::JsonTree::Parse(entries[0].fields_v1->raw).value(),
      codec::JsonTree::Parse(
          R"({"f:a":{".":{},"f:x":{}},"f:b":{".":{},"f:x":{}},"f:c":{".":{},"f:y":{},"f:z":{}}})")
          .value());
}

TEST(ManagedFieldsUpgradeTest, ManyFieldsOfTwoManagersAreMerged) {
  std::string one;
  std::string other;
  for (int i = 0; i < 40000; ++i) {
    const std::string number = std::to_string(i);
    one.append(one.empty() ? "" : ",").append("\"f:a").append(number).append("\":{}");
    other.append(other.empty() ? "" : ",").append("\"f:b").append(number).append("\":{}");
  }
  std::vector entries{Owner("new", "Apply", "{\"f:data\":{" + one + "}}"),
                      Owner("old", "Update", "{\"f:data\":{" + other + "}}")};
  EXPECT_TRUE(UpgradeManagedFields(entries, kUpgrade));
  EXPECT_EQ(entries.at(0).fields_v1->raw, "{\"f:data\":{" + one + "," + other + "}}");
}

TEST(ManagedFieldsUpgradeTest, FieldsOfAnotherApiVersionAreDropped) {
  std::vector entries{Owner("new", "Apply", R"({"f:a":{}})"),
                      Owner("old", "Update", R"({"f:b":{}})", "apps/v1beta1")};
  ASSERT_TRUE(UpgradeManagedFields(entries, kUpgrade));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].fields_v1->raw, R"({"f:a":{}})");
}

TEST(ManagedFieldsUpgradeTest, ASubresourceIsApart) {
  std::vector entries{Owner("old", "Update", R"({"f:spec":{}})"),
                      Owner("old", "Update", R"({"f:status":{}})")};
  entries[1].subresource = "status";
  ManagedFieldsUpgrade upgrade = kUpgrade;
  upgrade.subresource = "status";
  ASSERT_TRUE(UpgradeManagedFields(entries, upgrade));
  EXPECT_EQ(entries[0].operation, "Update");
  EXPECT_EQ(entries[1].operation, "Apply");
  EXPECT_EQ(entries[1].manager, "new");
}

TEST(ManagedFieldsUpgradeTest, ASetThatCannotBeReadChangesNothing) {
  std::vector entries{Owner("new", "Apply", "[]"), Owner("old", "Update", "{}")};
  const std::vector before = entries;
  const auto upgraded = UpgradeManagedFields(entries, kUpgrade);
  ASSERT_FALSE(upgraded);
  EXPECT_EQ(upgraded.error().reason, Reason::kMalformed);
  EXPECT_THAT(upgraded.error().message, HasSubstr("\"new\""));
  EXPECT_EQ(entries, before);
}

TEST(ManagedFieldsUpgradeTest, ThePatchHasAllEntriesAndTheVersionThatWasRead) {
  ObjectMeta metadata;
  metadata.resource_version = "7";
  metadata.managed_fields = {Owner("old", "Update", R"({"f:data":{}})")};
  EXPECT_EQ(
      UpgradeManagedFieldsPatch(metadata, kUpgrade).value(),
      R"([{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"new",)"
      R"("operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},)"
      R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"}])");
  metadata.managed_fields = {Owner("new", "Apply", R"({"f:data":{}})")};
  EXPECT_EQ(UpgradeManagedFieldsPatch(metadata, kUpgrade).value(), std::nullopt);
}

TEST(ManagedFieldsUpgradeTest, NeedsTheManagerOfTheApply) {
  api::meta::v1::ObjectMeta metadata;
  metadata.managed_fields.push_back({.manager = "shop", .operation = "Update"});
  const auto patch = UpgradeManagedFieldsPatch(metadata, {.update_managers = {"shop"}});
  ASSERT_FALSE(patch);
  EXPECT_EQ(patch.error().reason, apimachinery::Reason::kBadRequest);
  EXPECT_THAT(patch.error().message, ::testing::HasSubstr("apply_manager"));
  EXPECT_EQ(metadata.managed_fields.front().manager, "shop");
}

}  // namespace
}  // namespace kubexx::kubernetes
