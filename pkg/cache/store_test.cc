#include "kubexx/cache/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/testing/auto_clock.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/typed_object.h"
#include "kubexx/cache/undelta_store.h"

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;
using apimachinery::Reason;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Object MakeFakeObject(const ObjectKey& key, const std::string& version,
                      const std::string& payload) {
  return {.encoding = codec::Encoding::kJson,
          .bytes = testing::FakeJson(key, version, payload),
          .key = key,
          .resource_version = version};
}

// Returns the words of the payload. Each is a value of the index.
std::vector<std::string> WordsOf(const Object& object) {
  const std::string mark = R"("payload":")";
  const std::size_t begin = object.bytes.find(mark) + mark.size();
  std::string payload = object.bytes.substr(begin, object.bytes.find('"', begin) - begin);
  std::vector<std::string> words;
  while (!payload.empty()) {
    const std::size_t space = std::min(payload.find(' '), payload.size());
    words.push_back(payload.substr(0, space));
    payload.erase(0, space + 1);
  }
  return words;
}

std::vector<std::string> IndexByName(const Object& object) { return {object.key.name}; }

TEST(IndexerTest, KeepsObjectsAndVersion) {
  const auto store = NewIndexer(NamespaceIndexer());
  EXPECT_EQ(store->ResourceVersion(), "");
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "1"}, "5", "x")));
  ASSERT_TRUE(store->Update(MakeFakeObject({"a", "1"}, "6", "y")));
  ASSERT_TRUE(store->Add(MakeFakeObject({"b", "1"}, "7", "x")));
  EXPECT_EQ(store->ResourceVersion(), "7");
  EXPECT_THAT(store->Get({"a", "1"})->bytes, ::testing::HasSubstr("y"));
  EXPECT_THAT(store->KeysByIndex({{"namespace", "b"}}), ElementsAre(ObjectKey{"b", "1"}));
  store->Bookmark("11");
  EXPECT_EQ(store->ResourceVersion(), "11");
  ASSERT_TRUE(store->DeleteKey({"b", "1"}));
  EXPECT_EQ(store->Get({"b", "1"}).error().reason, Reason::kNotFound);
  EXPECT_EQ(store->ResourceVersion(), "11");
  std::vector<Object> all;
  all.push_back(MakeFakeObject({"c", "1"}, "12", "x"));
  ASSERT_TRUE(store->Replace(std::move(all), "13"));
  EXPECT_THAT(store->Keys(), ElementsAre(ObjectKey{"c", "1"}));
  EXPECT_EQ(store->ResourceVersion(), "13");
  EXPECT_EQ(store->Size(), 1U);
}

TEST(IndexerTest, AnIndexNameIsTakenOnce) {
  const auto store = NewIndexer(NamespaceIndexer());
  EXPECT_EQ(store->AddIndexers(NamespaceIndexer()).error().reason, Reason::kAlreadyExists);
  EXPECT_TRUE(store->AddIndexers({{"name", IndexByName}}));
  EXPECT_THAT(store->KeysByIndex({{"nobody", "x"}}), IsEmpty());
  EXPECT_THAT(store->KeysByIndex(IndexTerms{}), IsEmpty());
}

TEST(IndexerTest, IndexesAddedLaterKnowWhatIsThere) {
  const auto store = NewIndexer();
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "1"}, "1", "red big")));
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "2"}, "2", "red")));
  ASSERT_TRUE(store->AddIndexers({{"word", WordsOf}}));
  ASSERT_TRUE(store->AddIndexers({{"name", IndexByName}}));
  EXPECT_THAT(store->KeysByIndex({{"word", "red"}}),
              UnorderedElementsAre(ObjectKey{"a", "1"}, ObjectKey{"a", "2"}));
  EXPECT_THAT(store->KeysByIndex({{"word", "red"}, {"name", "2"}}),
              ElementsAre(ObjectKey{"a", "2"}));
  EXPECT_THAT(store->IndexValues("word"), UnorderedElementsAre("red", "big"));
}

TEST(IndexerTest, TypedObjectsGoInAndComeOut) {
  api::core::v1::ConfigMap object;
  object.metadata.namespace_ = "ns";
  object.metadata.name = "one";
  object.metadata.resource_version = "3";
  object.data["key"] = "value";
  const auto store = NewIndexer();
  ASSERT_TRUE(store->Add(EncodeObject(object)));
  EXPECT_EQ(DecodeObject<api::core::v1::ConfigMap>(*store->Get({"ns", "one"})).value(), object);
  EXPECT_EQ(store->ResourceVersion(), "3");
}

// A model of an Indexer that is as simple as possible.
struct Model {
  std::map<ObjectKey, Object> objects{};

  std::set<ObjectKey> ByWords(const std::vector<std::string>& words) const {
    std::set<ObjectKey> keys;
    for (const auto& [key, object] : objects) {
      const auto has = WordsOf(object);
      if (std::ranges::all_of(words, [&has](const std::string& word) {
            return std::ranges::find(has, word) != has.end();
          })) {
        keys.insert(key);
      }
    }
    return keys;
  }
};

class Driver {
 public:
  explicit Driver(std::uint64_t seed) : random_(seed) {}

  Object AnyObject() {
    static const std::vector<std::string> words{"red", "green", "blue", "big", "small"};
    std::string payload;
    for (const std::string& word : words) {
      if (random_() % 3 == 0) {
        payload += (payload.empty() ? "" : " ") + word;
      }
    }
    return MakeFakeObject({"n" + std::to_string(random_() % 3), std::to_string(random_() % 40)},
                          std::to_string(++version_), payload);
  }

  void Step() {
    switch (random_() % 10) {
      case 0:
        Replace();
        break;
      case 1:
      case 2:
      case 3: {
        const Object object = AnyObject();
        model.objects.erase(object.key);
        ASSERT_TRUE(store->DeleteKey(object.key));
        break;
      }
      case 4:
        // The index is added once, in the middle of the operations.
        if (random_() % 10 == 0 && !indexed) {
          indexed = true;
          ASSERT_TRUE(store->AddIndexers({{"word", WordsOf}}));
        }
        break;
      default: {
        Object object = AnyObject();
        model.objects[object.key] = object;
        ASSERT_TRUE(store->Add(std::move(object)));
      }
    }
  }

  void Check() {
    EXPECT_EQ(store->Size(), model.objects.size());
    for (const Object& object : store->List()) {
      EXPECT_EQ(object.bytes, model.objects[object.key].bytes);
    }
    if (!indexed) {
      return;
    }
    for (const auto& words : std::vector<std::vector<std::string>>{{"red"},
                                                                   {"red", "big"},
                                                                   {"small", "green", "blue"},
                                                                   {"nothing"},
                                                                   {"red", "nothing"}}) {
      IndexTerms terms;
      for (const std::string& word : words) {
        terms.emplace_back("word", word);
      }
      const auto keys = store->KeysByIndex(terms);
      EXPECT_EQ(std::set<ObjectKey>(keys.begin(), keys.end()), model.ByWords(words));
      EXPECT_EQ(keys.size(), store->ByIndex(terms).size());
    }
  }

  Model model{};
  std::unique_ptr<Indexer> store =
      NewIndexer(NamespaceIndexer(), {.dictionary_bytes = 512, .training_objects = 50});
  bool indexed = false;

 private:
  void Replace() {
    model.objects.clear();
    std::vector<Object> all;
    for (std::size_t i = random_() % 60; i > 0; --i) {
      Object object = AnyObject();
      model.objects[object.key] = object;
      all.push_back(std::move(object));
    }
    ASSERT_TRUE(store->Replace(std::move(all), std::to_string(++version_)));
  }

  std::mt19937_64 random_;
  int version_ = 0;
};

TEST(IndexerTest, DoesWhatANaiveModelDoes) {
  const auto first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 20ULL; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Driver driver(seed);
    for (int i = 0; i < 400; ++i) {
      driver.Step();
      if (i % 20 == 0) {
        driver.Check();
      }
    }
    driver.Check();
  }
}

TEST(IndexerTest, WritersReadersAndNewIndexesMeet) {
  const auto store =
      NewIndexer(NamespaceIndexer(), {.dictionary_bytes = 512, .training_objects = 50});
  constexpr int kWriters = 3;
  constexpr int kObjects = 200;
  std::atomic<bool> done = false;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&store, w] {
        for (int i = 0; i < kObjects; ++i) {
          EXPECT_TRUE(store->Add(MakeFakeObject({"n" + std::to_string(w), std::to_string(i)},
                                                std::to_string(i), i % 2 == 0 ? "even" : "odd")));
        }
      });
    }
    const std::jthread reader([&store, &done] {
      while (!done) {
        for (const Object& object : store->ByIndex({{"namespace", "n1"}})) {
          EXPECT_EQ(object.key.namespace_, "n1");
        }
      }
    });
    EXPECT_TRUE(store->AddIndexers({{"word", WordsOf}}));
    EXPECT_TRUE(store->AddIndexers({{"name", IndexByName}}));
    writers.clear();
    done = true;
  }
  EXPECT_EQ(store->KeysByIndex({{"word", "even"}}).size(), kWriters * kObjects / 2U);
  EXPECT_EQ(store->KeysByIndex({{"word", "odd"}, {"name", "7"}}).size(), std::size_t{kWriters});
  EXPECT_EQ(store->Size(), std::size_t{kWriters} * kObjects);
}

TEST(TtlStoreTest, ObjectsExpireSomeTimeAfterTheirLastWrite) {
  base::testing::FakeClock clock;
  const auto store = NewTtlStore({.ttl = seconds(10), .clock = clock});
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "1"}, "1", "x")));
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "2"}, "2", "x")));
  clock.Advance(seconds(6));
  ASSERT_TRUE(store->Update(MakeFakeObject({"a", "2"}, "3", "y")));
  clock.Advance(seconds(4));
  EXPECT_EQ(store->Get({"a", "1"}).error().reason, Reason::kNotFound);
  EXPECT_THAT(store->Keys(), ElementsAre(ObjectKey{"a", "2"}));
  clock.Advance(seconds(6));
  EXPECT_THAT(store->List(), IsEmpty());
  EXPECT_EQ(store->ResourceVersion(), "3");
}

TEST(TtlStoreTest, AReplaceIsAWriteAndADeleteIsForGood) {
  base::testing::FakeClock clock;
  const auto store = NewTtlStore({.ttl = seconds(10), .clock = clock});
  ASSERT_TRUE(store->Add(MakeFakeObject({"a", "old"}, "1", "x")));
  clock.Advance(seconds(9));
  std::vector<Object> all;
  all.push_back(MakeFakeObject({"a", "1"}, "1", "x"));
  all.push_back(MakeFakeObject({"a", "2"}, "1", "x"));
  ASSERT_TRUE(store->Replace(std::move(all), "9"));
  ASSERT_TRUE(store->DeleteKey({"a", "2"}));
  clock.Advance(seconds(9));
  EXPECT_THAT(store->Keys(), ElementsAre(ObjectKey{"a", "1"}));
  clock.Advance(seconds(1));
  EXPECT_EQ(store->Size(), 0U);
}

TEST(TtlStoreTest, ManyWritesOfOneObjectLeaveOne) {
  base::testing::FakeClock clock;
  const auto store = NewTtlStore({.ttl = seconds(10), .clock = clock});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(store->Add(MakeFakeObject({"a", std::to_string(i % 3)}, std::to_string(i), "x")));
  }
  EXPECT_EQ(store->Size(), 3U);
  clock.Advance(seconds(10));
  EXPECT_EQ(store->Size(), 0U);
}

TEST(UndeltaStoreTest, PushesTheWholeStateAfterEachChange) {
  std::vector<std::string> pushed;
  UndeltaStore store([&pushed](const UndeltaStore::State& state) {
    std::string line;
    for (const auto& object : state) {
      line += object->key.name + "@" + object->resource_version + " ";
    }
    pushed.push_back(line);
  });
  std::vector<Object> all;
  all.push_back(MakeFakeObject({"ns", "b"}, "1", "x"));
  all.push_back(MakeFakeObject({"ns", "a"}, "2", "x"));
  ASSERT_TRUE(store.Replace(std::move(all), "2"));
  ASSERT_TRUE(store.Update(MakeFakeObject({"ns", "b"}, "3", "y")));
  ASSERT_TRUE(store.Add(MakeFakeObject({"ns", "c"}, "4", "y")));
  ASSERT_TRUE(store.Delete(MakeFakeObject({"ns", "a"}, "5", "x")));
  store.Bookmark("9");
  EXPECT_THAT(pushed, ElementsAre("a@2 b@1 ", "a@2 b@3 ", "a@2 b@3 c@4 ", "b@3 c@4 "));
  EXPECT_EQ(store.ResourceVersion(), "9");
  EXPECT_EQ(store.Size(), 2U);
  EXPECT_EQ(store.Get({"ns", "b"})->resource_version, "3");
  EXPECT_EQ(store.List().size(), 2U);
  EXPECT_EQ(store.Get({"ns", "a"}).error().reason, Reason::kNotFound);
}

TEST(UndeltaStoreTest, FollowsASourceBehindAReflector) {
  testing::AutoClock clock;
  const auto source = std::make_shared<testing::FakeSource>();
  source->Put({"ns", "a"}, "x");
  base::Mutex mu;
  base::CondVar changed;
  std::size_t objects = 0;
  UndeltaStore store([&](const UndeltaStore::State& state) {
    base::MutexLock lock(mu);
    objects = state.size();
    changed.notify_all();
  });
  Reflector reflector("pods", source, store, {.clock = clock, .seed = 1});
  const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
  source->Put({"ns", "b"}, "x");
  source->Put({"ns", "c"}, "x");
  base::MutexLock lock(mu);
  KX_AWAIT_CHANGE(changed, mu, objects >= 3);
}

TEST(StoreTest, WithoutReadersToTellKeepsItsStateWhenAnItemCannotBeRead) {
  testing::AutoClock clock;
  std::vector<std::unique_ptr<Store>> stores;
  stores.push_back(NewIndexer());
  stores.push_back(NewTtlStore({.ttl = std::chrono::hours(1000000), .clock = clock}));
  stores.push_back(std::make_unique<UndeltaStore>([](const UndeltaStore::State&) {}));
  for (const auto& store : stores) {
    const auto source = std::make_shared<testing::FakeSource>();
    source->Put({"ns", "a"}, "x");
    Reflector reflector("pods", source, *store,
                        {.clock = clock, .seed = 1, .use_watch_list = false});
    const std::jthread thread([&reflector](const std::stop_token& stop) { reflector.Run(stop); });
    source->AwaitCaughtUp();
    ASSERT_EQ(store->Size(), 1U);
    source->FailLists({Reason::kUnavailable, "not now", 503}, 1000000);
    source->BreakWatches({Reason::kExpired, "too old resource version", 410});
    source->Delete({"ns", "a"});
    source->PutUnreadable("it has no name");
    source->Compact();
    const int lists = source->lists();
    source->FailLists({}, 0);
    source->AwaitLists(lists + 4);
    EXPECT_EQ(store->Keys(), std::vector<ObjectKey>({{"ns", "a"}}));
    source->MendUnreadable();
    source->AwaitCaughtUp();
    EXPECT_EQ(store->Size(), 0U);
  }
}

}  // namespace
}  // namespace kubexx::cache
