#include "kubexx/webhook/internal/list_pairs.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>

namespace kubexx::webhook::internal {
namespace {

constexpr std::int64_t kMostAlike = 101;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

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

std::uint64_t MembersIn(std::span<const ListElement> elements) {
  std::uint64_t members = 0;
  for (const ListElement& each : elements) {
    members += each.members.size();
  }
  return members;
}

class Pairing {
 public:
  Pairing(std::span<const ListElement> before, std::span<const ListElement> after)
      : before_(before), after_(after), partners_(before.size(), kNone), taken_(after.size()) {
    // Where there are as many equal ones after as before, they are where it has gone or come from.
    std::unordered_map<std::uint32_t, std::int64_t> surplus;
    for (const ListElement& each : before) {
      ++surplus[each.value];
    }
    for (const ListElement& each : after) {
      --surplus[each.value];
    }
    for (const ListElement& each : before) {
      may_have_changed_.push_back(surplus[each.value] > 0);
    }
    for (const ListElement& each : after) {
      may_be_changed_.push_back(surplus[each.value] < 0);
    }
  }

  void Pair(PatchBudget& budget) {
    const std::size_t shorter = std::min(before_.size(), after_.size());
    std::size_t head = 0;
    while (head < shorter && before_[head].value == after_[head].value) {
      Take(head, head);
      ++head;
    }
    std::size_t before_end = before_.size();
    std::size_t after_end = after_.size();
    while (before_end > head && after_end > head &&
           before_[before_end - 1].value == after_[after_end - 1].value) {
      Take(--before_end, --after_end);
    }
    PairInPlace(head, before_end, after_end, budget);
    PairEqual();
    PairNamed();
  }

  ListPairs Finish() const {
    ListPairs pairs;
    for (std::size_t i = 0; i < partners_.size(); ++i) {
      if (partners_[i] != kNone) {
        pairs.emplace_back(i, partners_[i]);
      }
    }
    return pairs;
  }

 private:
  void Take(std::size_t i, std::size_t j) {
    partners_[i] = j;
    taken_[j] = true;
  }

  std::int64_t Weight(std::size_t i, std::size_t j, std::int64_t equal) const {
    if (before_[i].value == after_[j].value) {
      return equal;
    }
    return may_have_changed_[i] && may_be_changed_[j] ? Likeness(before_[i], after_[j]) : 0;
  }

  /// The longest common subsequence with weights. One equal pair outweighs all that are alike:
  /// otherwise what only one element has could be carried over to another.
  void PairInPlace(std::size_t begin, std::size_t before_end, std::size_t after_end,
                   PatchBudget& budget) {
    const auto before = before_.subspan(begin, before_end - begin);
    const auto after = after_.subspan(begin, after_end - begin);
    const std::size_t rows = before.size();
    const std::size_t columns = after.size();
    if (rows == 0 || columns == 0 ||
        !budget.Spend(2 * rows * columns + columns * MembersIn(before) + rows * MembersIn(after))) {
      return;
    }
    enum class Step : std::uint8_t { kPair, kSkipBefore, kSkipAfter };
    const std::int64_t equal =
        (kMostAlike + 1) * static_cast<std::int64_t>(std::min(rows, columns));
    std::vector<Step> steps(rows * columns);
    std::vector<std::int64_t> below(columns + 1);  // the best from the next row on, by column
    std::vector<std::int64_t> best(columns + 1);
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = columns; j-- > 0;) {
        const std::int64_t weight = Weight(begin + i, begin + j, equal);
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
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      const Step step = steps[i * columns + j];
      if (step == Step::kPair) {
        Take(begin + i, begin + j);
      }
      i += step == Step::kSkipAfter ? 0 : 1;
      j += step == Step::kSkipBefore ? 0 : 1;
    }
  }

  void PairEqual() {
    std::unordered_map<std::uint32_t, std::deque<std::size_t>> free;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (partners_[i] == kNone) {
        free[before_[i].value].push_back(i);
      }
    }
    for (std::size_t j = 0; j < after_.size(); ++j) {
      const auto found = taken_[j] ? free.end() : free.find(after_[j].value);
      if (found != free.end() && !found->second.empty()) {
        Take(found->second.front(), j);
        found->second.pop_front();
      }
    }
  }

  void PairNamed() {
    const auto before = UniqueNames(before_);
    for (const auto& [name, j] : UniqueNames(after_)) {
      const auto found = before.find(name);
      if (found != before.end() && j != kNone && !taken_[j] && found->second != kNone &&
          partners_[found->second] == kNone) {
        Take(found->second, j);
      }
    }
  }

  /// Where the one element of each name is; kNone for a name of several.
  static std::unordered_map<std::uint32_t, std::size_t> UniqueNames(
      std::span<const ListElement> elements) {
    std::unordered_map<std::uint32_t, std::size_t> names;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i].name) {
        const auto [at, is_new] = names.try_emplace(*elements[i].name, i);
        at->second = is_new ? i : kNone;
      }
    }
    return names;
  }

  const std::span<const ListElement> before_;
  const std::span<const ListElement> after_;
  std::vector<bool> may_have_changed_;  // of before
  std::vector<bool> may_be_changed_;    // of after
  std::vector<std::size_t> partners_;   // in after, of each in before
  std::vector<bool> taken_;             // in after
};

}  // namespace

ListPairs PairLists(std::span<const ListElement> before, std::span<const ListElement> after,
                    PatchBudget& budget) {
  Pairing pairing(before, after);
  pairing.Pair(budget);
  return pairing.Finish();
}

}  // namespace kubexx::webhook::internal
