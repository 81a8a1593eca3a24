#include "kubexx/webhook/internal/list_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kubexx::webhook::internal {
namespace {

/// Does the steps to a list whose elements are their indices; those of the list after are `new_`
/// and their index.
std::vector<std::string> Do(std::size_t before, const std::vector<ListStep>& steps) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < before; ++i) {
    list.push_back("old" + std::to_string(i));
  }
  for (const ListStep& step : steps) {
    const auto at = static_cast<std::ptrdiff_t>(step.index);
    const std::string made = "new" + std::to_string(step.element);
    switch (step.kind) {
      case ListStep::Kind::kRemove:
        list.erase(list.begin() + at);
        break;
      case ListStep::Kind::kReplace:
        list.at(step.index) = made;
        break;
      case ListStep::Kind::kAdd:
        list.insert(list.begin() + at, made);
        break;
      case ListStep::Kind::kMove: {
        const std::string moved = list.at(step.from);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(step.from));
        list.insert(list.begin() + at, moved);
        break;
      }
    }
  }
  return list;
}

TEST(ListStepsTest, AnyPairsComeOutInTheirPlaces) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t before = random() % 9;
    const std::size_t after = random() % 9;
    std::vector<std::size_t> from(before);
    std::vector<std::size_t> to(after);
    std::iota(from.begin(), from.end(), 0U);
    std::iota(to.begin(), to.end(), 0U);
    std::ranges::shuffle(from, random);
    std::ranges::shuffle(to, random);
    ListPairs pairs;
    std::vector<std::string> expected;
    for (std::size_t j = 0; j < after; ++j) {
      expected.push_back("new" + std::to_string(j));
    }
    for (std::size_t n = random() % (std::min(before, after) + 1); n-- > 0;) {
      pairs.emplace_back(from[n], to[n]);
      expected[to[n]] = "old" + std::to_string(from[n]);
    }
    std::ranges::sort(pairs);
    EXPECT_EQ(Do(before, ListSteps(before, after, pairs)), expected) << "round " << round;
  }
}

TEST(ListStepsTest, MovesAsFewAsPossible) {
  const std::vector<ListStep> one = {{.kind = ListStep::Kind::kMove, .index = 4, .from = 0}};
  EXPECT_EQ(ListSteps(5, 5, {{0, 4}, {1, 0}, {2, 1}, {3, 2}, {4, 3}}), one);
  EXPECT_TRUE(ListSteps(2, 2, {{0, 0}, {1, 1}}).empty());
  EXPECT_TRUE(ListSteps(0, 0, {}).empty());
}

TEST(ListStepsTest, WhatGoesAndWhatComesInOnePlaceIsReplaced) {
  const std::vector<ListStep> steps = {{.kind = ListStep::Kind::kReplace, .index = 0, .element = 0},
                                       {.kind = ListStep::Kind::kRemove, .index = 2},
                                       {.kind = ListStep::Kind::kRemove, .index = 1}};
  EXPECT_EQ(ListSteps(4, 2, {{3, 1}}), steps);
}

}  // namespace
}  // namespace kubexx::webhook::internal
