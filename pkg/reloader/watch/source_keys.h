/// @file
/// Lists of keys: only the values under these keys of a ConfigMap or Secret count.
#ifndef KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_
#define KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloader/model/workload.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::reloader {

class RolloutGate;

/// Reads a source's data from the API server and keeps their digests, when the caches do not have
/// them or not yet. Thread-safe.
class ValueDigestReader {
 public:
  /// Reads the data from the API server. When the source does not exist: std::nullopt, or
  /// ValueDigests with kNoSource as `whole` that say when it was read. May block.
  using Fetch = std::function<apimachinery::Result<std::optional<ValueDigests>>(
      const SourceId&, const std::stop_token&)>;
  /// The most sources that are kept; beyond that all of them are dropped.
  static constexpr std::size_t kMaxSources = 1000;
  /// The most sources whose answers to Compare are kept; beyond that the oldest answer is dropped.
  static constexpr std::size_t kMaxCompared = 10'000;
  /// For so long the server is not asked again about data that it has contradicted: many workloads
  /// may wait for one source; and it may change back, or be restored, unheard of.
  static constexpr base::Duration kRefuses = std::chrono::seconds(1);

  explicit ValueDigestReader(Fetch fetch, base::Clock& clock = base::Clock::Real())
      : fetch_(std::move(fetch)), clock_(clock) {}

  /// The digest over `keys` of those data whose digest is `whole`. Asks the server once for each
  /// state of the data. Returns std::nullopt when the source no longer exists. Fails with kConflict
  /// when the server has other data: then an event is on its way, which also tells whether the
  /// source is paused and which keys count.
  apimachinery::Result<std::optional<Digest>> Read(const SourceId& id, const Digest& whole,
                                                   std::string_view keys,
                                                   const std::stop_token& stop);
  /// When the values under `keys` (all values when it is empty) were last written, provided that
  /// the source's data have the digest `whole`. Fails with kConflict when the server has other data
  /// under these keys. Asks the server each time.
  apimachinery::Result<std::optional<apimachinery::Time>> WrittenAt(const SourceId& id,
                                                                    const Digest& whole,
                                                                    std::string_view keys,
                                                                    const std::stop_token& stop);
  /// Fails with kConflict when the server's data under `keys` differ from those with the digest
  /// `whole`; with kNoSource, when the server has the source at all. `since` is a resource version:
  /// a confirmation that the server gave at that version or later is used again without asking, a
  /// contradiction only for kRefuses.
  apimachinery::Result<void> Compare(const SourceId& id, const Digest& whole, std::string_view keys,
                                     std::uint64_t since, const std::stop_token& stop);

 private:
  /// What the server had at resource version `version`, and the last question about it.
  struct Served {
    Digest whole{};  ///< kNoSource: it did not have the source
    std::uint64_t version = 0;
    /// Until this time other data are rejected without asking again.
    base::TimePoint refuses_until{};
    Digest asked{};
    std::string keys{};
    bool is_same = false;  ///< what `asked` and the server had under `keys`
    /// Whether these data are the same under these keys; std::nullopt when the server must be
    /// asked.
    std::optional<bool> Answer(const Digest& data, std::string_view under,
                               base::TimePoint now) const;
  };
  struct Kept {
    ValueDigests data{};
    /// Until this time other data are rejected without asking again; in the past when none have
    /// been rejected.
    base::TimePoint refuses_until{};
  };
  /// Whether the data are those with the digest `whole`, as far as is known.
  bool HasSame(const SourceId& id, const Digest& whole, std::string_view keys,
               const ValueDigests& data);
  void KeepServed(const SourceId& id, Served served);

  const Fetch fetch_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::map<SourceId, Kept> kept_ KX_GUARDED_BY(mu_);
  std::map<SourceId, Served> served_ KX_GUARDED_BY(mu_);
};

/// The sources as a plan sees them: where a list of keys exists, with the digest over these keys.
/// Used for one plan; keeps references to its arguments.
///
/// One source that cannot be read must not hold up the others: when the API server denies the
/// request, or sends data that cannot be decoded, the source becomes unknown (Source::unknown).
/// Other errors are not about one source, and fail the plan.
class KeyedSources final : public DigestsOver {
 public:
  /// What to do about a source whose data in the caches are older than the API server's.
  enum class Behind : std::uint8_t {
    kAwait,     ///< fail: the event that is on its way has the workload planned anew
    kLeaveOut,  ///< as for a source that cannot be read
  };
  /// `gate`, `reader` and `absences` may be null. Without `gate` no policy's list counts, and
  /// without `reader` no list at all. Without `absences` a source that the caches do not have
  /// counts as not existing.
  KeyedSources(const Caches& caches, RolloutGate* gate, ValueDigestReader* reader,
               const std::stop_token& stop, SourceAbsences* absences = nullptr,
               Behind behind = Behind::kAwait)
      : caches_(caches),
        gate_(gate),
        reader_(reader),
        stop_(stop),
        absences_(absences),
        behind_(behind) {}

  /// Makes only the keys count that `workload` uses, where the gate says so. Keeps a reference to
  /// the workload.
  void LookFor(const Workload& workload);
  /// Makes these sources count as they would be after a change, whatever the caches have of them.
  /// Keeps a reference.
  void Pretend(const ChangedSources& changed) { changed_ = &changed; }
  /// Returns the source; std::nullopt when it does not exist. Sets Source::unknown when that cannot
  /// be determined, or when it is only known that the source exists and is not watched.
  std::optional<Source> Get(const SourceId& id);
  std::optional<Digest> Over(const SourceId& id, std::string_view keys) override;
  /// Applies to the keys of the source that count. Has no answer when the server may not be asked,
  /// or its answer cannot be read.
  std::optional<apimachinery::Time> WrittenAt(const SourceId& id) override;
  std::uint64_t SeenUpTo(const SourceId& id) override;
  bool IsLeftOut(const SourceId& id) override;
  /// Compares the keys that count with the API server's data at `since`, a resource version, or
  /// later. Sets failure() when they differ (see Behind) or the server does not answer. Relies on
  /// the caches alone when the server may not be asked, or its answer cannot be read. `taken`: the
  /// digests of all data of each source that the plan used.
  void Compare(const std::map<SourceId, Digest>& taken, std::uint64_t since);
  /// What went wrong. If set, the plan must not be used.
  const std::optional<apimachinery::Status>& failure() const { return failure_; }
  /// Whether a source has become unknown that the plan has used, so that it must be made anew.
  /// Returns true once for each such source at most.
  bool TakeNews();
  /// Why sources are unknown that may become known again; std::nullopt when there are none.
  const std::optional<apimachinery::Status>& left_out() const { return why_left_out_; }

 private:
  /// The source as the change makes it; null when it does not change.
  const ChangedSource* Changed(const SourceId& id) const;
  /// The source with all its data; std::nullopt when it is not known.
  std::optional<Source> Present(const SourceId& id) const;
  /// The keys of the source that count.
  std::string KeysOf(const Source& source) const;
  /// Whether nothing can be said about a source that the caches do not have.
  bool IsUnknown(const SourceId& id);
  /// Makes the source unknown, or the plan fail.
  void Fail(const SourceId& id, const apimachinery::Status& status);

  const Caches& caches_;
  RolloutGate* const gate_;
  ValueDigestReader* const reader_;
  const std::stop_token& stop_;
  SourceAbsences* const absences_;
  const Behind behind_;
  const ChangedSources* changed_ = nullptr;
  const UsedKeys* used_ = nullptr;  ///< of the workload, where only these count
  std::optional<apimachinery::Status> failure_;
  std::set<SourceId> left_out_;
  std::optional<apimachinery::Status> why_left_out_;
  bool has_news_ = false;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_
