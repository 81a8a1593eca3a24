#include "kubexx/reloader/webhook_record.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/digest.h"
#include "kubexx/reloader/fallbacks.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::size_t kDigits = 16;
constexpr base::Duration kFirstCompare = std::chrono::minutes(1);
constexpr base::Duration kLastCompare = std::chrono::hours(1);
constexpr char kObjectName[] = "kubexx-reloader-webhook";
constexpr char kObjectKey[] = "told";

std::string Short(const Digest& digest) { return digest.ToString().substr(0, kDigits); }

std::string NameDigest(const SourceId& source) {
  return Short(DigestOf(std::string(NamesOf(source.type).plural) + "/" + source.key.ToString()));
}

bool IsHex(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

void WebhookRecord::Load(std::string_view text) {
  const base::MutexLock lock(mu_);
  told_.clear();
  changed_ = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view source = line.substr(0, kDigits);
    const std::string_view digest = line.substr(source.size());
    if (IsHex(source) && IsHex(digest) && told_.size() < kMaxEntries) {
      told_.insert_or_assign(std::string(source), std::string(digest));
    }
  }
}

std::string WebhookRecord::Text() const {
  const base::MutexLock lock(mu_);
  std::string text;
  text.reserve(told_.size() * (2 * kDigits + 1));
  for (const auto& [source, digest] : told_) {
    text += source + digest + "\n";
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

void WebhookRecord::SetLocked(std::string source, std::string digest) {
  const auto found = told_.find(source);
  if (found == told_.end() ? told_.size() >= kMaxEntries : found->second == digest) {
    return;
  }
  told_.insert_or_assign(std::move(source), std::move(digest));
  changed_ = true;
}

void WebhookRecord::Note(const SourceId& source, const Digest& digest) {
  const base::MutexLock lock(mu_);
  SetLocked(NameDigest(source), Short(digest));
}

void WebhookRecord::Forget(const SourceId& source) {
  const base::MutexLock lock(mu_);
  changed_ = told_.erase(NameDigest(source)) > 0 || changed_;
}

std::vector<WebhookRecord::Finding> WebhookRecord::Compare(
    const std::vector<std::pair<SourceId, Digest>>& sources, bool all) {
  std::vector<Finding> findings;
  std::set<std::string> seen;
  const base::MutexLock lock(mu_);
  compare_at_.reset();
  for (const auto& [source, digest] : sources) {
    std::string name = NameDigest(source);
    std::string data = Short(digest);
    const auto found = told_.find(name);
    Finding finding = Finding::kSame;
    if (found == told_.end()) {
      finding = Finding::kFirst;
      SetLocked(name, std::move(data));
    } else if (found->second != data && !under_way_.contains({name, data})) {
      finding = Finding::kChanged;
    }
    findings.push_back(finding);
    seen.insert(std::move(name));
  }
  if (!all) {
    return findings;
  }
  const std::size_t gone =
      std::erase_if(told_, [&](const auto& entry) { return !seen.contains(entry.first); });
  changed_ = changed_ || gone > 0;
  return findings;
}

bool WebhookRecord::Begin(const SourceId& source, const Digest& digest) {
  const base::MutexLock lock(mu_);
  return under_way_.emplace(NameDigest(source), Short(digest)).second;
}

void WebhookRecord::End(const SourceId& source, const Digest& digest, bool delivered) {
  const base::TimePoint now = clock_.Now();
  const base::MutexLock lock(mu_);
  std::pair state{NameDigest(source), Short(digest)};
  under_way_.erase(state);
  if (delivered) {
    pause_ = base::Duration(0);
    SetLocked(std::move(state.first), std::move(state.second));
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
  WebhookStore store{.own = {namespace_, kObjectName}};
  store.load = [config_maps](const std::stop_token& stop) -> Result<std::string> {
    auto read = config_maps.Get(kObjectName, stop);
    if (!read) {
      return read.status().reason == Reason::kNotFound ? Result<std::string>(std::string())
                                                       : Fail(read.status());
    }
    const auto text = read->data.find(kObjectKey);
    return text == read->data.end() ? std::string() : text->second;
  };
  store.save = [config_maps, namespace_, fallbacks = std::move(fallbacks)](
                   const std::string& text, const std::stop_token& stop) -> Result<void> {
    ConfigMap object;
    object.metadata.name = kObjectName;
    object.metadata.namespace_ = namespace_;
    // Of no interest to another Reloader either: it changes with each call of the webhook.
    object.metadata.annotations["reloader.stakater.com/ignore"] = "true";
    object.data[kObjectKey] = text;
    auto written = config_maps.Update(object, {}, stop);  // whatever its version
    if (!written && written.status().reason == Reason::kNotFound) {
      written = config_maps.Create(object, {}, stop);
    }
    if (written) {
      return {};
    }
    if (fallbacks) {
      fallbacks->CountRefusedWrite(written.status());
    }
    return Fail(written.status());
  };
  return store;
}

}  // namespace kubexx::reloader
