#include "kubexx/cache/internal/packed/select_entries.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/cache/internal/packed/label_index.h"

namespace kubexx::cache {
namespace {

using apimachinery::FieldSelector;
using apimachinery::LabelSelector;
using apimachinery::Selection;

Object Labelled(const std::string& label) {
  return {.encoding = codec::Encoding::kJson,
          .bytes = R"({"metadata":{"namespace":"n","name":"mover","labels":{"app":")" + label +
                   R"("}}})",
          .key = {"n", "mover"},
          .resource_version = "1"};
}

TEST(SelectEntriesTest, AnObjectThatMovesBetweenTheValuesOfASetIsThereOnce) {
  PackedStore store;
  ASSERT_TRUE(store.AddIndexers(LabelIndexer()));
  std::string values = "v0";
  for (int i = 1; i < 100; ++i) {
    values += ",v" + std::to_string(i);
  }
  const Selection selection{.labels = LabelSelector::Parse("app in (" + values + ")").value()};
  const std::vector<EntryRef> states{store.Pack(Labelled("v0")).value(),
                                     store.Pack(Labelled("v99")).value()};
  store.Put(states[0]);
  constexpr int kMoves = 50000;
  std::atomic<bool> over = false;
  std::jthread mover([&] {
    for (int i = 1; i < kMoves; ++i) {
      store.Put(states[static_cast<std::size_t>(i % 2)]);
    }
    over = true;
  });
  int missed = 0;
  int twice = 0;
  while (!over) {
    const auto selected = SelectEntries(store, selection, true);
    ASSERT_TRUE(selected);
    missed += selected->matching.empty() ? 1 : 0;
    twice += selected->matching.size() > 1 ? 1 : 0;
  }
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(twice, 0);
}

}  // namespace
}  // namespace kubexx::cache
