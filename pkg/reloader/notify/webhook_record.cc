#include "kubexx/reloader/notify/webhook_record.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Fail;
using apimachinery::Result;

constexpr std::size_t kDigits = 16;
constexpr base::Duration kFirstCompare = std::chrono::minutes(1);
constexpr base::Duration kLastCompare = std::chrono::hours(1);
constexpr char kObjectKey[] = "told";

std::string Short(const Digest& digest) { return digest.ToString().substr(0, kDigits); }

/// How the names of a described kind's objects begin.
std::string KindDigest(const KnownSourceKind& kind) {
  constexpr std::size_t kOfKind = 4;
  return Short(DigestOf(kind.described.resource + "/" + kind.mark)).substr(0, kOfKind);
}

std::string NameDigest(const SourceId& source) {
  const std::string name =
      Short(DigestOf(std::string(NamesOf(source.type).plural) + "/" + source.key.ToString()));
  const KnownSourceKind* kind = DescribedBy(source.type);
  return kind == nullptr ? name : (KindDigest(*kind) + name).substr(0, kDigits);
}

/// Stands for the digest of a state for which the webhook has not been called yet.
constexpr std::string_view kOwed = "0000000000000000";
static_assert(kOwed.size() == kDigits);

/// Whether a version is certainly older than another.
bool IsOlder(std::uint64_t version, std::uint64_t other) { return version != 0 && version < other; }

bool IsHex(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

void WebhookRecord::Load(std::string_view text, Tenure tenure) {
  const base::MutexLock lock(mu_);
  std::map<std::string, Entry> before = std::exchange(told_, {});
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view source = line.substr(0, kDigits);
    const std::string_view digest = line.substr(source.size());
    if (IsHex(source) && IsHex(digest)) {
      SetLocked(std::string(source), {.digest = std::string(digest)});
    }
  }
  changed_ = false;
  for (auto& [source, entry] : before) {
    if (entry.tenure == tenure) {
      SetLocked(source, std::move(entry));
    }
  }
}

std::string WebhookRecord::Text() const {
  const base::MutexLock lock(mu_);
  std::string text;
  text.reserve(told_.size() * (2 * kDigits + 1));
  for (const auto& [source, entry] : told_) {
    text += source + entry.digest + "\n";
  }
  return text;
}

std::optional<std::string> WebhookRecord::TakeChanged() {
  {
    const base::MutexLock lock(mu_);
    if (!changed_) {
      return std::nullopt;
    }
    changed_ = false;
  }
  return Text();
}

void WebhookRecord::PutBack() {
  const base::MutexLock lock(mu_);
  changed_ = true;
}

void WebhookRecord::SetLocked(const std::string& source, Entry entry) {
  auto found = told_.find(source);
  if (found == told_.end()) {
    if (told_.size() >= kMaxEntries) {
      return;
    }
    found = told_.emplace(source, Entry{}).first;
  }
  changed_ = changed_ || found->second.digest != entry.digest;
  entry.mark = ++mark_;
  found->second = std::move(entry);
}

void WebhookRecord::Note(const SourceState& source, Tenure tenure) {
  const std::string name = NameDigest(source.id);
  const base::MutexLock lock(mu_);
  const auto found = told_.find(name);
  if (found == told_.end() || found->second.version <= source.version) {
    SetLocked(name, {.digest = Short(source.digest), .version = source.version, .tenure = tenure});
  }
}

void WebhookRecord::Owe(const SourceState& source) {
  const std::string name = NameDigest(source.id);
  const base::MutexLock lock(mu_);
  const auto found = told_.find(name);
  if (found == told_.end() || found->second.version < source.version) {
    SetLocked(name, {.digest = std::string(kOwed), .version = source.version});
  }
}

void WebhookRecord::Forget(const SourceId& source, std::uint64_t version) {
  const base::MutexLock lock(mu_);
  const auto found = told_.find(NameDigest(source));
  // A later version belongs to a source that was made anew.
  if (found != told_.end() && (version == 0 || found->second.version <= version)) {
    told_.erase(found);
    changed_ = true;
  }
}

void WebhookRecord::Rewind(const SourceId& source) {
  const base::MutexLock lock(mu_);
  if (const auto found = told_.find(NameDigest(source)); found != told_.end()) {
    found->second.version = 0;
  }
}

std::uint64_t WebhookRecord::Mark() const {
  const base::MutexLock lock(mu_);
  return mark_;
}

std::vector<WebhookRecord::Finding> WebhookRecord::Compare(const std::vector<SourceState>& sources,
                                                           std::optional<std::uint64_t> mark,
                                                           const std::set<SourceType>& unlisted) {
  std::vector<std::string> kept;
  for (const SourceType type : unlisted) {
    if (const KnownSourceKind* kind = DescribedBy(type)) {
      kept.push_back(KindDigest(*kind));
    }
  }
  // Another source may begin so by chance; its entry only stays for longer.
  const auto is_kept = [&kept](const std::string& name) {
    return std::ranges::any_of(
        kept, [&name](const std::string& digits) { return name.starts_with(digits); });
  };
  std::vector<Finding> findings;
  std::set<std::string> seen;
  const base::MutexLock lock(mu_);
  compare_at_.reset();
  for (const SourceState& source : sources) {
    std::string name = NameDigest(source.id);
    const std::string data = Short(source.digest);
    const bool is_under_way = under_way_.contains({name, data});
    const auto found = told_.find(name);
    Finding finding = Finding::kSame;
    if (found == told_.end()) {
      finding = is_under_way ? Finding::kSame : Finding::kFirst;
      // Without a version, the event of this state may not have come yet.
      SetLocked(name, {.digest = is_under_way ? std::string(kOwed) : data});
    } else if (const Entry& entry = found->second;
               entry.digest != data && !is_under_way && !IsOlder(source.version, entry.version)) {
      finding = Finding::kChanged;
    }
    findings.push_back(finding);
    seen.insert(std::move(name));
  }
  if (mark) {
    const std::size_t gone = std::erase_if(told_, [&](const auto& entry) {
      return entry.second.mark <= *mark && !seen.contains(entry.first) && !is_kept(entry.first);
    });
    changed_ = changed_ || gone > 0;
  }
  return findings;
}

bool WebhookRecord::Begin(const SourceState& source, Tenure tenure) {
  std::pair state{NameDigest(source.id), Short(source.digest)};
  const base::MutexLock lock(mu_);
  const bool is_under_way = under_way_.contains(state);
  const auto found = told_.find(state.first);
  if (source.version == 0 || found == told_.end()) {
    if (is_under_way) {
      return false;
    }
  } else if (const Entry& entry = found->second;
             IsOlder(source.version, entry.version) ||
             (source.version == entry.version && (is_under_way || entry.digest == state.second))) {
    return false;
  }
  SetLocked(state.first,
            {.digest = std::string(kOwed), .version = source.version, .tenure = tenure});
  under_way_.insert(std::move(state));
  return true;
}

void WebhookRecord::End(const SourceState& source, Tenure tenure, bool delivered) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  const std::pair state{NameDigest(source.id), Short(source.digest)};
  if (const auto found = under_way_.find(state); found != under_way_.end()) {
    under_way_.erase(found);
  }
  if (delivered) {
    pause_ = base::Duration(0);
    // The state is replaced only if the record still has it. It may have another one by now: a
    // later one, one of a store that was restored, or none, because the source is gone.
    if (const auto found = told_.find(state.first);
        found != told_.end() && found->second.version == source.version) {
      SetLocked(state.first, {.digest = state.second, .version = source.version, .tenure = tenure});
    }
    return;
  }
  if (!compare_at_) {
    pause_ = std::clamp(2 * pause_, kFirstCompare, kLastCompare);
    compare_at_ = now + pause_;
  }
}

bool WebhookRecord::ShouldCompare() const {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  return compare_at_ && *compare_at_ <= now;
}

WebhookStore NewWebhookStore(const std::shared_ptr<rest::RESTClient>& client,
                             const std::string& namespace_,
                             std::shared_ptr<const Fallbacks> fallbacks) {
  const kubernetes::ResourceClient<ConfigMap> config_maps(client, namespace_);
  WebhookStore store{.own = {namespace_, kWebhookRecordName}};
  store.load = [config_maps](const std::stop_token& stop) -> Result<std::string> {
    auto read = config_maps.Get(kWebhookRecordName, stop);
    if (!read) {
      return apimachinery::IsObjectNotFound(read.error()) ? Result<std::string>(std::string())
                                                          : Fail(read.error());
    }
    const auto text = read->data.find(kObjectKey);
    return text == read->data.end() ? std::string() : text->second;
  };
  store.save = [config_maps, namespace_, fallbacks = std::move(fallbacks)](
                   const std::string& text, const std::stop_token& stop) -> Result<void> {
    ConfigMap object;
    object.metadata.name = kWebhookRecordName;
    object.metadata.namespace_ = namespace_;
    // Another Reloader ignores this object, too, because it changes with each call of the webhook.
    object.metadata.annotations["reloader.stakater.com/ignore"] = "true";
    object.data[kObjectKey] = text;
    auto written = config_maps.Update(object, {}, stop);  // replaces it whatever its version is
    if (!written && apimachinery::IsObjectNotFound(written.error())) {
      written = config_maps.Create(object, {}, stop);
    }
    if (written) {
      return {};
    }
    if (fallbacks) {
      fallbacks->CountRefusedWrite(written.error());
    }
    return Fail(written.error());
  };
  return store;
}

}  // namespace kubexx::reloader
