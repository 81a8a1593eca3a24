#include "kubexx/webhook/internal/list_steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace kubexx::webhook::internal {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

/// The longest part of the pairs that ascends in both numbers: those need not be moved.
ListPairs LongestAscent(const ListPairs& pairs) {
  std::vector<std::size_t> ends;  // of the best ascent of each length: an index of `pairs`
  std::vector<std::size_t> previous(pairs.size(), kNobody);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto place = std::ranges::lower_bound(
        ends, pairs[i].second, {}, [&pairs](std::size_t at) { return pairs[at].second; });
    if (place != ends.begin()) {
      previous[i] = *(place - 1);
    }
    if (place == ends.end()) {
      ends.push_back(i);
    } else {
      *place = i;
    }
  }
  ListPairs ascent;
  for (std::size_t i = ends.empty() ? kNobody : ends.back(); i != kNobody; i = previous[i]) {
    ascent.push_back(pairs[i]);
  }
  std::ranges::reverse(ascent);
  return ascent;
}

/// Which of a row of slots are in use, and how many before each: a Fenwick tree.
class Slots {
 public:
  explicit Slots(std::size_t n) : counts_(n + 1) {}
  void Use(std::size_t slot) { Change(slot, 1); }
  void Free(std::size_t slot) { Change(slot, -1); }
  std::size_t IndexOf(std::size_t slot) const {
    std::int64_t sum = 0;
    for (std::size_t i = slot; i > 0; i &= i - 1) {
      sum += counts_[i];
    }
    return static_cast<std::size_t>(sum);
  }

 private:
  void Change(std::size_t slot, std::int64_t by) {
    for (std::size_t i = slot + 1; i < counts_.size(); i += i & (~i + 1)) {
      counts_[i] += by;
    }
  }

  std::vector<std::int64_t> counts_;
};

/// The slots are the places of all elements, those that come included, in an order that holds from
/// the first step to the last: whichever of them are in use, what is in them is in order.
class StepMaker {
 public:
  StepMaker(std::size_t before, std::size_t after, const ListPairs& pairs)
      : to_after_(before, kNobody), to_before_(after, kNobody), stays_(LongestAscent(pairs)) {
    for (const auto& [i, j] : pairs) {
      to_after_[i] = j;
      to_before_[j] = i;
    }
    stays_.emplace_back(before, after);
    FindReplaced();
    NumberSlots();
  }

  std::vector<ListStep> Make() {
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [stay_before, stay_after] : stays_) {
      MakeBetween(i, stay_before, j, stay_after);
      i = stay_before + 1;
      j = stay_after + 1;
    }
    return std::move(steps_);
  }

 private:
  /// In one gap between elements that stay, what goes and what is new take turns.
  void FindReplaced() {
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [stay_before, stay_after] : stays_) {
      while (true) {
        while (i < stay_before && to_after_[i] != kNobody) {
          ++i;
        }
        while (j < stay_after && to_before_[j] != kNobody) {
          ++j;
        }
        if (i >= stay_before || j >= stay_after) {
          break;
        }
        replaced_.emplace_back(i++, j++);
      }
      i = stay_before + 1;
      j = stay_after + 1;
    }
  }

  void NumberSlots() {
    before_slots_.resize(to_after_.size());
    after_slots_.resize(to_before_.size());
    ListPairs fixed;  // they keep their slots; the last one is the end of both lists
    std::ranges::merge(stays_, replaced_, std::back_inserter(fixed));
    std::size_t slot = 0;
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [fixed_before, fixed_after] : fixed) {
      while (i < fixed_before) {
        before_slots_[i++] = slot++;
      }
      while (j < fixed_after) {
        after_slots_[j++] = slot++;
      }
      if (i < to_after_.size()) {
        before_slots_[i++] = slot;
        after_slots_[j++] = slot++;
      }
    }
    slots_ = Slots(slot);
    for (const std::size_t used : before_slots_) {
      slots_.Use(used);
    }
  }

  void MakeBetween(std::size_t before_begin, std::size_t before_end, std::size_t after_begin,
                   std::size_t after_end) {
    const std::size_t first_replaced = next_replaced_;
    for (; next_replaced_ < replaced_.size() && replaced_[next_replaced_].first < before_end;
         ++next_replaced_) {
      const auto& [i, j] = replaced_[next_replaced_];
      steps_.push_back({.kind = ListStep::Kind::kReplace,
                        .index = slots_.IndexOf(before_slots_[i]),
                        .element = j});
    }
    // From the end, so that readers see the indices of the list before.
    std::size_t replaced = next_replaced_;
    for (std::size_t i = before_end; i-- > before_begin;) {
      if (replaced > first_replaced && replaced_[replaced - 1].first == i) {
        --replaced;
      } else if (to_after_[i] == kNobody) {
        steps_.push_back({.index = slots_.IndexOf(before_slots_[i])});
        slots_.Free(before_slots_[i]);
      }
    }
    for (std::size_t j = after_begin; j < after_end; ++j) {
      if (replaced < next_replaced_ && replaced_[replaced].second == j) {
        ++replaced;
        continue;
      }
      ListStep step{.kind = ListStep::Kind::kAdd, .element = j};
      if (const std::size_t i = to_before_[j]; i != kNobody) {
        step = {.kind = ListStep::Kind::kMove, .from = slots_.IndexOf(before_slots_[i])};
        slots_.Free(before_slots_[i]);
      }
      step.index = slots_.IndexOf(after_slots_[j]);
      slots_.Use(after_slots_[j]);
      if (step.kind != ListStep::Kind::kMove || step.index != step.from) {
        steps_.push_back(step);
      }
    }
  }

  std::vector<std::size_t> to_after_;
  std::vector<std::size_t> to_before_;
  ListPairs stays_;     // and the ends of both lists
  ListPairs replaced_;  // ascending in both
  std::vector<std::size_t> before_slots_;
  std::vector<std::size_t> after_slots_;
  Slots slots_{0};
  std::size_t next_replaced_ = 0;
  std::vector<ListStep> steps_;
};

}  // namespace

std::vector<ListStep> ListSteps(std::size_t before, std::size_t after, const ListPairs& pairs) {
  return StepMaker(before, after, pairs).Make();
}

}  // namespace kubexx::webhook::internal
