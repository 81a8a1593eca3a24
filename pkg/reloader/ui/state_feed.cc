#include "kubexx/reloader/ui/state_feed.h"

#include <charconv>
#include <utility>

#include "kubexx/codec/json_text.h"

namespace kubexx::reloader {
namespace {

/// How many different answers are kept for one version.
constexpr std::size_t kMaxMadeEvents = 4;

void EraseAt(std::multimap<std::uint64_t, std::string>& keys, std::uint64_t version,
             const std::string& key) {
  const auto [begin, end] = keys.equal_range(version);
  for (auto it = begin; it != end; ++it) {
    if (it->second == key) {
      keys.erase(it);
      return;
    }
  }
}

}  // namespace

void StateFeed::Apply(RecordEdits edits) {
  bool has_changed = false;
  {
    const base::MutexLock lock(mu_);
    has_changed = ApplyLocked(std::move(edits));
  }
  if (has_changed && options_.on_change) {
    options_.on_change();
  }
}

bool StateFeed::ApplyLocked(RecordEdits edits) {
  const std::uint64_t next = version_ + 1;
  bool has_changed = false;
  for (auto& [key, json] : edits) {
    const auto found = records_.find(key);
    if (found == records_.end() ? !json : found->second.json == json) {
      continue;
    }
    has_changed = true;
    Record& record = found == records_.end() ? records_[key] : found->second;
    if (record.version != 0) {
      EraseAt(changes_, record.version, key);
      if (!record.json) {
        EraseAt(gone_, record.version, key);
      }
    }
    record = {std::move(json), next};
    changes_.emplace(next, key);
    if (!record.json) {
      gone_.emplace(next, key);
    }
  }
  if (!has_changed) {
    return false;
  }
  version_ = next;
  made_.clear();
  while (gone_.size() > options_.max_gone) {
    const auto oldest = gone_.begin();
    complete_since_ = oldest->first;
    EraseAt(changes_, oldest->first, oldest->second);
    records_.erase(oldest->second);
    gone_.erase(oldest);
  }
  return true;
}

void StateFeed::Clear() {
  {
    const base::MutexLock lock(mu_);
    complete_since_ = ++version_;
    records_.clear();
    changes_.clear();
    gone_.clear();
    made_.clear();
  }
  if (options_.on_change) {
    options_.on_change();
  }
}

StateFeed::News StateFeed::Since(std::optional<std::uint64_t> version) const {
  const base::MutexLock lock(mu_);
  if (version == version_) {
    return {.version = version_};
  }
  if (version && (*version > version_ || *version < complete_since_)) {
    version.reset();
  }
  auto& made = made_[version];
  if (made == nullptr) {
    made = std::make_shared<const std::string>(EventSince(version));
  }
  News news{made, version_};
  if (made_.size() > kMaxMadeEvents) {
    made_.clear();
  }
  return news;
}

std::string StateFeed::EventSince(std::optional<std::uint64_t> version) const {
  std::string set;
  std::string gone;
  const auto add = [&](const std::string& key, const Record& record) {
    if (record.json) {
      set += (set.empty() ? "" : ",") + codec::QuotedJson(key) + ":" + *record.json;
    } else if (version) {
      gone += (gone.empty() ? "" : ",") + codec::QuotedJson(key);
    }
  };
  if (version) {
    for (auto it = changes_.upper_bound(*version); it != changes_.end(); ++it) {
      add(it->second, records_.at(it->second));
    }
  } else {
    for (const auto& [key, record] : records_) {
      add(key, record);
    }
  }
  return "id: " + options_.name + "-" + std::to_string(version_) +
         "\ndata: {\"reset\":" + (version ? "false" : "true") + ",\"set\":{" + set +
         "},\"gone\":[" + gone + "]}\n\n";
}

std::optional<std::uint64_t> StateFeed::VersionOf(std::string_view event_id) const {
  const std::string prefix = options_.name + "-";
  if (!event_id.starts_with(prefix)) {
    return std::nullopt;
  }
  event_id.remove_prefix(prefix.size());
  std::uint64_t version = 0;
  const auto [end, error] =
      std::from_chars(event_id.data(), event_id.data() + event_id.size(), version);
  return error == std::errc() && end == event_id.data() + event_id.size() ? std::optional(version)
                                                                          : std::nullopt;
}

std::optional<std::string> StateFeed::Get(const std::string& key) const {
  const base::MutexLock lock(mu_);
  const auto found = records_.find(key);
  return found == records_.end() ? std::nullopt : found->second.json;
}

}  // namespace kubexx::reloader
