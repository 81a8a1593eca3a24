/// @file
/// What the webhook has been called for.
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

/// A source as it was at some moment.
struct SourceState {
  SourceId id{};
  Digest digest{};
  /// The resource version, of which later states have greater ones; zero when it is not known.
  std::uint64_t version = 0;
};

/// The state of each source that the webhook was last called for, or that was found first. As text
/// a line for each, with digests alone: 16 hexadecimal digits of the source's name and 16 of its
/// data; zeros from the begin of a call until it has been delivered. Takes kMaxEntries; sources
/// beyond are called for by events only.
///
/// Events and comparisons of all sources come in any order: of a state that one of them has called
/// for the other does not, and what is older than that is no news. Thread-safe.
class WebhookRecord {
 public:
  /// 825 kB of text: an object may have 1 MiB.
  static constexpr std::size_t kMaxEntries = 25'000;

  enum class Finding : std::uint8_t {
    kSame,     ///< called for, or being called for
    kFirst,    ///< nothing was known; it is now, until an event of that state says otherwise
    kChanged,  ///< and not called for
  };
  /// The time for which this process keeps the record without a break.
  using Tenure = std::uint64_t;

  explicit WebhookRecord(base::Clock& clock) : clock_(clock) {}

  /// Takes the place of what is known, but for what events of this tenure have told; lines that
  /// cannot be read are left out.
  void Load(std::string_view text, Tenure tenure = 0);
  std::string Text() const;
  /// The text when it has changed since the last call.
  std::optional<std::string> TakeChanged();
  /// Keeps the text of TakeChanged for the next call: it could not be stored.
  void PutBack();

  /// A source as it is, which is not called for.
  void Note(const SourceState& source, Tenure tenure = 0);
  /// A change that could not be called for: the next comparison finds it.
  void Owe(const SourceState& source);
  /// The source went at this version.
  void Forget(const SourceId& source, std::uint64_t version);
  /// The versions of the source begin anew: its store has been restored.
  void Rewind(const SourceId& source);
  /// What is noted from now on is later than this.
  std::uint64_t Mark() const;
  /// Compares sources, in their order. With a mark they are all that there were then: others that
  /// were known then are forgotten.
  std::vector<Finding> Compare(const std::vector<SourceState>& sources,
                               std::optional<std::uint64_t> mark);
  /// A call for this state begins; false when one is under way, or one for it or a later state has
  /// been made.
  bool Begin(const SourceState& source, Tenure tenure = 0);
  /// It has ended. A failure has ShouldCompare say yes after a minute, doubling up to an hour.
  void End(const SourceState& source, Tenure tenure, bool delivered);
  bool ShouldCompare() const;

 private:
  struct Entry {
    std::string digest{};
    std::uint64_t version = 0;       ///< the latest that an event, or a call, was about
    std::optional<Tenure> tenure{};  ///< in which that was
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

/// The ConfigMap that a record outlives the process in.
inline constexpr char kWebhookRecordName[] = "kubexx-reloader-webhook";

/// Where a record outlives the process. Both block; empty functions: nowhere.
struct WebhookStore {
  /// The ConfigMap that it is in, which is itself no source.
  apimachinery::ObjectKey own{};
  /// The text; empty when there is none.
  std::function<apimachinery::Result<std::string>(const std::stop_token&)> load{};
  std::function<apimachinery::Result<void>(const std::string& text, const std::stop_token&)> save{};
};

/// The ConfigMap kubexx-reloader-webhook in `namespace_`. Needs get and update of it, and create.
/// What is refused is counted by `fallbacks`, unless that is null.
WebhookStore NewWebhookStore(const std::shared_ptr<rest::RESTClient>& client,
                             const std::string& namespace_,
                             std::shared_ptr<const Fallbacks> fallbacks = nullptr);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_WEBHOOK_RECORD_H_
