#include "kubexx/reloader/restore/source_object.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/apimachinery/bytes.h"

namespace kubexx::reloader {
namespace {

using testing::IsEmpty;

SourceObject SecretWith(const std::string& value) {
  api::core::v1::Secret secret;
  secret.metadata.name = "password";
  secret.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] = value;
  secret.data["a"] = apimachinery::Bytes(value);
  return SourceObject(std::move(secret));
}

TEST(SourceObject, TakesAllDataAndNothingElse) {
  api::core::v1::ConfigMap good;
  good.metadata.name = "good";
  good.data["a"] = "1";
  good.binary_data["b"] = apimachinery::Bytes("2");
  api::core::v1::ConfigMap bad;
  bad.metadata.name = "settings";
  bad.data["c"] = "3";
  const SourceObject from(std::move(good));
  SourceObject to(std::move(bad));
  to.TakeData(from);
  EXPECT_EQ(to.metadata().name, "settings");
  EXPECT_EQ(to.DigestOfAll(), from.DigestOfAll());
  EXPECT_EQ(to.DigestOfAll(), DigestOf("a=1;b=Mg=="));
  EXPECT_FALSE(to.is_immutable());
  to.MakeImmutable();
  EXPECT_TRUE(to.is_immutable());
}

TEST(SourceObject, LeavesNothingOfASecretBehindWhereItIsMovedFrom) {
  SourceObject one = SecretWith("SWORDFISH");
  const Digest digest = one.DigestOfAll();
  SourceObject other = std::move(one);
  EXPECT_EQ(other.DigestOfAll(), digest);
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left of it is the point
  const auto& left = std::get<api::core::v1::Secret>(one.object());
  for (const auto& [key, value] : left.metadata.annotations) {
    EXPECT_THAT(value, IsEmpty());
  }
  for (const auto& [key, value] : left.data) {
    EXPECT_THAT(value.view(), IsEmpty());
  }
  other = SecretWith("other");
  EXPECT_NE(other.DigestOfAll(), digest);
}

TEST(SourceObject, AnEmptyOneHasTheTypeAndNameThatAreAskedFor) {
  const SourceObject secret = SourceObject::Empty({SourceType::kSecret, {"shop", "password"}});
  EXPECT_EQ(secret.type(), SourceType::kSecret);
  EXPECT_EQ(secret.metadata().namespace_, "shop");
  EXPECT_EQ(secret.metadata().name, "password");
  EXPECT_EQ(SourceObject::Empty({SourceType::kConfigMap, {"shop", "x"}}).type(),
            SourceType::kConfigMap);
}

}  // namespace
}  // namespace kubexx::reloader
