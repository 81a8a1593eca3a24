#include "kubexx/reloader/restore/appliers.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/reloader/model/restored_mark.h"

namespace kubexx::reloader {
namespace {

using testing::IsEmpty;

api::meta::v1::ManagedFieldsEntry Entry(std::string manager, std::string operation,
                                        std::string fields, std::int64_t written_at = 1) {
  return {.manager = std::move(manager),
          .operation = std::move(operation),
          .api_version = "v1",
          .time = apimachinery::Time{.seconds = written_at},
          .fields_type = "FieldsV1",
          .fields_v1 = apimachinery::FieldsV1{.raw = std::move(fields)}};
}

SourceObject WithOwners(std::map<std::string, std::string> data,
                        std::vector<api::meta::v1::ManagedFieldsEntry> entries,
                        const std::string& last_applied = "") {
  api::core::v1::ConfigMap config_map;
  config_map.data = std::move(data);
  config_map.metadata.managed_fields = std::move(entries);
  if (!last_applied.empty()) {
    config_map.metadata.annotations[kLastApplied] = last_applied;
  }
  return SourceObject(std::move(config_map));
}

std::string FieldsOfManager(const SourceObject& object, const std::string& manager) {
  for (const auto& entry : object.metadata().managed_fields) {
    if (entry.manager == manager) {
      return entry.fields_v1->raw;
    }
  }
  return "none";
}

TEST(Appliers, AreThoseWhoApplyKeys) {
  const SourceObject object = WithOwners(
      {}, {Entry("flux", "Apply", R"({"f:data":{"f:a":{},"f:b":{}},"f:binaryData":{"f:c":{}}})"),
           Entry("kubectl-edit", "Update", R"({"f:data":{".":{},"f:d":{}}})"),
           Entry("labels", "Apply", R"({"f:metadata":{"f:labels":{"f:l":{}}}})")});
  EXPECT_EQ(AppliersOf(object), (Appliers{{"flux", {"a", "b", "c"}}}));
  const SourceObject applied =
      WithOwners({}, {}, R"({"data":{"a":"1"},"binaryData":{"b":"MQ=="}})");
  EXPECT_EQ(AppliersOf(applied), (Appliers{{kLastApplied, {"a", "b"}}}));
  EXPECT_THAT(AppliersOf(WithOwners({}, {Entry("flux", "Apply", "{")}, "no JSON")), IsEmpty());
}

TEST(Appliers, AreKeptOnASnapshot) {
  SourceObject snapshot = SourceObject::Empty({SourceType::kConfigMap, {"shop", "s"}});
  const Appliers appliers{{"flux", {"a", "b"}}, {kLastApplied, {"c"}}};
  SetAppliers(snapshot, appliers);
  EXPECT_EQ(AppliersIn(snapshot), appliers);
  SetAppliers(snapshot, {{"flux", {std::string(std::size_t{40} * 1024, 'x')}}});
  EXPECT_THAT(AppliersIn(snapshot), IsEmpty()) << "it is too long";
  snapshot.metadata().annotations[kSnapshotAppliers] = R"({"flux":[1,"a"],"other":7})";
  EXPECT_EQ(AppliersIn(snapshot), (Appliers{{"flux", {"a"}}}));
}

TEST(Appliers, WhoKeepsAKeyNowKeepsItOn) {
  EXPECT_EQ(AppliersAfter({{"flux", {"a", "removed"}}, {kLastApplied, {"a", "removed"}}},
                          {{"argo", {"a"}}, {kLastApplied, {"a"}}}),
            (Appliers{{"argo", {"a"}}, {"flux", {"removed"}}, {kLastApplied, {"a", "removed"}}}));
}

TEST(Appliers, GetTheKeysThatTheRestoreHasWritten) {
  const std::string own = kRestoreFieldManager;
  SourceObject object = WithOwners(
      {{"a", "1"}, {"removed", "1"}, {"loose", "1"}},
      {Entry("flux", "Apply", R"({"f:metadata":{"f:labels":{"f:l":{}}}})"),
       Entry(
           own, "Update",
           R"({"f:data":{"f:a":{},"f:loose":{},"f:removed":{}},"f:metadata":{"f:annotations":{}}})",
           9)});
  EXPECT_TRUE(OwnsKeys(object));
  EXPECT_TRUE(HandBack(object, {{"flux", {"a", "removed", "other"}}, {kLastApplied, {"loose"}}}));
  EXPECT_EQ(FieldsOfManager(object, "flux"),
            R"({"f:metadata":{"f:labels":{"f:l":{}}},"f:data":{"f:a":{},"f:removed":{}}})");
  EXPECT_EQ(FieldsOfManager(object, own),
            R"({"f:data":{"f:loose":{}},"f:metadata":{"f:annotations":{}}})");
  EXPECT_EQ(object.metadata().managed_fields[0].time->seconds, 9) << "the data were written then";
  EXPECT_FALSE(HandBack(object, {{"flux", {"a", "removed"}}})) << "it is done";
}

TEST(Appliers, OneThatHasLostAllIsAnApplierAgain) {
  const std::string own = kRestoreFieldManager;
  SourceObject object =
      WithOwners({{"a", "1"}}, {Entry(own, "Update", R"({"f:data":{".":{},"f:a":{}}})")});
  EXPECT_TRUE(HandBack(object, {{"flux", {"a"}}}));
  EXPECT_EQ(AppliersOf(object), (Appliers{{"flux", {"a"}}}));
  EXPECT_FALSE(OwnsKeys(object));
}

TEST(Appliers, KubectlKnowsOfTheKeysThatItHasToRemove) {
  SourceObject object = WithOwners({{"a", "1"}, {"removed", "2"}, {"by-hand", "3"}}, {},
                                   R"({"kind":"ConfigMap","data":{"a":"bad"}})");
  AddToLastApplied(object, {{kLastApplied, {"a", "removed"}}});
  EXPECT_EQ(object.metadata().annotations.at(kLastApplied),
            R"({"kind":"ConfigMap","data":{"a":"bad","removed":"2"}})"
            "\n");
  SourceObject full = WithOwners({{"a", "1"}}, {}, R"({"data":{}})");
  full.metadata().annotations["other"] = std::string(std::size_t{255} * 1024, 'x');
  AddToLastApplied(full, {{kLastApplied, {"a"}}});
  EXPECT_EQ(full.metadata().annotations.at(kLastApplied), R"({"data":{}})") << "there is no room";
  SourceObject other = WithOwners({{"a", "1"}}, {});
  AddToLastApplied(other, {{kLastApplied, {"a"}}});
  EXPECT_THAT(other.metadata().annotations, IsEmpty());
}

}  // namespace
}  // namespace kubexx::reloader
