#include "kubexx/reloader/watch/source_keys.h"

#include <algorithm>
#include <utility>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/rollout_gate.h"

namespace kubexx::reloader {

using apimachinery::Result;

namespace {

apimachinery::Status HasChanged(const SourceId& id) {
  return {apimachinery::Reason::kConflict,
          id.key.ToString() + " has changed since the last event of its watch"};
}

/// Whether an informer has the object. One that is watched and has not all of its fields is no
/// source, but no selector leaves it out.
bool IsInInformer(const Caches& caches, const SourceId& id) {
  return std::ranges::any_of(caches.informers(), [&](const InformerSet& set) {
    const auto informer = set.sources.find(id.type);
    return informer != set.sources.end() && set.Covers(id.key.namespace_) &&
           informer->second->GetRaw(id.key);
  });
}

/// Whether the server would give the same answer about this source again.
bool IsSettledAnswer(const apimachinery::Status& status) {
  // A list is not found only where the API server does not have the kind.
  return IsDenied(status) || status.reason == apimachinery::Reason::kMalformed ||
         status.reason == apimachinery::Reason::kNotFound;
}

}  // namespace

Result<std::optional<Digest>> ValueDigestReader::Read(const SourceId& id, const Digest& whole,
                                                      std::string_view keys,
                                                      const std::stop_token& stop) {
  {
    const base::MutexLock lock(mu_);
    if (const auto found = kept_.find(id); found != kept_.end()) {
      if (found->second.data.whole == whole) {
        return DigestOver(found->second.data, keys);
      }
      if (clock_.Now() < found->second.refuses_until) {
        return apimachinery::Fail(HasChanged(id));
      }
    }
  }
  KX_ASSIGN_OR_RETURN(std::optional<ValueDigests> data, fetch_(id, stop));
  if (!data || data->whole == kNoSource) {
    return std::nullopt;
  }
  const bool is_same = data->whole == whole;
  const Digest digest = DigestOver(*data, keys);
  const base::MutexLock lock(mu_);
  if (kept_.size() >= kMaxSources) {
    kept_.clear();
  }
  kept_.insert_or_assign(
      id, Kept{.data = *std::move(data),
               .refuses_until = is_same ? base::TimePoint() : clock_.Now() + kRefuses});
  if (!is_same) {
    return apimachinery::Fail(HasChanged(id));
  }
  return digest;
}

bool ValueDigestReader::HasSame(const SourceId& id, const Digest& whole, std::string_view keys,
                                const ValueDigests& data) {
  if (data.whole == whole) {
    return true;
  }
  const base::MutexLock lock(mu_);
  const auto known = kept_.find(id);
  return !keys.empty() && known != kept_.end() && known->second.data.whole == whole &&
         DigestOver(known->second.data, keys) == DigestOver(data, keys);
}

Result<std::optional<apimachinery::Time>> ValueDigestReader::WrittenAt(
    const SourceId& id, const Digest& whole, std::string_view keys, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const std::optional<ValueDigests> data, fetch_(id, stop));
  if (!data || data->whole == kNoSource) {
    return std::nullopt;
  }
  if (!HasSame(id, whole, keys, *data)) {
    return apimachinery::Fail(HasChanged(id));
  }
  return WrittenOver(*data, keys);
}

Result<void> ValueDigestReader::Compare(const SourceId& id, const Digest& whole,
                                        std::string_view keys, std::uint64_t since,
                                        const std::stop_token& stop) {
  {
    const base::MutexLock lock(mu_);
    const auto found = served_.find(id);
    const auto known = found == served_.end() || found->second.version < since
                           ? std::nullopt
                           : found->second.Answer(whole, keys, clock_.Now());
    if (known) {
      return *known ? Result<void>() : apimachinery::Fail(HasChanged(id));
    }
  }
  KX_ASSIGN_OR_RETURN(const std::optional<ValueDigests> data, fetch_(id, stop));
  const bool exists = data && data->whole != kNoSource;
  const bool is_same = exists ? HasSame(id, whole, keys, *data) : whole == kNoSource;
  if (data && data->read_at != 0) {
    KeepServed(id, {.whole = data->whole,
                    .version = data->read_at,
                    .refuses_until = clock_.Now() + kRefuses,
                    .asked = whole,
                    .keys = std::string(keys),
                    .is_same = is_same});
  }
  return is_same ? Result<void>() : apimachinery::Fail(HasChanged(id));
}

std::optional<bool> ValueDigestReader::Served::Answer(const Digest& data, std::string_view under,
                                                      base::TimePoint now) const {
  const bool is_asked = data == asked && under == keys;
  if (data == whole || (is_asked && is_same)) {
    return true;
  }
  const bool refuses = now < refuses_until && (is_asked || under.empty());
  return refuses ? std::optional(false) : std::nullopt;
}

void ValueDigestReader::KeepServed(const SourceId& id, Served served) {
  const base::MutexLock lock(mu_);
  if (served_.size() >= kMaxCompared && !served_.contains(id)) {
    served_.erase(std::ranges::min_element(served_, {},
                                           [](const auto& each) { return each.second.version; }));
  }
  served_.insert_or_assign(id, std::move(served));
}

void KeyedSources::Fail(const SourceId& id, const apimachinery::Status& status) {
  const bool is_behind = status.reason == apimachinery::Reason::kConflict;
  if (!IsSettledAnswer(status) && !(is_behind && behind_ == Behind::kLeaveOut)) {
    failure_ = status;
    return;
  }
  has_news_ = left_out_.insert(id).second || has_news_;
  if (!why_left_out_ || is_behind) {
    why_left_out_ = status;  // an error that passes by itself is checked again earlier
  }
}

bool KeyedSources::TakeNews() { return std::exchange(has_news_, false); }

std::optional<Source> KeyedSources::Get(const SourceId& id) {
  if (left_out_.contains(id)) {
    return Source{.id = id, .unknown = true};
  }
  auto source = Present(id);
  if (!source && IsUnknown(id)) {
    return Source{.id = id, .unknown = true};
  }
  if (source && source->unknown) {
    return source;
  }
  if (!source || reader_ == nullptr || id.type == SourceType::kSecretProviderClass ||
      IsDescribed(id.type)) {  // of which no keys are chosen
    return source;
  }
  source->keys = KeysOf(*source);
  source->by_use = used_ != nullptr;
  if (source->keys.empty()) {
    return source;
  }
  source->whole = source->digest;
  const auto digest = Over(id, source->keys);
  if (!digest) {
    return left_out_.contains(id) ? std::optional(Source{.id = id, .unknown = true}) : std::nullopt;
  }
  source->digest = *digest;
  return source;
}

const ChangedSource* KeyedSources::Changed(const SourceId& id) const {
  const auto found = changed_ == nullptr ? ChangedSources::const_iterator() : changed_->find(id);
  return changed_ == nullptr || found == changed_->end() ? nullptr : &found->second;
}

std::optional<Source> KeyedSources::Present(const SourceId& id) const {
  const ChangedSource* changed = Changed(id);
  return changed == nullptr ? caches_.GetSource(id) : std::optional(changed->source);
}

void KeyedSources::LookFor(const Workload& workload) {
  used_ = gate_ != nullptr && gate_->CountsUsedKeysOnly(workload) ? &workload.used_keys : nullptr;
}

std::string KeyedSources::KeysOf(const Source& source) const {
  std::string keys = gate_ == nullptr ? source.keys : gate_->KeysOf(source.id, source.keys);
  if (used_ == nullptr) {
    return keys;
  }
  const auto used = used_->find({source.id.type, source.id.key.name});
  return used == used_->end() ? keys : KeysInBoth(keys, used->second);
}

bool KeyedSources::IsUnknown(const SourceId& id) {
  if (id.type == SourceType::kSecretProviderClass) {
    return false;  // a source that is not reported has rules of its own
  }
  if (!caches_.Knows(id.type, id.key.namespace_)) {
    return true;
  }
  return absences_ != nullptr && !absences_->only_recorded() && IsLeftOut(id);
}

bool KeyedSources::IsLeftOut(const SourceId& id) {
  if (absences_ == nullptr || id.type == SourceType::kSecretProviderClass || IsForeign(id) ||
      (IsDescribed(id.type) && IsInInformer(caches_, id))) {
    return false;
  }
  const auto left_out = absences_->IsLeftOut(id, stop_);
  if (!left_out) {
    Fail(id, left_out.error());
    return true;
  }
  return *left_out;
}

std::optional<Digest> KeyedSources::Over(const SourceId& id, std::string_view keys) {
  const auto source = Present(id);
  if (!source || reader_ == nullptr) {
    return std::nullopt;
  }
  if (keys.empty()) {
    return source->digest;
  }
  if (const ChangedSource* changed = Changed(id)) {
    return DigestOver(changed->data, keys);
  }
  auto digest = reader_->Read(id, source->digest, keys, stop_);
  if (!digest) {
    Fail(id, digest.error());
    return std::nullopt;
  }
  return *digest;
}

std::optional<apimachinery::Time> KeyedSources::WrittenAt(const SourceId& id) {
  const auto source = caches_.GetSource(id);
  if (!source || source->unknown || reader_ == nullptr ||
      id.type == SourceType::kSecretProviderClass) {
    return std::nullopt;
  }
  if (const ChangedSource* changed = Changed(id)) {
    return changed->data.written;
  }
  const auto written = reader_->WrittenAt(id, source->digest, KeysOf(*source), stop_);
  if (!written) {
    if (!IsSettledAnswer(written.error())) {
      Fail(id, written.error());
    }
    return std::nullopt;
  }
  return *written;
}

std::uint64_t KeyedSources::SeenUpTo(const SourceId& id) {
  return caches_.SeenUpTo(id.type, ObjectKeyOf(id).namespace_);
}

void KeyedSources::Compare(const std::map<SourceId, Digest>& taken, std::uint64_t since) {
  for (const auto& [id, whole] : taken) {
    if (failure_ || reader_ == nullptr) {
      return;
    }
    const auto source = caches_.GetSource(id);
    const std::string keys = source ? KeysOf(*source) : std::string();
    if (const auto compared = reader_->Compare(id, whole, keys, since, stop_);
        !compared && !IsSettledAnswer(compared.error())) {
      Fail(id, compared.error());
    }
  }
}

}  // namespace kubexx::reloader
