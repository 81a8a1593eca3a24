#include "kubexx/apiserver/endpoints/services/number_pool.h"

#include <algorithm>

namespace kubexx::apiserver {

NumberPool::NumberPool(std::uint64_t first, std::uint64_t last, std::uint64_t low)
    : first_(first), last_(last), low_(std::min(low, last - first)) {}

bool NumberPool::Take(std::uint64_t number) {
  return Contains(number) && taken_.insert(number).second;
}

std::optional<std::uint64_t> NumberPool::FreeAt(std::uint64_t from, std::uint64_t to,
                                                std::uint64_t start) const {
  const auto free_in = [this](std::uint64_t begin,
                              std::uint64_t end) -> std::optional<std::uint64_t> {
    std::uint64_t number = begin;
    for (auto it = taken_.lower_bound(begin); it != taken_.end() && *it == number; ++it, ++number) {
      if (number == end) {
        return std::nullopt;
      }
    }
    return number;
  };
  const auto found = free_in(start, to);
  return found || start == from ? found : free_in(from, start - 1);
}

std::optional<std::uint64_t> NumberPool::TakeAny(std::uint64_t random) {
  const std::uint64_t upper = first_ + low_;
  const std::uint64_t count = last_ - upper + 1;
  auto found = FreeAt(upper, last_, upper + random % count);
  if (!found && low_ > 0) {
    found = FreeAt(first_, upper - 1, first_ + random % low_);
  }
  if (found) {
    taken_.insert(*found);
  }
  return found;
}

}  // namespace kubexx::apiserver
