/// @file
/// Numbers that follow from a seed.
#ifndef KUBEXX_TEST_ORACLE_RANDOM_H_
#define KUBEXX_TEST_ORACLE_RANDOM_H_

#include <cstdint>

namespace kubexx::oracle {

/// A sequence of numbers that a seed determines, the same on every machine: SplitMix64, which is
/// fast and needs no state beyond one word. Not thread-safe.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From 0 to `n` - 1; `n` is at least 1.
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }
  /// True in `per_mille` of a thousand cases.
  bool Chance(std::uint64_t per_mille) { return Below(1000) < per_mille; }
  /// From `low` to `high`, both included.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(high - low + 1)));
  }
  /// A sequence of its own, so that more numbers taken here change nothing there.
  Random Fork() { return Random(Next()); }

 private:
  std::uint64_t state_;
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_RANDOM_H_
