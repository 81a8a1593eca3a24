#include "kubexx/apiserver/cacher/stored_events.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "kubexx/apiserver/resources/builtin_types.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Reason;
using ::testing::HasSubstr;

TEST(StoredEventsTest, ADeletionWhoseLastStateWasCompactedMakesReadersListAgain) {
  ResourceType type;
  type.prefix = "/registry/configmaps";
  storage::Event event;
  event.type = storage::Event::Type::kDelete;
  event.kv.key = "/registry/configmaps/ns/a";
  event.kv.mod_revision = 7;
  const auto converted = WatchEventOf(type, event, {});
  ASSERT_FALSE(converted);
  EXPECT_EQ(converted.error().reason, Reason::kExpired)
      << "after an internal error the reader would watch from the same version again";
  EXPECT_THAT(converted.error().message, HasSubstr("/registry/configmaps/ns/a"));
}

}  // namespace
}  // namespace kubexx::apiserver
