#include "kubexx/events/event_text.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/events/internal/lru.h"
#include "kubexx/events/internal/name_source.h"
#include "kubexx/events/reference.h"

namespace kubexx::events {
namespace {

using ::testing::MatchesRegex;

constexpr const char* kUuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}";

TEST(EventName, IsTheObjectAndTheNanosecondsInHex) {
  EXPECT_EQ(EventName("web-1", 0x17c5f3a2b4d6e8f0), "web-1.17c5f3a2b4d6e8f0");
}

TEST(EventName, IsAUuidWhenTheObjectsNameIsNoDnsSubdomain) {
  for (const std::string& bad :
       {std::string("system:node"), std::string("Upper"), std::string(""), std::string("-a"),
        std::string("a-"), std::string("a..b"), std::string("a/b"), std::string(252, 'a')}) {
    EXPECT_THAT(EventName(bad, 1), MatchesRegex(kUuid)) << bad;
  }
}

TEST(EventName, IsAnotherForEachEventOfANanosecond) {
  internal::NameSource names;
  const base::WallTime now = base::WallTime() + std::chrono::nanoseconds(0x10);
  EXPECT_EQ(names.Next("a", now), "a.10");
  EXPECT_EQ(names.Next("a", now), "a.11");
  EXPECT_EQ(names.Next("b", now), "b.12");
}

TEST(ReferenceTo, TakesKindFromTheSchemaAndTheRestFromTheMetadata) {
  api::apps::v1::Deployment deployment;
  deployment.metadata.name = "web";
  deployment.metadata.namespace_ = "shop";
  deployment.metadata.uid = "u-1";
  deployment.metadata.resource_version = "42";
  const auto reference = ReferenceTo(deployment, "spec.template");
  EXPECT_EQ(reference.api_version, "apps/v1");
  EXPECT_EQ(reference.kind, "Deployment");
  EXPECT_EQ(reference.namespace_, "shop");
  EXPECT_EQ(reference.name, "web");
  EXPECT_EQ(reference.uid, "u-1");
  EXPECT_EQ(reference.resource_version, "42");
  EXPECT_EQ(reference.field_path, "spec.template");
  EXPECT_EQ(ReferenceTo(api::core::v1::Pod()).api_version, "v1");
}

TEST(Lru, ForgetsWhatWasUsedLongestAgo) {
  internal::Lru<int, std::string> lru(2);
  EXPECT_FALSE(lru.Put(1, "a"));
  EXPECT_FALSE(lru.Put(2, "b"));
  EXPECT_EQ(*lru.Find(1), "a");
  EXPECT_EQ(lru.Put(3, "c"), "b");
  EXPECT_EQ(lru.Find(2), nullptr);
  EXPECT_FALSE(lru.Put(1, "A"));
  EXPECT_EQ(*lru.Find(1), "A");
  lru.Filter([](const std::string& value) { return value != "A"; });
  EXPECT_EQ(lru.size(), 1U);
  EXPECT_EQ(lru.Find(1), nullptr);
}

}  // namespace
}  // namespace kubexx::events
