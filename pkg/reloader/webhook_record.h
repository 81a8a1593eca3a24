/// @file
/// What the webhook has been called for.
#ifndef KUBEXX_RELOADER_WEBHOOK_RECORD_H_
#define KUBEXX_RELOADER_WEBHOOK_RECORD_H_

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
#include "kubexx/reloader/source.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

class Fallbacks;

/// The state of each source that the webhook was last called for, or that was found first. As text
/// a line for each, with digests alone: 16 hexadecimal digits of the source's name and 16 of its
/// data. Takes kMaxEntries; sources beyond are called for by events only. Thread-safe.
class WebhookRecord {
 public:
  /// 825 kB of text: an object may have 1 MiB.
  static constexpr std::size_t kMaxEntries = 25'000;

  enum class Finding : std::uint8_t {
    kSame,     ///< called for, or being called for
    kFirst,    ///< nothing was known; it is now
    kChanged,  ///< and not called for
  };

  explicit WebhookRecord(base::Clock& clock) : clock_(clock) {}

  /// Takes the place of what is known; lines that cannot be read are left out.
  void Load(std::string_view text);
  std::string Text() const;
  /// The text when it has changed since the last call.
  std::optional<std::string> TakeChanged();
  /// Keeps the text of TakeChanged for the next call: it could not be stored.
  void PutBack();

  /// A source as it is, which is not called for.
  void Note(const SourceId& source, const Digest& digest);
  void Forget(const SourceId& source);
  /// Compares sources, in their order; when they are `all` that there are, others are forgotten.
  std::vector<Finding> Compare(const std::vector<std::pair<SourceId, Digest>>& sources, bool all);
  /// A call for this state begins; false when one is under way.
  bool Begin(const SourceId& source, const Digest& digest);
  /// It has ended. A failure has ShouldCompare say yes after a minute, doubling up to an hour.
  void End(const SourceId& source, const Digest& digest, bool delivered);
  bool ShouldCompare() const;

 private:
  void SetLocked(std::string source, std::string digest) KX_REQUIRES(mu_);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<std::string, std::string> told_ KX_GUARDED_BY(mu_);
  std::set<std::pair<std::string, std::string>> under_way_ KX_GUARDED_BY(mu_);
  bool changed_ KX_GUARDED_BY(mu_) = false;
  std::optional<base::TimePoint> compare_at_ KX_GUARDED_BY(mu_);
  base::Duration pause_ KX_GUARDED_BY(mu_){};
};

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

#endif  // KUBEXX_RELOADER_WEBHOOK_RECORD_H_
