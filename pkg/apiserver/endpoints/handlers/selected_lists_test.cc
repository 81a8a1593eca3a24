// Tests lists without a resourceVersion that select some of many objects: what they read, and that
// they contain every write that was made before.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/endpoints/testing/forwarding_storage.h"
#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

constexpr const char* kListedMaps = "/api/v1/namespaces/default/configmaps";

/// Counts how many ConfigMaps are read. It can behave like a storage whose watches bring nothing,
/// or that was emptied.
class ReadStorage final : public testing::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  Result<storage::KeyValue> Get(std::string_view key, storage::Revision revision,
                                std::stop_token stop) override {
    read += key.starts_with("/registry/configmaps/") ? 1 : 0;
    return ForwardingStorage::Get(key, revision, std::move(stop));
  }
  Result<storage::ListResult> GetList(std::string_view prefix, const storage::ListOptions& options,
                                      ItemSink sink, std::stop_token stop) override {
    const bool counts = prefix.starts_with("/registry/configmaps/");
    return ForwardingStorage::GetList(
        prefix, options,
        [&](storage::KeyValue&& kv) {
          read += counts ? 1 : 0;
          return sink(std::move(kv));
        },
        std::move(stop));
  }
  Result<void> Watch(std::string_view prefix, const storage::WatchOptions& options, EventSink sink,
                     std::stop_token stop) override {
    return ForwardingStorage::Watch(
        prefix, options,
        [&](std::shared_ptr<const storage::Event> event) {
          return silent ? Result<void>() : sink(std::move(event));
        },
        std::move(stop));
  }
  Result<storage::Revision> CurrentRevision(std::stop_token stop) override {
    return emptied ? Result<storage::Revision>(1)
                   : ForwardingStorage::CurrentRevision(std::move(stop));
  }
  std::atomic<bool> emptied = false;
  std::atomic<int> read = 0;
  std::atomic<bool> silent = false;
};

class SelectedListsTest : public ::testing::Test {
 protected:
  SelectedListsTest() { EXPECT_TRUE(api_.Bootstrap({})); }

  http::Response Do(std::string method, const std::string& target, std::string body = {},
                    std::string type = "application/json") {
    return testing::Ask(api_, std::move(method), target, std::move(body), std::move(type));
  }
  void Make(const std::string& name, const std::string& label) {
    EXPECT_EQ(Do("POST", kListedMaps,
                 R"({"metadata":{"name":")" + name + R"(","labels":{"l":")" + label + R"("}}})")
                  .status,
              201);
  }
  void Label(const std::string& name, const std::string& label) {
    EXPECT_EQ(
        Do("PATCH", kListedMaps + ("/" + name), R"({"metadata":{"labels":{"l":")" + label + "\"}}}",
           "application/merge-patch+json")
            .status,
        200);
  }
  /// Makes 20 ConfigMaps, and waits until the cache has them.
  void Fill() {
    for (int i = 10; i < 30; ++i) {
      Make("m" + std::to_string(i), i % 4 == 0 ? "x" : "y");
    }
    EXPECT_EQ(Do("GET", kListedMaps + std::string("?resourceVersion=0")).status, 200);
    storage_.read = 0;
  }
  JsonTree List(const std::string& query) {
    const http::Response response = Do("GET", kListedMaps + ("?" + query));
    EXPECT_EQ(response.status, 200) << response.body;
    auto tree = JsonTree::Parse(response.body);
    EXPECT_TRUE(tree);
    return tree ? *std::move(tree) : JsonTree();
  }
  static std::string Names(const JsonTree& list) {
    std::string names;
    for (const JsonTree& item : list.Find("items")->elements()) {
      names += std::string(item.Find("metadata")->TextAt("name")) + " ";
    }
    return names;
  }
  static std::string Meta(const JsonTree& list, const char* field) {
    return std::string(list.Find("metadata")->TextAt(field));
  }

  std::unique_ptr<storage::MemoryStorage> memory_ = *storage::NewMemoryStorage({});
  ReadStorage storage_{*memory_};
  Api api_{storage_, {.cacher = {.patience = std::chrono::seconds(1)}}};
};

TEST_F(SelectedListsTest, OfACacheThatIsThereTheyReadNothingElse) {
  Fill();
  EXPECT_EQ(Names(List("labelSelector=l%3Dx")), "m12 m16 m20 m24 m28 ");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13")), "m13 ");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13&labelSelector=l%3Dx")), "");
  EXPECT_EQ(Names(List("labelSelector=l%3Dx&limit=2")), "m12 m16 ");
  EXPECT_EQ(List("").Find("items")->size(), 20U);
  EXPECT_EQ(storage_.read, 0);
}

TEST_F(SelectedListsTest, TheyHaveEveryWriteThatWasDoneBefore) {
  Fill();
  for (int i = 0; i < 100; ++i) {
    Label("m11", i % 2 == 0 ? "z" : "y");
    EXPECT_EQ(Names(List("labelSelector=l%3Dz")), i % 2 == 0 ? "m11 " : "");
    // The write is of another resource, so the cache of this one gets no event.
    EXPECT_EQ(Do("POST", "/api/v1/namespaces/default/secrets",
                 R"({"metadata":{"name":"s)" + std::to_string(i) + "\"}}")
                  .status,
              201);
    const std::int64_t written = *memory_->CurrentRevision({});
    EXPECT_GE(std::stoll(Meta(List("labelSelector=l%3Dz"), "resourceVersion")), written);
  }
}

TEST_F(SelectedListsTest, PagesGoOnInTheStateOfTheFirst) {
  Fill();
  const std::string query = "labelSelector=l%3Dx&limit=2";
  const JsonTree first = List(query);
  EXPECT_EQ(Names(first), "m12 m16 ");
  const JsonTree second = List(query + "&continue=" + Meta(first, "continue"));
  EXPECT_EQ(Names(second), "m20 m24 ");
  EXPECT_EQ(Meta(second, "resourceVersion"), Meta(first, "resourceVersion"));
  EXPECT_EQ(storage_.read, 0) << "nothing has changed since";
  Label("m17", "x");
  Label("m28", "y");
  EXPECT_EQ(Names(List(query + "&continue=" + Meta(first, "continue"))), "m20 m24 ");
  const JsonTree third = List(query + "&continue=" + Meta(second, "continue"));
  EXPECT_EQ(Names(third), "m28 ");
  EXPECT_EQ(Meta(third, "continue"), "");
  EXPECT_EQ(Meta(third, "resourceVersion"), Meta(first, "resourceVersion"));
  EXPECT_EQ(Names(List("labelSelector=l%3Dx")), "m12 m16 m17 m20 m24 ");
}

TEST_F(SelectedListsTest, ACacheThatDoesNotCatchUpIsDoneWithout) {
  Fill();
  storage_.silent = true;
  Label("m11", "z");
  EXPECT_EQ(Names(List("labelSelector=l%3Dz")), "m11 ");
  EXPECT_GT(storage_.read, 0);
}

TEST_F(SelectedListsTest, WhatCannotBeReadIsToldOfAtOnce) {
  Fill();
  ASSERT_TRUE(memory_->Create("/registry/configmaps/default/broken", "nonsense", {}));
  EXPECT_EQ(Do("GET", kListedMaps + std::string("?labelSelector=l%3Dx")).status, 500);
}

TEST_F(SelectedListsTest, ANameIsReadByItsKey) {
  for (int i = 10; i < 20; ++i) {
    Make("m" + std::to_string(i), "x");
  }
  storage_.read = 0;
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13")), "m13 ");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13&labelSelector=l%3Dy")), "");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13&limit=1")), "m13 ");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dm13,metadata.name%3Dm14")), "");
  EXPECT_EQ(storage_.read, 4);
  EXPECT_EQ(Names(List("fieldSelector=metadata.name%3Dnone")), "");
  EXPECT_EQ(Names(List("fieldSelector=metadata.name!%3Dm13&labelSelector=l%3Dx")),
            "m10 m11 m12 m14 m15 m16 m17 m18 m19 ");
}

TEST_F(SelectedListsTest, ACacheIsMadeWhenItsLackHasCostMore) {
  TypeRegistry types(storage_, {});
  const ResourceTypeRef maps = types.Find("", "v1", "configmaps");
  const ResourceTypeRef secrets = types.Find("", "v1", "secrets");
  types.NoteReadInVain(maps, 5000);
  EXPECT_EQ(types.CacherIfAny(maps), nullptr) << "perhaps nobody asks again";
  types.NoteReadInVain(maps, 5000);
  EXPECT_NE(types.CacherIfAny(maps), nullptr);
  for (int i = 0; i < 10; ++i) {
    types.NoteReadInVain(secrets, 100);
  }
  EXPECT_EQ(types.CacherIfAny(secrets), nullptr) << "few are read quickly";
}

// An etcd that was emptied or restored begins again at a lower revision.
TEST_F(SelectedListsTest, OfACacheThatIsAheadOfTheStoreNothingIsTaken) {
  Fill();
  List("labelSelector=l%3Dx");
  EXPECT_EQ(storage_.read, 0);
  storage_.emptied = true;
  List("labelSelector=l%3Dx");
  EXPECT_EQ(storage_.read, 20);
}

}  // namespace
}  // namespace kubexx::apiserver
