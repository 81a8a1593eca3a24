/// @file
/// What pods report of the SecretProviderClasses that they mount.
#ifndef KUBEXX_RELOADER_WATCH_PROVIDER_CLASSES_H_
#define KUBEXX_RELOADER_WATCH_PROVIDER_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// The states of all classes. A class is at the digest of the newest change that some pod has
/// reported, and pods that come later begin with it or with something newer: their digests are as
/// good. States that are older are of pods that have not been told yet. Pods that come and go
/// change nothing by themselves, so that neither a rollout nor a node that drains rolls anything.
/// Keeps a few dozen bytes for each class that was ever reported, until Forget. Thread-safe.
class ProviderClasses {
 public:
  /// Digests kept of one class.
  static constexpr std::size_t kMaxDigests = 16;

  /// Takes a report into account; whether Get says something else than before.
  bool Observe(const PodReport& report);
  /// The class does not exist any more.
  void Forget(const SourceId& id);
  /// Nothing when no pod has reported it. Without the annotations of the class.
  std::optional<Source> Get(const SourceId& id) const;
  /// Names of all classes that pods of the namespace have reported.
  std::vector<std::string> Names(std::string_view namespace_) const;

 private:
  struct Seen {
    Digest digest{};
    bool updated = false;
    bool operator==(const Seen&) const = default;
  };
  /// By version. The first is the newest change, unless nothing has changed yet.
  using History = std::map<std::uint64_t, Seen>;
  static std::vector<Seen> States(const History& history);

  mutable base::Mutex mu_;
  std::map<SourceId, History> classes_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_PROVIDER_CLASSES_H_
