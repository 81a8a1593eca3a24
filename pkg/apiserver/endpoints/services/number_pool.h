/// @file
/// A pool of numbers, each of which has one holder at most.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_

#include <cstdint>
#include <optional>
#include <set>

namespace kubexx::apiserver {

/// A range of numbers with the set of those that are taken. It needs memory only for taken numbers.
/// Not thread-safe.
class NumberPool {
 public:
  /// The numbers from `first` to `last`. TakeAny gives out the first `low` of them only when all
  /// others are taken, so that callers of Take find them free.
  NumberPool(std::uint64_t first, std::uint64_t last, std::uint64_t low);

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }
  bool Contains(std::uint64_t number) const { return number >= first_ && number <= last_; }
  bool IsTaken(std::uint64_t number) const { return taken_.contains(number); }

  /// Takes `number`. Returns false when it is taken already or outside the range.
  bool Take(std::uint64_t number);
  /// Takes a free number, which depends on `random`. Returns std::nullopt when all are taken.
  std::optional<std::uint64_t> TakeAny(std::uint64_t random);
  /// Gives a number back. Does nothing when it is not taken.
  void GiveBack(std::uint64_t number) { taken_.erase(number); }
  void Clear() { taken_.clear(); }

 private:
  /// The first free number from `start` on. After `to` the search continues at `from`.
  std::optional<std::uint64_t> FreeAt(std::uint64_t from, std::uint64_t to,
                                      std::uint64_t start) const;

  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t low_;
  std::set<std::uint64_t> taken_{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_
