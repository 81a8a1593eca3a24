/// @file
/// What keeps creates and the deletion of what they create in apart.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// A create looks whether its namespace or its definition is being deleted, and then writes.
/// Whoever deletes marks first, waits here for the creates in that place that may not have seen the
/// mark, and then removes what there is: nothing is made after that. It knows the creates of this
/// process only. Thread-safe.
class CreationGate {
 public:
  /// Where objects are made: of a resource, by the prefix of their keys, or in a namespace. Of a
  /// place to look at one may be "", and stands for all.
  struct Place {
    std::string prefix{};
    std::string namespace_{};
  };

  /// A create that is under way; must not outlive the gate. Nothing but the storage is waited for
  /// meanwhile.
  class Pass {
   public:
    Pass(CreationGate& gate, Place place);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    CreationGate& gate_;
    const std::uint64_t ticket_;
  };

  /// Custom resources, by the prefixes of their keys, that objects may be made of; no others from
  /// now on.
  void SetOpen(std::set<std::string, std::less<>> prefixes);
  bool IsOpen(std::string_view prefix) const;

  /// Returns when all creates in the place that are under way at the call have ended; kCancelled.
  apimachinery::Result<void> AwaitEarlier(const Place& place, base::Clock& clock,
                                          const std::stop_token& stop);
  /// Whether there is none.
  bool IsQuiet(const Place& place) const;

 private:
  /// Whether one that has a smaller ticket is under way in the place.
  bool AnyBefore(std::uint64_t ticket, const Place& place) const KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  base::CondVar ended_;
  std::uint64_t next_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::uint64_t, Place> under_way_ KX_GUARDED_BY(mu_);  // by their tickets
  std::set<std::string, std::less<>> open_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_
