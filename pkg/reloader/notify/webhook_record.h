/// @file
/// Records for which states of sources the webhook has been called.
#ifndef KUBEXX_RELOADER_NOTIFY_WEBHOOK_RECORD_H_
#define KUBEXX_RELOADER_NOTIFY_WEBHOOK_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

class Fallbacks;

/// A source and its state at some moment.
struct SourceState {
  SourceId id{};
  Digest digest{};
  /// The resource version; later states have higher ones. 0: not known.
  std::uint64_t version = 0;
};

/// Contains for each source the state that the webhook was last called for, or that was found
/// first. As text it has one line per source with digests only: 16 hexadecimal digits of the
/// source's name and 16 of its data. The first four for an object of a described kind are of the
/// kind and its SourceKind::Mark: under other fields it is another source, since digests under
/// these do not compare. While a call is under way the latter are zeros. Stores at most
/// kMaxEntries sources; for further sources only events cause calls.
///
/// Events and comparisons of all sources may arrive in any order. A state that one of them has
/// called for is not called for by the other, and older states are ignored. Thread-safe.
class WebhookRecord {
 public:
  /// 825 kB of text; an object may have 1 MiB.
  static constexpr std::size_t kMaxEntries = 25'000;

  enum class Finding : std::uint8_t {
    kSame,  ///< the webhook has been, or is being, called for this state
    /// Nothing was known of the source; its state is known now, until an event contradicts it.
    kFirst,
    kChanged,  ///< the webhook has not been called for this state
  };
  /// Numbers the periods in which this process keeps the record without interruption.
  using Tenure = std::uint64_t;

  explicit WebhookRecord(base::Clock& clock) : clock_(clock) {}

  /// Replaces what is known by `text`, except for what events of this tenure have reported. Skips
  /// lines that cannot be read.
  void Load(std::string_view text, Tenure tenure = 0);
  std::string Text() const;
  /// Returns the text if it has changed since the last call; std::nullopt otherwise.
  std::optional<std::string> TakeChanged();
  /// The text of TakeChanged could not be stored: the next TakeChanged returns a text again.
  void PutBack();

  /// Stores the state of a source for which the webhook is not called.
  void Note(const SourceState& source, Tenure tenure = 0);
  /// A change for which the webhook could not be called: the next comparison finds it.
  void Owe(const SourceState& source);
  /// The source was deleted at this resource version.
  void Forget(const SourceId& source, std::uint64_t version);
  /// The resource versions of the source start anew, because the API server's store was restored
  /// from a backup.
  void Rewind(const SourceId& source);
  /// A number that is smaller than those of all entries stored later.
  std::uint64_t Mark() const;
  /// Compares sources, and returns the findings in the same order. If there is a `mark`, `sources`
  /// are all that existed at that mark, but for those of the types in `unlisted`, which are
  /// described kinds: other entries that are not newer are removed.
  std::vector<Finding> Compare(const std::vector<SourceState>& sources,
                               std::optional<std::uint64_t> mark,
                               const std::set<SourceType>& unlisted = {});
  /// Begins a call for this state. Returns false when a call for it is under way, or the webhook
  /// has been called for it or for a later state.
  bool Begin(const SourceState& source, Tenure tenure = 0);
  /// The call has ended. After a failure ShouldCompare returns true after a minute, then after two
  /// and so on up to an hour.
  void End(const SourceState& source, Tenure tenure, bool delivered);
  /// Whether it is time to compare all sources because a call has failed.
  bool ShouldCompare() const;

 private:
  struct Entry {
    std::string digest{};
    std::uint64_t version = 0;       ///< the latest in an event or a call
    std::optional<Tenure> tenure{};  ///< the tenure of that event or call
    std::uint64_t mark = 0;          ///< see Mark
  };

  void SetLocked(const std::string& source, Entry entry) KX_REQUIRES(mu_);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<std::string, Entry> told_ KX_GUARDED_BY(mu_);
  std::multiset<std::pair<std::string, std::string>> under_way_ KX_GUARDED_BY(mu_);
  std::uint64_t mark_ KX_GUARDED_BY(mu_) = 0;
  bool changed_ KX_GUARDED_BY(mu_) = false;
  std::optional<base::TimePoint> compare_at_ KX_GUARDED_BY(mu_);
  base::Duration pause_ KX_GUARDED_BY(mu_){};
};

/// The name of the ConfigMap in which a record outlives the process.
inline constexpr char kWebhookRecordName[] = "kubexx-reloader-webhook";

/// Stores the record outside the process. Both functions block; they may be empty.
struct WebhookStore {
  /// The ConfigMap that contains the record. It does not count as a source.
  apimachinery::ObjectKey own{};
  /// Returns the text; empty when there is none.
  std::function<apimachinery::Result<std::string>(const std::stop_token&)> load{};
  std::function<apimachinery::Result<void>(const std::string& text, const std::stop_token&)> save{};
};

/// Stores the record in the ConfigMap kubexx-reloader-webhook in `namespace_`. Needs the rights to
/// get, update and create it. `fallbacks`, if not null, counts the writes that are refused.
WebhookStore NewWebhookStore(const std::shared_ptr<rest::RESTClient>& client,
                             const std::string& namespace_,
                             std::shared_ptr<const Fallbacks> fallbacks = nullptr);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_WEBHOOK_RECORD_H_
