/// @file
/// Numbers that are given out, each to one at a time.
#ifndef KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_
#define KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_

#include <cstdint>
#include <optional>
#include <set>

namespace kubexx::apiserver {

/// A range of numbers, of which it knows those that are taken: it costs memory for these only. Not
/// thread-safe.
class NumberPool {
 public:
  /// From `first` to `last`; the `low` first of them are for who names one, and given out when the
  /// others are gone.
  NumberPool(std::uint64_t first, std::uint64_t last, std::uint64_t low);

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }
  bool Contains(std::uint64_t number) const { return number >= first_ && number <= last_; }
  bool IsTaken(std::uint64_t number) const { return taken_.contains(number); }

  /// False when it is taken, or is not of the range.
  bool Take(std::uint64_t number);
  /// The free one that `random` leads to; none when all are taken.
  std::optional<std::uint64_t> TakeAny(std::uint64_t random);
  /// Of what is not taken, nothing happens.
  void GiveBack(std::uint64_t number) { taken_.erase(number); }
  void Clear() { taken_.clear(); }

 private:
  /// The first free number from `start` on, `from` after `to`.
  std::optional<std::uint64_t> FreeAt(std::uint64_t from, std::uint64_t to,
                                      std::uint64_t start) const;

  std::uint64_t first_;
  std::uint64_t last_;
  std::uint64_t low_;
  std::set<std::uint64_t> taken_{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_SERVICES_NUMBER_POOL_H_
