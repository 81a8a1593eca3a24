/// @file
/// What pods report about the SecretProviderClasses that they mount.
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

/// Stores the states of all classes. The present digest of a class is that of the newest change
/// that any pod has reported. Pods that start later begin with it or with something newer, so their
/// digests count as equally new; older states belong to pods that have not been updated yet.
/// Creating and deleting pods changes nothing by itself, so neither a rollout nor a node that is
/// drained causes another rollout. Keeps a few dozen bytes for each class that was ever reported,
/// until Forget. Thread-safe.
class ProviderClasses {
 public:
  /// The most digests that are kept of one class.
  static constexpr std::size_t kMaxDigests = 16;

  /// Takes a report into account. Returns whether the result of Get has changed.
  bool Observe(const PodReport& report);
  /// The class was deleted.
  void Forget(const SourceId& id);
  /// Returns the class without its annotations; std::nullopt when no pod has reported it. Pods that
  /// began after Source::resource_version have what the newest change was to, or something newer.
  std::optional<Source> Get(const SourceId& id) const;
  /// The names of all classes that pods in the namespace have reported.
  std::vector<std::string> Names(std::string_view namespace_) const;

 private:
  struct Seen {
    Digest digest{};
    bool updated = false;
    bool operator==(const Seen&) const = default;
  };
  /// Keyed by resource version. The first entry is the newest change, unless nothing has changed
  /// yet.
  using History = std::map<std::uint64_t, Seen>;
  static std::vector<Seen> States(const History& history);

  mutable base::Mutex mu_;
  std::map<SourceId, History> classes_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_PROVIDER_CLASSES_H_
