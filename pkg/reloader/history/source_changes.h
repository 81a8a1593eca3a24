/// @file
/// Stores which keys of sources have changed, and who changed them.
#ifndef KUBEXX_RELOADER_HISTORY_SOURCE_CHANGES_H_
#define KUBEXX_RELOADER_HISTORY_SOURCE_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/history/key_change.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/source_trace.h"

namespace kubexx::reloader {

/// One change, or several in a row, of the data of a source.
struct SourceChange {
  Digest before{};  ///< of all data; kNoSource: the source did not exist
  Digest now{};
  /// std::nullopt: not known.
  std::optional<KeyChanges> keys{};
  /// Who made the last change; std::nullopt: not known.
  std::optional<DataWriter> writer{};
  apimachinery::Time seen{};  ///< when the operator saw the first change
  bool operator==(const SourceChange&) const = default;
};

/// The change between two states of a source; null: it did not exist then. `seen`: the present
/// time.
SourceChange ChangeBetween(SourceType type, const Digest& before, const SourceTrace* before_trace,
                           const Digest& now, const SourceTrace* now_trace,
                           apimachinery::Time seen);

/// The latest changes of sources, in the order of their events. Thread-safe.
class SourceChanges {
 public:
  /// The most changes that are kept of one source, and the most sources. Beyond that the earliest
  /// change, or the source that has not changed for longest, is dropped.
  static constexpr std::size_t kMaxChanges = 8;
  static constexpr std::size_t kMaxSources = 2000;
  /// The most memory, in bytes, for the keys that have changed: as much as three changed keys in
  /// each of these changes take. Beyond that the keys of the source that has not changed for
  /// longest are forgotten, and only them: its changes, and who made them, stay known.
  static constexpr std::size_t kMaxKeyBytes = std::size_t{8} << 20;

  void Add(const SourceId& source, SourceChange change);
  /// What a workload has not had yet of the source, whose data now have the digest `now`, as one
  /// change; std::nullopt when nothing is known of the change to `now`. `had`: the digest of all
  /// data that the workload runs with; std::nullopt: not known. Then the changes count that were
  /// seen at `after` or later. The keys are not known when an earlier change is missing.
  std::optional<SourceChange> Since(const SourceId& source, const Digest& now,
                                    const std::optional<Digest>& had,
                                    const std::optional<apimachinery::Time>& after) const;
  /// About how much memory the keys take, in bytes.
  std::size_t key_bytes() const;

 private:
  struct Changes {
    std::deque<SourceChange> list{};
    std::size_t key_bytes = 0;
    std::uint64_t turn = 0;  ///< grows with each change of any source
  };
  using Sources = std::map<SourceId, Changes>;

  void EraseLocked(Sources::iterator source) KX_REQUIRES(mu_);
  /// Forgets the keys of sources until the others have room; of `but` at last.
  void FitLocked(const SourceId& but) KX_REQUIRES(mu_);
  void ForgetKeysLocked(Changes& changes) KX_REQUIRES(mu_);

  mutable base::Mutex mu_;
  Sources sources_ KX_GUARDED_BY(mu_);
  std::size_t key_bytes_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t turn_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HISTORY_SOURCE_CHANGES_H_
