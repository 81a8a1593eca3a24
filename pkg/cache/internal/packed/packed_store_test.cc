#include "kubexx/cache/internal/packed/packed_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/thread_time.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/testing/recorder.h"
#include "kubexx/logging/testing/capture.h"

namespace kubexx::cache {
namespace {

using apimachinery::ObjectKey;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Object MakeFake(const ObjectKey& key, const std::string& version, const std::string& payload) {
  return {.encoding = codec::Encoding::kJson,
          .bytes = testing::FakeJson(key, version, payload),
          .key = key,
          .resource_version = version};
}

EntryRef Put(PackedStore& store, const Object& object) {
  auto entry = store.Pack(object);
  EXPECT_TRUE(entry.has_value());
  return store.Put(std::move(*entry));
}

std::string BytesAt(const PackedStore& store, const ObjectKey& key) {
  const EntryRef entry = store.Find(key);
  return entry ? store.Unpack(*entry).value().bytes : "";
}

TEST(PackedStoreTest, GivesBackWhatWasPut) {
  PackedStore store;
  const Object object = MakeFake({"ns", "a"}, "5", "payload");
  EXPECT_FALSE(Put(store, object));
  const auto read = store.Unpack(*store.Find(object.key));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->bytes, object.bytes);
  EXPECT_EQ(read->key, object.key);
  EXPECT_EQ(read->resource_version, "5");
  EXPECT_EQ(read->encoding, codec::Encoding::kJson);
  EXPECT_EQ(store.resource_version(), "5");
}

TEST(PackedStoreTest, PutAndRemoveReturnTheStateBefore) {
  PackedStore store;
  Put(store, MakeFake({"ns", "a"}, "5", "x"));
  EXPECT_EQ(Put(store, MakeFake({"ns", "a"}, "6", "y"))->resource_version(), "5");
  EXPECT_EQ(store.Remove({"ns", "a"})->resource_version(), "6");
  EXPECT_FALSE(store.Remove({"ns", "a"}));
  EXPECT_EQ(store.size(), 0U);
}

TEST(PackedStoreTest, IndexesFollowChanges) {
  PackedStore store;
  (void)store.AddIndexer([](const Object& object) {
    return IndexTerms{{"namespace", object.key.namespace_}, {"version", object.resource_version}};
  });
  Put(store, MakeFake({"n1", "a"}, "5", "x"));
  Put(store, MakeFake({"n1", "b"}, "5", "x"));
  Put(store, MakeFake({"n2", "a"}, "6", "x"));
  EXPECT_THAT(store.KeysByIndex("namespace", "n1"),
              UnorderedElementsAre(ObjectKey{"n1", "a"}, ObjectKey{"n1", "b"}));
  Put(store, MakeFake({"n1", "a"}, "7", "x"));
  EXPECT_THAT(store.KeysByIndex("version", "5"), ElementsAre(ObjectKey{"n1", "b"}));
  store.Remove({"n1", "b"});
  EXPECT_THAT(store.KeysByIndex("version", "5"), IsEmpty());
  EntryTable table;
  table.Insert(*store.Pack(MakeFake({"n3", "c"}, "8", "x")));
  const EntryTable old = store.Swap(std::move(table), "9");
  EXPECT_EQ(old.size(), 2U);
  EXPECT_THAT(store.KeysByIndex("namespace", "n1"), IsEmpty());
  EXPECT_THAT(store.KeysByIndex("namespace", "n3"), ElementsAre(ObjectKey{"n3", "c"}));
  EXPECT_EQ(store.resource_version(), "9");
}

TEST(PackedStoreTest, AnIndexIsMadeBatchByBatch) {
  constexpr std::size_t kObjects = 1000;
  PackedStore store;
  for (std::size_t i = 0; i < kObjects; ++i) {
    Put(store, MakeFake({"n", std::to_string(i)}, "5", "x"));
  }
  std::vector<EntryRef> old = store.Entries();
  std::size_t calls = 0;
  std::size_t replaced = 0;
  (void)store.AddIndexers({{"late", [&](const Object&) {
                              if (++calls == kObjects) {
                                replaced = static_cast<std::size_t>(
                                    std::ranges::count_if(old, [&store](const EntryRef& entry) {
                                      return store.Find(entry->key()) != entry;
                                    }));
                                EXPECT_TRUE(store.KeysByIndex("late", "yes").empty());
                              }
                              return std::vector<std::string>{"yes"};
                            }}});
  EXPECT_GE(replaced, kObjects * 9 / 10) << "nearly all were in memory twice";
  EXPECT_EQ(store.CountByIndex("late", "yes"), kObjects);
}

// When an object has more than a few terms, its old and new terms are compared in another way.
TEST(PackedStoreTest, AnObjectMayHaveMoreTermsThanAreComparedOneByOne) {
  PackedStore store;
  (void)store.AddIndexers({{"many", [](const Object& object) {
                              std::vector<std::string> values;
                              for (int i = 0; i < 60000; ++i) {
                                const std::string number = std::to_string(i);
                                values.push_back(i % 2 == 0 ? number
                                                            : object.resource_version + number);
                              }
                              return values;
                            }}});
  Put(store, MakeFake({"n", "a"}, "5", "x"));
  Put(store, MakeFake({"n", "a"}, "6", "x"));
  EXPECT_EQ(store.CountByIndex("many", "51"), 0U);
  EXPECT_EQ(store.CountByIndex("many", "61"), 1U);
  EXPECT_EQ(store.CountByIndex("many", "659999"), 1U);
  EXPECT_EQ(store.CountByIndex("many", "559999"), 0U);
  EXPECT_EQ(store.CountByIndex("many", "2"), 1U);
  EXPECT_EQ(store.CountByIndex("many", "59998"), 1U);
}

TEST(PackedStoreTest, AnIndexerThatThrowsGivesNoTerms) {
  PackedStore store;
  ASSERT_TRUE(
      store.AddIndexer([](const Object&) -> IndexTerms { throw std::runtime_error("bad"); }));
  Put(store, MakeFake({"n", "a"}, "1", "x"));
  EXPECT_EQ(store.size(), 1U);
}

TEST(PackedStoreTest, AFaultyIndexerDoesNotFillTheLog) {
  const logging::testing::Capture log;
  PackedStore store;
  ASSERT_TRUE(
      store.AddIndexer([](const Object&) -> IndexTerms { throw std::runtime_error("bad"); }));
  ASSERT_TRUE(store.AddIndexers(
      {{"long", [](const Object&) { return std::vector{std::string(70'000, 'x')}; }}}));
  for (int i = 0; i < 100; ++i) {
    Put(store, MakeFake({"n", std::to_string(i)}, "1", "x"));
  }
  // The log takes five messages a minute for each index, and the minute may end during the test.
  EXPECT_GE(log.Count("An indexer threw"), 5U);
  EXPECT_LE(log.Count("An indexer threw"), 10U);
  EXPECT_GE(log.Count("left out of an index"), 5U);
  EXPECT_LE(log.Count("left out of an index"), 10U);
}

TEST(PackedStoreTest, AFaultyIndexerTellsWhichAndWhy) {
  const logging::testing::Capture log;
  PackedStore store;
  ASSERT_TRUE(store.AddIndexers({{"node", [](const Object&) {
                                    return apimachinery::Result<std::vector<std::string>>(
                                               apimachinery::Fail(apimachinery::Reason::kMalformed,
                                                                  "spec.size: expected a string"))
                                        .value();
                                  }}}));
  Put(store, MakeFake({"n", "a"}, "1", "x"));
  EXPECT_EQ(log.Count("index=node key=n/a"), 1U);
  EXPECT_EQ(log.Count("Malformed: spec.size: expected a string"), 1U);
}

TEST(PackedStoreTest, AnExceptionWithoutATextIsOneToo) {
  const logging::testing::Capture log;
  PackedStore store;
  ASSERT_TRUE(store.AddIndexer([](const Object&) -> IndexTerms { throw std::runtime_error(""); }));
  Put(store, MakeFake({"n", "a"}, "1", "x"));
  EXPECT_EQ(log.Count("An indexer threw"), 1U);
}

TEST(PackedStoreTest, EarlyEntriesArePackedAgainOnceThereIsADictionary) {
  PackedStore store({.packer = {.dictionary_bytes = 1024, .training_objects = 100}});
  ASSERT_TRUE(
      store.AddIndexer([](const Object& object) { return IndexTerms{{"name", object.key.name}}; }));
  const std::string common(200, 'c');
  for (int i = 0; i < 400; ++i) {
    Put(store, MakeFake({"ns", std::to_string(i)}, "1",
                        "common text of every object " + common + std::to_string(i * 7919)));
  }
  for (const EntryRef& entry : store.Entries()) {
    EXPECT_EQ(entry->dictionary(), 1) << entry->name();
  }
  EXPECT_EQ(store.size(), 400U);
  EXPECT_THAT(BytesAt(store, {"ns", "3"}), ::testing::HasSubstr(std::to_string(3 * 7919)));
  EXPECT_THAT(store.KeysByIndex("name", "3"), ElementsAre(ObjectKey{"ns", "3"}));
}

TEST(PackedStoreTest, OldEntriesFollowANewDictionaryBitByBit) {
  PackedStore store({.packer = {.dictionary_bytes = 1024,
                                .training_objects = 100,
                                .drift_window = 200,
                                .drift_factor = 1.2}});
  std::mt19937_64 random(7);
  // There are a hundred words, so that a dictionary saves much.
  std::vector<std::string> words;
  for (int i = 0; i < 100; ++i) {
    words.push_back("word" + std::to_string(random()) + " ");
  }
  const auto text = [&](std::size_t first) {
    std::string out;
    for (std::size_t i = 0; i < 20; ++i) {
      out += words[first + random() % 50];
    }
    return out;
  };
  for (int i = 0; i < 300; ++i) {
    Put(store, MakeFake({"old", std::to_string(i)}, "1", text(0)));
  }
  std::map<std::string, std::string> old;
  for (const EntryRef& entry : store.EntriesIn("old")) {
    old[std::string(entry->name())] = store.Unpack(*entry)->bytes;
    EXPECT_EQ(entry->dictionary(), 1);
  }
  const std::size_t before_drift = store.bytes();
  for (int i = 0; i < 2000; ++i) {
    Put(store, MakeFake({"new", std::to_string(i % 300)}, "2", text(50)));
  }
  EXPECT_LT(store.bytes(), before_drift * 3);
  for (const EntryRef& entry : store.EntriesIn("new")) {
    EXPECT_GT(entry->dictionary(), 1) << entry->name();
  }
  for (const EntryRef& entry : store.EntriesIn("old")) {
    EXPECT_EQ(store.Unpack(*entry)->bytes, old[std::string(entry->name())]);
  }
}

TEST(PackedStoreTest, ANamespaceIsReplacedAlone) {
  for (const bool indexed : {false, true}) {
    PackedStore store({.version_per_namespace = true});
    if (indexed) {
      ASSERT_TRUE(store.AddIndexers(NamespaceIndexer()));
    }
    EXPECT_EQ(store.resource_version(), "");
    const auto table_of = [&store](const std::vector<Object>& objects) {
      EntryTable table;
      for (const Object& object : objects) {
        table.Insert(*store.Pack(object));
      }
      return table;
    };
    store.SwapNamespace(
        "a", table_of({MakeFake({"a", "1"}, "1", "x"), MakeFake({"a", "2"}, "2", "x")}), "10");
    store.SwapNamespace("b", table_of({MakeFake({"b", "1"}, "3", "x")}), "9");
    const EntryTable old =
        store.SwapNamespace("a", table_of({MakeFake({"a", "2"}, "4", "y")}), "12");
    EXPECT_EQ(old.size(), 2U);
    EXPECT_THAT(store.Keys(), UnorderedElementsAre(ObjectKey{"a", "2"}, ObjectKey{"b", "1"}));
    EXPECT_EQ(store.EntriesIn("a").size(), 1U);
    EXPECT_EQ(store.resource_version("a"), "12");
    EXPECT_EQ(store.resource_version(), "9") << "the oldest of all";
    store.SetResourceVersion("b", "100");
    EXPECT_EQ(store.resource_version(), "12");
  }
}

TEST(PackedStoreTest, SmallObjectsCostLittle) {
  PackedStore store;
  constexpr std::size_t kObjects = 5000;
  for (std::size_t i = 0; i < kObjects; ++i) {
    const Object object = MakeFake({"namespace-1", "object-" + std::to_string(i)},
                                   std::to_string(100000 + i), std::to_string(i * 7919));
    ASSERT_GT(object.bytes.size(), 100U);
    Put(store, object);
  }
  // The allocator adds at most 16 bytes to an entry's one allocation.
  EXPECT_LT(store.bytes() / kObjects + 16, 250U);
}

// When two threads add indexes, the first one must not regard work as done that the second one has
// to do again.
TEST(PackedStoreTest, AnIndexIsWholeWhenItsCallReturnsThoughAnotherOneIsBeingAdded) {
  PackedStore store;
  constexpr std::size_t kObjects = 200;
  for (std::size_t i = 0; i < kObjects; ++i) {
    Put(store, MakeFake({"ns", "o" + std::to_string(i)}, "5", "x"));
  }
  testing::Gate first_began;
  testing::Gate second_began;
  testing::Gate first_returned;
  std::thread::id second_thread;
  std::atomic<bool> met = false;
  std::jthread second([&] {
    second_thread = std::this_thread::get_id();
    first_began.Wait();
    EXPECT_TRUE(store.AddIndexers({{"owner", [&](const Object&) {
                                      if (std::this_thread::get_id() == second_thread) {
                                        second_began.Open();
                                        first_returned.Wait();
                                      }
                                      return std::vector<std::string>{"o"};
                                    }}}));
  });
  EXPECT_TRUE(store.AddIndexers({{"node", [&](const Object&) {
                                    if (!met.exchange(true)) {
                                      first_began.Open();
                                      second_began.Wait();
                                    }
                                    return std::vector<std::string>{"n"};
                                  }}}));
  EXPECT_EQ(store.EntriesByIndex({{"node", "n"}}).size(), kObjects);
  EXPECT_EQ(store.CountByIndex("node", "n"), kObjects);
  first_returned.Open();
  second.join();
  EXPECT_EQ(store.EntriesByIndex({{"node", "n"}, {"owner", "o"}}).size(), kObjects);
}

/// A store with objects of two namespaces, to which a thread adds an index. The thread stops at the
/// last object until Finish.
class HalfIndexedStore : public ::testing::Test {
 protected:
  static constexpr std::size_t kObjects = 200;

  HalfIndexedStore() {
    for (std::size_t i = 0; i < kObjects; ++i) {
      Put(store_, MakeFake({i % 2 == 0 ? "a" : "b", "o" + std::to_string(i)}, "5", "x"));
    }
  }
  void Add(std::function<void(PackedStore&, std::function<void()> hang)> add) {
    adder_ = std::jthread([this, add = std::move(add)] {
      add(store_, [this] {
        if (calls_++ == kObjects - 1) {
          hangs_.Open();
          may_finish_.Wait();
        }
      });
    });
    hangs_.Wait();
  }
  void Finish() {
    may_finish_.Open();
    adder_.join();
  }

  PackedStore store_{{.version_per_namespace = true}};

 private:
  std::atomic<std::size_t> calls_ = 0;
  testing::Gate hangs_;
  testing::Gate may_finish_;
  std::jthread adder_;
};

TEST_F(HalfIndexedStore, AnIndexIsNotThereForReadersBeforeItIsWhole) {
  Add([](PackedStore& store, const std::function<void()>& hang) {
    EXPECT_TRUE(store.AddIndexers({{std::string(kNamespaceIndex), [hang](const Object& object) {
                                      hang();
                                      return std::vector<std::string>{object.key.namespace_};
                                    }}}));
  });
  EXPECT_EQ(store_.EntriesIn("a").size(), kObjects / 2) << "without the index";
  // An object that comes meanwhile has the index's terms, but the index does not have all objects
  // yet.
  Put(store_, MakeFake({"a", "late"}, "6", "x"));
  const IndexTerms in_a{{std::string(kNamespaceIndex), "a"}};
  EXPECT_THAT(store_.KeysByIndex(in_a), IsEmpty());
  EXPECT_THAT(store_.KeysByIndex(kNamespaceIndex, "a"), IsEmpty());
  EXPECT_EQ(store_.CountByIndex(kNamespaceIndex, "a"), 0U);
  EXPECT_THAT(store_.IndexValues(kNamespaceIndex), IsEmpty());
  EXPECT_EQ(store_.EntriesIn("a").size(), kObjects / 2 + 1);
  Finish();
  EXPECT_EQ(store_.KeysByIndex(in_a).size(), kObjects / 2 + 1);
  EXPECT_EQ(store_.EntriesIn("a").size(), kObjects / 2 + 1);
  EXPECT_THAT(store_.IndexValues(kNamespaceIndex), UnorderedElementsAre("a", "b"));
}

TEST_F(HalfIndexedStore, ANamespaceIsReplacedInWholeWhileItsIndexIsAdded) {
  Add([](PackedStore& store, const std::function<void()>& hang) {
    EXPECT_TRUE(store.AddIndexers({{std::string(kNamespaceIndex), [hang](const Object& object) {
                                      hang();
                                      return std::vector<std::string>{object.key.namespace_};
                                    }}}));
  });
  EntryTable table;
  table.Insert(*store_.Pack(MakeFake({"a", "new"}, "7", "x")));
  EXPECT_EQ(store_.SwapNamespace("a", std::move(table), "7").size(), kObjects / 2);
  EXPECT_EQ(store_.size(), kObjects / 2 + 1);
  Finish();
  EXPECT_THAT(store_.KeysByIndex(kNamespaceIndex, "a"), ElementsAre(ObjectKey{"a", "new"}));
}

TEST_F(HalfIndexedStore, WhoIsToldThatAnIndexExistsFindsItWhole) {
  const Indexers same = {{"node", [](const Object&) { return std::vector<std::string>{"n"}; }}};
  Add([](PackedStore& store, const std::function<void()>& hang) {
    EXPECT_TRUE(store.AddIndexers({{"node", [hang](const Object&) {
                                      hang();
                                      return std::vector<std::string>{"n"};
                                    }}}));
  });
  EXPECT_EQ(store_.AddIndexers(same).error().reason, apimachinery::Reason::kAlreadyExists);
  EXPECT_EQ(store_.CountByIndex("node", "n"), kObjects) << "though the first caller hangs";
  Finish();
  EXPECT_EQ(store_.CountByIndex("node", "n"), kObjects);
}

TEST_F(HalfIndexedStore, ANameThatOlderFunctionsReturnIsThereForReaders) {
  ASSERT_TRUE(store_.AddIndexer([](const Object& object) {
    return object.key.name == "late" ? IndexTerms{{"kind", "late"}} : IndexTerms{};
  }));
  Add([](PackedStore& store, const std::function<void()>& hang) {
    EXPECT_TRUE(store.AddIndexer([hang](const Object& object) {
      hang();
      return object.key.name == "late" ? IndexTerms{} : IndexTerms{{"size", "small"}};
    }));
  });
  Put(store_, MakeFake({"a", "late"}, "6", "x"));
  EXPECT_EQ(store_.CountByIndex("kind", "late"), 1U) << "of the function that is not new";
  EXPECT_EQ(store_.CountByIndex("size", "small"), 0U);
  Finish();
  EXPECT_EQ(store_.CountByIndex("size", "small"), kObjects);
}

}  // namespace
}  // namespace kubexx::cache
