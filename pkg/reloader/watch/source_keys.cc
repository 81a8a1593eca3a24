#include "kubexx/reloader/watch/source_keys.h"

#include <chrono>
#include <utility>

#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/rollout_gate.h"

namespace kubexx::reloader {

using apimachinery::Result;

namespace {

// Many workloads may wait for one source; and it may change back, or be restored, unheard of.
constexpr base::Duration kRefuses = std::chrono::seconds(1);

apimachinery::Status HasChanged(const SourceId& id) {
  return {apimachinery::Reason::kConflict,
          id.key.ToString() + " has changed since the last event of its watch"};
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
  if (!data) {
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
  if (!data) {
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
    if (const auto found = served_.find(id);
        found != served_.end() && found->second.version >= since && whole != kNoSource) {
      if (found->second.whole == whole) {
        return {};
      }
      if (keys.empty() && clock_.Now() < found->second.refuses_until) {
        return apimachinery::Fail(HasChanged(id));
      }
    }
  }
  KX_ASSIGN_OR_RETURN(const std::optional<ValueDigests> data, fetch_(id, stop));
  if (data && data->read_at != 0) {
    const base::MutexLock lock(mu_);
    if (served_.size() >= kMaxSources) {
      served_.clear();
    }
    served_.insert_or_assign(id, Served{.whole = data->whole,
                                        .version = data->read_at,
                                        .refuses_until = clock_.Now() + kRefuses});
  }
  const bool is_same = data ? HasSame(id, whole, keys, *data) : whole == kNoSource;
  return is_same ? Result<void>() : apimachinery::Fail(HasChanged(id));
}

std::optional<Source> KeyedSources::Get(const SourceId& id) {
  auto source = caches_.GetSource(id);
  if (!source && IsUnknown(id)) {
    return Source{.id = id, .unknown = true};
  }
  if (!source || reader_ == nullptr || id.type == SourceType::kSecretProviderClass) {
    return source;
  }
  source->keys = KeysOf(*source);
  if (source->keys.empty()) {
    return source;
  }
  source->whole = source->digest;
  const auto digest = Over(id, source->keys);
  if (!digest) {
    return std::nullopt;
  }
  source->digest = *digest;
  return source;
}

std::string KeyedSources::KeysOf(const Source& source) const {
  return gate_ == nullptr ? source.keys : gate_->KeysOf(source.id, source.keys);
}

bool KeyedSources::IsUnknown(const SourceId& id) {
  if (id.type == SourceType::kSecretProviderClass) {
    return false;  // one that is not reported has its own rules
  }
  if (!caches_.Knows(id.type, id.key.namespace_)) {
    return true;
  }
  if (absences_ == nullptr) {
    return false;
  }
  const auto left_out = absences_->IsLeftOut(id, stop_);
  if (!left_out) {
    failure_ = left_out.error();
    return true;
  }
  return *left_out;
}

std::optional<Digest> KeyedSources::Over(const SourceId& id, std::string_view keys) {
  const auto source = caches_.GetSource(id);
  if (!source || reader_ == nullptr) {
    return std::nullopt;
  }
  if (keys.empty()) {
    return source->digest;
  }
  auto digest = reader_->Read(id, source->digest, keys, stop_);
  if (!digest) {
    failure_ = digest.error();
    return std::nullopt;
  }
  return *digest;
}

std::optional<apimachinery::Time> KeyedSources::WrittenAt(const SourceId& id) {
  const auto source = caches_.GetSource(id);
  if (!source || reader_ == nullptr || id.type == SourceType::kSecretProviderClass) {
    return std::nullopt;
  }
  const auto written = reader_->WrittenAt(id, source->digest, KeysOf(*source), stop_);
  if (!written) {
    failure_ = written.error();
    return std::nullopt;
  }
  return *written;
}

void KeyedSources::Compare(const std::map<SourceId, Digest>& taken, std::uint64_t since) {
  for (const auto& [id, whole] : taken) {
    if (failure_ || reader_ == nullptr) {
      return;
    }
    const auto source = caches_.GetSource(id);
    const std::string keys = source ? KeysOf(*source) : std::string();
    if (const auto compared = reader_->Compare(id, whole, keys, since, stop_);
        !compared && !IsDenied(compared.error()) &&
        compared.error().reason != apimachinery::Reason::kMalformed) {
      failure_ = compared.error();
    }
  }
}

}  // namespace kubexx::reloader
