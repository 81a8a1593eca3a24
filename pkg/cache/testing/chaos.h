/// @file
/// Chaos: makes random changes and faults in a FakeSource.
#ifndef KUBEXX_CACHE_TESTING_CHAOS_H_
#define KUBEXX_CACHE_TESTING_CHAOS_H_

#include <cstdint>
#include <random>

#include "kubexx/cache/testing/fake_source.h"

namespace kubexx::cache::testing {

/// Does what happens in clusters: writes, deletes, dropped and broken watches, 410s, refused
/// requests, lists that break off, bookmarks, and sometimes a restore from a backup. The seed
/// determines the sequence.
class Chaos {
 public:
  Chaos(FakeSource& source, std::uint64_t seed) : source_(source), random_(seed) {}

  /// Makes one random step.
  void Step();
  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      Step();
    }
  }

 private:
  apimachinery::Status AnyError();
  void Fault();

  FakeSource& source_;
  std::mt19937_64 random_;
  FakeSource::Objects backup_{};
  int next_ = 0;
};

}  // namespace kubexx::cache::testing

#endif  // KUBEXX_CACHE_TESTING_CHAOS_H_
