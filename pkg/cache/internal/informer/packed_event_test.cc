#include "kubexx/cache/internal/informer/packed_event.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "kubexx/cache/internal/packed/packed_store.h"

namespace kubexx::cache {
namespace {

using Type = RawEvent::Type;

class PackedEventTest : public ::testing::Test {
 protected:
  EntryRef Packed(const std::string& version, std::string_view data) {
    return *store_->Pack({.encoding = codec::Encoding::kJson,
                          .bytes = R"({"data":")" + std::string(data) + "\"}",
                          .key = {"a", "1"},
                          .resource_version = version});
  }
  PackedEvent Event(Type type, const EntryRef& object, const EntryRef& old) const {
    return {store_, type, object, old, RawEvent::Flags()};
  }

  std::shared_ptr<PackedStore> store_ = std::make_shared<PackedStore>();
  EntryRef before_ = Packed("7", "x");
  EntryRef now_ = Packed("8", "y");
};

TEST_F(PackedEventTest, OfAnUpdateHasBothStates) {
  const PackedEvent event = Event(Type::kUpdate, now_, before_);
  EXPECT_TRUE(event.HasOtherOldObject());
  EXPECT_EQ(event.resource_version(), "8");
  EXPECT_EQ(event.old_resource_version(), "7");
  EXPECT_EQ(event.object().bytes, R"({"data":"y"})");
  EXPECT_EQ(event.old_object().bytes, R"({"data":"x"})");
}

TEST_F(PackedEventTest, OfAnAddOrAResyncHasOneState) {
  for (const EntryRef& old : {EntryRef(), now_}) {
    const PackedEvent event = Event(old ? Type::kUpdate : Type::kAdd, now_, old);
    EXPECT_FALSE(event.HasOtherOldObject());
    EXPECT_EQ(event.old_resource_version(), "8");
    EXPECT_EQ(&event.old_object(), &event.object());
  }
}

TEST_F(PackedEventTest, OfADeleteHasAnotherStateOnlyWhenTheServerSentOne) {
  EXPECT_TRUE(Event(Type::kDelete, now_, before_).HasOtherOldObject());
  EXPECT_FALSE(Event(Type::kDelete, before_, before_).HasOtherOldObject()) << "found by a list";
}

}  // namespace
}  // namespace kubexx::cache
