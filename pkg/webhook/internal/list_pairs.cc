#include "kubexx/webhook/internal/list_pairs.h"

#include <algorithm>

namespace kubexx::webhook::internal {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// What a review may cost: about 20 ms and a megabyte.
constexpr std::size_t kMaxCombinations = 1U << 20U;
constexpr std::int64_t kMostAlike = 101;

/// How many of a hundred members are equal.
std::int64_t EqualShare(const ListElement& a, const ListElement& b) {
  std::size_t equal = 0;
  std::size_t all = a.members.size() + b.members.size();
  for (std::size_t i = 0, j = 0; i < a.members.size() && j < b.members.size();) {
    if (a.members[i].first == b.members[j].first) {
      equal += a.members[i].second == b.members[j].second ? 1 : 0;
      --all;  // it was counted twice
      ++i;
      ++j;
    } else {
      ++(a.members[i].first < b.members[j].first ? i : j);
    }
  }
  return all == 0 ? 100 : static_cast<std::int64_t>(100 * equal / all);
}

/// From 1 to kMostAlike for two versions of one thing, 0 for two things.
std::int64_t Likeness(const ListElement& a, const ListElement& b) {
  if (a.type != b.type || a.type == ListElement::Type::kScalar) {
    return 0;
  }
  if (a.type == ListElement::Type::kArray) {
    return 1;
  }
  const std::int64_t share = EqualShare(a, b);
  if (a.name && b.name) {
    return *a.name == *b.name ? 1 + share : 0;
  }
  return share >= 50 ? share : 0;
}

Pairs PairInPlace(std::span<const ListElement> before, std::span<const ListElement> after) {
  Pairs pairs;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].value == after[i].value || (before[i].name && before[i].name == after[i].name)) {
      pairs.emplace_back(i, i);
    }
  }
  return pairs;
}

}  // namespace

Pairs PairLists(std::span<const ListElement> before, std::span<const ListElement> after) {
  const std::size_t rows = before.size();
  const std::size_t columns = after.size();
  if (rows == 0 || columns == 0) {
    return {};
  }
  if (rows > kMaxCombinations / columns) {
    return PairInPlace(before, after);
  }
  // The longest common subsequence with weights. One equal pair outweighs all that are alike:
  // otherwise what only one element has could be carried over to another.
  enum class Step : std::uint8_t { kPair, kSkipBefore, kSkipAfter };
  const std::int64_t equal = (kMostAlike + 1) * static_cast<std::int64_t>(std::min(rows, columns));
  std::vector<Step> steps(rows * columns);
  std::vector<std::int64_t> below(columns + 1);  // the best from the next row on, by column
  std::vector<std::int64_t> best(columns + 1);
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      const std::int64_t weight =
          before[i].value == after[j].value ? equal : Likeness(before[i], after[j]);
      Step step = below[j] >= best[j + 1] ? Step::kSkipBefore : Step::kSkipAfter;
      best[j] = std::max(below[j], best[j + 1]);
      if (weight > 0 && weight + below[j + 1] >= best[j]) {
        step = Step::kPair;
        best[j] = weight + below[j + 1];
      }
      steps[i * columns + j] = step;
    }
    below = best;
  }
  Pairs pairs;
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    const Step step = steps[i * columns + j];
    if (step == Step::kPair) {
      pairs.emplace_back(i, j);
    }
    i += step == Step::kSkipAfter ? 0 : 1;
    j += step == Step::kSkipBefore ? 0 : 1;
  }
  return pairs;
}

}  // namespace kubexx::webhook::internal
