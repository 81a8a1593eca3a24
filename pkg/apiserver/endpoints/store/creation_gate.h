/// @file
/// Coordinates creates with the deletion of the namespace or definition in which they create
/// objects.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// A create first checks whether its namespace or its definition is being deleted, and then writes.
/// A deletion first marks the namespace or definition, then waits here for the creates in that
/// place that may not have seen the mark, and then deletes the objects. So no object is created
/// after that. It knows only the creates of this process. Thread-safe.
class CreationGate {
 public:
  /// Where objects are created: of a resource (by the prefix of its keys) and in a namespace. In an
  /// argument of AwaitEarlier or IsQuiet, a member may be "" and stands for all.
  struct Place {
    std::string prefix{};
    std::string namespace_{};
  };

  /// A running create. Must not outlive the gate. While a pass exists, its owner must wait for
  /// nothing but the storage.
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

  /// Sets the custom resources of which objects may be created from now on: the prefixes of their
  /// keys, with the uids of their definitions.
  void SetOpen(std::map<std::string, std::string, std::less<>> definitions);
  /// Whether objects may be created by the definition with this uid. One that was made anew has
  /// another uid: what a request has checked by the former definition may not suit it.
  bool IsOpen(std::string_view prefix, std::string_view uid) const;

  /// Returns when all creates in the place that were running at the call have ended. Returns
  /// kCancelled when `stop` is requested.
  apimachinery::Result<void> AwaitEarlier(const Place& place, base::Clock& clock,
                                          const std::stop_token& stop);
  /// Whether no create is running in the place.
  bool IsQuiet(const Place& place) const;

 private:
  /// Whether a create with a smaller ticket is running in the place.
  bool AnyBefore(std::uint64_t ticket, const Place& place) const KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  base::CondVar ended_;
  std::uint64_t next_ KX_GUARDED_BY(mu_) = 0;
  std::map<std::uint64_t, Place> under_way_ KX_GUARDED_BY(mu_);  // by their tickets
  std::map<std::string, std::string, std::less<>> open_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_CREATION_GATE_H_
