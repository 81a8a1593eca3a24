#include "kubexx/apiserver/endpoints/registry/definition_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Counts the values that are read.
class ValueCounting final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    ++values;
    return ForwardingStorage::Get(key, revision, std::move(stop));
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    return ForwardingStorage::GetList(
        prefix, options,
        [&](storage::KeyValue&& kv) {
          values += kv.value == nullptr ? 0 : 1;
          return sink(std::move(kv));
        },
        std::move(stop));
  }
  int values = 0;
};

class DefinitionCacheTest : public ::testing::Test {
 protected:
  static std::string KeyOfName(const std::string& name) { return DefinitionType()->prefix + name; }
  void Make(const std::string& name) {
    ASSERT_TRUE(storage_->Create(KeyOfName(name), Value(name, "a"), {}));
  }
  static std::string Value(const std::string& name, const std::string& label) {
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
           R"("metadata":{"name":")" +
           name + R"(","labels":{"l":")" + label + R"("}}})";
  }
  void Change(const std::string& name, std::string value) {
    const auto now = storage_->Get(KeyOfName(name), 0, {});
    ASSERT_TRUE(now);
    const auto swap =
        storage_->CompareAndSwap(KeyOfName(name), now->mod_revision, std::move(value), {});
    ASSERT_TRUE(swap && swap->done);
  }
  std::vector<std::string> Read() {
    std::vector<std::string> labels;
    const auto found = cache_.Read(counting_, {});
    EXPECT_TRUE(found);
    EXPECT_EQ(found->revision, *storage_->CurrentRevision({}));
    for (const auto& one : found->all) {
      labels.push_back(*one);
    }
    return labels;
  }
  std::vector<std::string> Made() { return std::exchange(made_, {}); }

  std::unique_ptr<storage::MemoryStorage> storage_ = *storage::NewMemoryStorage({});
  ValueCounting counting_{*storage_};
  std::vector<std::string> made_{};
  DefinitionCache<std::string> cache_{[this](const codec::JsonTree& definition) {
    made_.push_back(MetaString(definition, "name"));
    return MetaString(definition, "name") + "=" + StringAt(definition, {"metadata", "labels", "l"});
  }};
};

TEST_F(DefinitionCacheTest, OnlyWhatHasChangedIsMadeAnew) {
  EXPECT_THAT(Read(), IsEmpty());
  Make("a");
  Make("b");
  EXPECT_THAT(Read(), ElementsAre("a=a", "b=a"));
  EXPECT_THAT(Made(), ElementsAre("a", "b"));
  EXPECT_THAT(Read(), ElementsAre("a=a", "b=a"));
  EXPECT_THAT(Made(), IsEmpty());
  Change("a", Value("a", "new"));
  Make("c");
  EXPECT_THAT(Read(), ElementsAre("a=new", "b=a", "c=a"));
  EXPECT_THAT(Made(), ElementsAre("a", "c"));
}

TEST_F(DefinitionCacheTest, OnlyWhatHasChangedIsRead) {
  for (int i = 0; i < 20; ++i) {
    Make("d" + std::to_string(i));
  }
  Read();
  counting_.values = 0;
  Change("d7", Value("d7", "new"));
  Make("e");
  Read();
  Read();
  EXPECT_EQ(counting_.values, 2);
}

TEST_F(DefinitionCacheTest, WhatIsGoneIsForgottenAndMadeAnewWhenItIsBack) {
  Make("a");
  Make("b");
  Read();
  ASSERT_TRUE(storage_->Delete(KeyOfName("a"), 0, {}));
  EXPECT_THAT(Read(), ElementsAre("b=a"));
  Made();
  Make("a");
  EXPECT_THAT(Read(), ElementsAre("a=a", "b=a"));
  EXPECT_THAT(Made(), ElementsAre("a"));
}

TEST_F(DefinitionCacheTest, WhatCannotBeReadIsPassedOverUntilItChanges) {
  Make("a");
  Change("a", "no JSON");
  Make("b");
  EXPECT_THAT(Read(), ElementsAre("b=a"));
  EXPECT_THAT(Read(), ElementsAre("b=a"));
  EXPECT_THAT(Made(), ElementsAre("b"));
  Change("a", Value("a", "mended"));
  EXPECT_THAT(Read(), ElementsAre("a=mended", "b=a"));
}

}  // namespace
}  // namespace kubexx::apiserver
