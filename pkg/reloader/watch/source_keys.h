/// @file
/// Lists of keys: only what a ConfigMap or Secret has under these counts.
#ifndef KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_
#define KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloader/plan/planner.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_absences.h"

namespace kubexx::reloader {

class RolloutGate;

/// Reads a source's data and keeps their digests: what the caches do not have, or not yet.
/// Thread-safe.
class ValueDigestReader {
 public:
  /// Asks the API server; nothing when the source does not exist. May block.
  using Fetch = std::function<apimachinery::Result<std::optional<ValueDigests>>(
      const SourceId&, const std::stop_token&)>;
  /// Sources that are kept; beyond that it begins anew.
  static constexpr std::size_t kMaxSources = 1000;

  explicit ValueDigestReader(Fetch fetch, base::Clock& clock = base::Clock::Real())
      : fetch_(std::move(fetch)), clock_(clock) {}

  /// The digest over `keys` of the data whose digest is `whole`. Asks the server once for each
  /// state of the data. Nothing when the source does not exist any more. Conflict when the server
  /// has other data: whether the source is paused by now, and which keys count, the event that is
  /// on its way will tell.
  apimachinery::Result<std::optional<Digest>> Read(const SourceId& id, const Digest& whole,
                                                   std::string_view keys,
                                                   const std::stop_token& stop);
  /// When what `keys` name of the source, everything when empty, was last written, the digest of
  /// its data being `whole`. Conflict when the server has other data under them. Asks the server
  /// each time.
  apimachinery::Result<std::optional<apimachinery::Time>> WrittenAt(const SourceId& id,
                                                                    const Digest& whole,
                                                                    std::string_view keys,
                                                                    const std::stop_token& stop);
  /// Conflict when the server has other data under `keys` than those whose digest is `whole`, with
  /// kNoSource when it has the source at all. `since`: a resource version; that the server has the
  /// same, which it said later than that, is not asked for again, and that it has others not within
  /// a second.
  apimachinery::Result<void> Compare(const SourceId& id, const Digest& whole, std::string_view keys,
                                     std::uint64_t since, const std::stop_token& stop);

 private:
  /// What the server had at `version`.
  struct Served {
    Digest whole{};
    std::uint64_t version = 0;
    /// Until then other data are refused without asking again.
    base::TimePoint refuses_until{};
  };
  struct Kept {
    ValueDigests data{};
    /// Until then other data are refused without asking again; past when none have been.
    base::TimePoint refuses_until{};
  };
  /// As far as is known.
  bool HasSame(const SourceId& id, const Digest& whole, std::string_view keys,
               const ValueDigests& data);

  const Fetch fetch_;
  base::Clock& clock_;
  base::Mutex mu_;
  std::map<SourceId, Kept> kept_ KX_GUARDED_BY(mu_);
  std::map<SourceId, Served> served_ KX_GUARDED_BY(mu_);
};

/// Sources as plans see them: by their listed keys where there is a list. For one plan; refers to
/// what it is given.
class KeyedSources final : public DigestsOver {
 public:
  /// `gate` and `reader` may be null: no lists of policies, no lists at all; `absences` too: what
  /// the caches do not have does not exist.
  KeyedSources(const Caches& caches, RolloutGate* gate, ValueDigestReader* reader,
               const std::stop_token& stop, SourceAbsences* absences = nullptr)
      : caches_(caches), gate_(gate), reader_(reader), stop_(stop), absences_(absences) {}

  /// The source; nothing when there is none; Source::unknown when that cannot be told, or only
  /// that it is not watched.
  std::optional<Source> Get(const SourceId& id);
  std::optional<Digest> Over(const SourceId& id, std::string_view keys) override;
  /// Of what counts of it.
  std::optional<apimachinery::Time> WrittenAt(const SourceId& id) override;
  /// Compares what counts of sources with what the API server has, later than `since`, a resource
  /// version; a difference is a failure(), and so is no answer. Where the server may not be asked,
  /// or its answer cannot be read, there are the caches alone. `taken`: the digests of all their
  /// data that a plan went by.
  void Compare(const std::map<SourceId, Digest>& taken, std::uint64_t since);
  /// What went wrong: the plan that was made is not worth anything then.
  const std::optional<apimachinery::Status>& failure() const { return failure_; }

 private:
  /// Which keys count.
  std::string KeysOf(const Source& source) const;
  /// Of one that the caches do not have.
  bool IsUnknown(const SourceId& id);

  const Caches& caches_;
  RolloutGate* const gate_;
  ValueDigestReader* const reader_;
  const std::stop_token& stop_;
  SourceAbsences* const absences_;
  std::optional<apimachinery::Status> failure_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_SOURCE_KEYS_H_
