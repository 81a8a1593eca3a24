#include "kubexx/reloader/history/source_changes.h"

#include <algorithm>
#include <utility>

namespace kubexx::reloader {
namespace {

/// Makes one change out of two consecutive ones.
void Join(SourceChange& change, const SourceChange& later) {
  change.now = later.now;
  change.writer = later.writer;
  if (change.keys && later.keys) {
    AddLater(*change.keys, *later.keys);
  } else {
    change.keys.reset();
  }
}

/// About how much memory the keys of a change take: nodes of a map, and names that do not fit into
/// their strings.
std::size_t KeyBytesOf(const SourceChange& change) {
  constexpr std::size_t kNode = 32 + sizeof(KeyChanges::value_type);
  std::size_t bytes = 0;
  for (const auto& [key, what] : change.keys ? *change.keys : KeyChanges()) {
    bytes += kNode + key.size() + what.digest.size();
  }
  return bytes;
}

}  // namespace

SourceChange ChangeBetween(SourceType type, const Digest& before, const SourceTrace* before_trace,
                           const Digest& now, const SourceTrace* now_trace,
                           apimachinery::Time seen) {
  static const std::map<std::string, ShortDigest> nothing;
  SourceChange change{.before = before, .now = now, .seen = seen};
  const auto* had = before_trace == nullptr
                        ? &nothing
                        : (before_trace->values ? &*before_trace->values : nullptr);
  const auto* has =
      now_trace == nullptr ? &nothing : (now_trace->values ? &*now_trace->values : nullptr);
  const bool is_told = (before == kNoSource || before_trace != nullptr) &&
                       (now == kNoSource || now_trace != nullptr);
  if (is_told && had != nullptr && has != nullptr) {
    change.keys = CompareValues(*had, *has, type == SourceType::kSecret || IsDescribed(type));
  }
  const bool only_removes = change.keys && std::ranges::all_of(*change.keys, [](const auto& each) {
                              return each.second.what == KeyChange::What::kRemoved;
                            });
  if (now_trace != nullptr && now != kNoSource) {
    // A client that only removes keys is not in the managed fields, unless it has also written a
    // key.
    const bool is_news = before_trace == nullptr || before_trace->writer != now_trace->writer;
    if (is_news || !only_removes) {
      change.writer = now_trace->writer;
    }
  }
  return change;
}

void SourceChanges::Add(const SourceId& source, SourceChange change) {
  const base::MutexLock lock(mu_);
  if (!sources_.contains(source) && sources_.size() >= kMaxSources) {
    EraseLocked(
        std::ranges::min_element(sources_, {}, [](const auto& each) { return each.second.turn; }));
  }
  Changes& changes = sources_[source];
  changes.turn = ++turn_;
  const std::size_t more = KeyBytesOf(change);
  changes.list.push_back(std::move(change));
  std::size_t less = 0;
  if (changes.list.size() > kMaxChanges) {
    less = KeyBytesOf(changes.list.front());
    changes.list.pop_front();
  }
  changes.key_bytes += more;
  changes.key_bytes -= less;
  key_bytes_ += more;
  key_bytes_ -= less;
  FitLocked(source);
}

void SourceChanges::EraseLocked(Sources::iterator source) {
  key_bytes_ -= source->second.key_bytes;
  sources_.erase(source);
}

void SourceChanges::ForgetKeysLocked(Changes& changes) {
  for (SourceChange& change : changes.list) {
    change.keys.reset();
  }
  key_bytes_ -= std::exchange(changes.key_bytes, 0);
}

void SourceChanges::FitLocked(const SourceId& but) {
  while (key_bytes_ > kMaxKeyBytes) {
    Changes* oldest = nullptr;
    for (auto& [source, changes] : sources_) {
      if (changes.key_bytes > 0 && source != but &&
          (oldest == nullptr || changes.turn < oldest->turn)) {
        oldest = &changes;
      }
    }
    ForgetKeysLocked(oldest == nullptr ? sources_[but] : *oldest);
  }
}

std::size_t SourceChanges::key_bytes() const {
  const base::MutexLock lock(mu_);
  return key_bytes_;
}

std::optional<SourceChange> SourceChanges::Since(
    const SourceId& source, const Digest& now, const std::optional<Digest>& had,
    const std::optional<apimachinery::Time>& after) const {
  const base::MutexLock lock(mu_);
  const auto found = sources_.find(source);
  if (found == sources_.end() || found->second.list.back().now != now) {
    return std::nullopt;
  }
  const std::deque<SourceChange>& list = found->second.list;
  std::size_t first = list.size() - 1;
  const auto is_first = [&](const SourceChange& change) { return had && change.before == *had; };
  const auto is_counted = [&](const SourceChange& change) {
    return had || !after || change.seen >= *after;
  };
  while (first > 0 && !is_first(list[first]) && is_counted(list[first - 1]) &&
         list[first - 1].now == list[first].before) {
    --first;
  }
  SourceChange all = list[first];
  const bool is_whole = !had || is_first(all);
  for (std::size_t i = first + 1; i < list.size(); ++i) {
    Join(all, list[i]);
  }
  if (!is_whole) {
    all.keys.reset();
  }
  return all;
}

}  // namespace kubexx::reloader
