#include "kubexx/events/internal/correlator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/base/utf8.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/schema.h"
#include "kubexx/events/event_text.h"

namespace kubexx::events {
namespace {

using apimachinery::Time;
using codec::Cardinality;
using codec::FieldSchema;
using codec::Kind;
using codec::TypeSchema;

constexpr std::string_view kCombined = "(combined from similar events): ";

/// What changes of an event that happens again.
struct CountPatch {
  std::int32_t count = 0;
  Time last_timestamp{};
  std::string message{};
};

constexpr std::array<FieldSchema, 3> kCountPatchFields{{
    {.name = "count", .kind = Kind::kInt32, .offset = offsetof(CountPatch, count)},
    {.name = "lastTimestamp", .kind = Kind::kTime, .offset = offsetof(CountPatch, last_timestamp)},
    {.name = "message", .kind = Kind::kString, .offset = offsetof(CountPatch, message)},
}};
constexpr TypeSchema kCountPatchSchema{.name = "events.CountPatch",
                                       .group = "",
                                       .version = "",
                                       .kind = "",
                                       .fields = kCountPatchFields};

/// Joins with a byte that none of the parts has, so that different parts give different keys.
std::string Join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    out.append(part);
    out += '\0';
  }
  return out;
}

std::string SpamKey(const Correlator::Event& event) {
  const auto& object = event.involved_object;
  return Join({event.source.component, event.source.host, object.kind, object.namespace_,
               object.name, object.uid, object.api_version, event.type});
}

std::string SameKey(const Correlator::Event& event) {
  return SpamKey(event) + Join({event.involved_object.field_path, event.reason, event.message});
}

std::string SimilarKey(const Correlator::Event& event) {
  return SpamKey(event) + Join({event.reason, event.reporting_component, event.reporting_instance});
}

}  // namespace

std::optional<Correlator::Write> Correlator::Correlate(Event event) {
  const Key key = AggregateSimilar(event);
  std::string patch = CountSame(event, key);
  if (IsSpam(event)) {
    return std::nullopt;
  }
  return Write{.event = std::move(event), .patch = std::move(patch)};
}

Correlator::Correlator(base::Clock& clock)
    : clock_(clock), salt_{.one = std::random_device{}(), .other = std::random_device{}()} {}

Correlator::Key Correlator::KeyOf(std::string_view text) const {
  const auto hash = [text](std::uint64_t salt) {
    std::string salted = std::to_string(salt) + '\0';
    salted += text;
    return std::hash<std::string>()(salted);
  };
  return {.one = hash(salt_.one), .other = hash(salt_.other)};
}

Correlator::Key Correlator::AggregateSimilar(Event& event) {
  const Key same = KeyOf(SameKey(event));
  const Key similar = KeyOf(SimilarKey(event));
  const base::TimePoint now = clock_.Now();
  Aggregate* record = aggregates_.Find(similar);
  if (record == nullptr || now - record->last > kAggregateGap) {
    aggregates_.Put(similar, {});
    record = aggregates_.Find(similar);
  }
  if (const std::uint64_t message = KeyOf(event.message).one;
      std::ranges::find(record->messages, message) == record->messages.end()) {
    record->messages.push_back(message);
  }
  record->last = now;
  if (record->messages.size() < kAggregateFrom) {
    return same;
  }
  record->messages.erase(record->messages.begin());  // Any one: the set grows no further.

  const auto wall = clock_.Wall();
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(wall.time_since_epoch()).count();
  Event combined;
  combined.metadata.name = EventName(event.involved_object.name, nanoseconds);
  combined.metadata.namespace_ = event.metadata.namespace_;
  combined.count = 1;
  combined.first_timestamp = Time::From(wall);
  combined.last_timestamp = combined.first_timestamp;
  combined.involved_object = std::move(event.involved_object);
  combined.message = base::CutUtf8(std::string(kCombined) + event.message, kMaxNoteBytes);
  combined.type = std::move(event.type);
  combined.reason = std::move(event.reason);
  combined.source = std::move(event.source);
  event = std::move(combined);
  return similar;
}

/// The patch when the event is there already; then `event` takes its name and count.
std::string Correlator::CountSame(Event& event, const Key& key) {
  std::string patch;
  if (const Count* const before = counts_.Find(key); before != nullptr && before->count > 0) {
    event.metadata.name = before->name;
    event.metadata.resource_version = before->resource_version;
    event.first_timestamp = before->first;
    event.count = before->count < std::numeric_limits<std::int32_t>::max() ? before->count + 1
                                                                           : before->count;
    const CountPatch change{
        .count = event.count, .last_timestamp = event.last_timestamp, .message = event.message};
    codec::EncodeJson(kCountPatchSchema, &change, patch);
  }
  counts_.Put(key, CountOf(event));
  return patch;
}

bool Correlator::IsSpam(const Event& event) {
  const Key key = KeyOf(SpamKey(event));
  const base::TimePoint now = clock_.Now();
  Budget* budget = budgets_.Find(key);
  if (budget == nullptr) {
    budgets_.Put(key, {.at = now});
    budget = budgets_.Find(key);
  }
  const std::chrono::duration<double> since = now - std::exchange(budget->at, now);
  budget->left = std::min<double>(kSpamBurst, budget->left + since.count() * kSpamPerSecond);
  // What is missing by rounding is less than this.
  constexpr double kNearly = 1e-9;
  if (budget->left < 1 - kNearly) {
    return true;
  }
  budget->left -= 1;
  return false;
}

void Correlator::Stored(const Event& event) { counts_.Put(KeyOf(SameKey(event)), CountOf(event)); }

Correlator::Count Correlator::CountOf(const Event& event) {
  return {.count = event.count,
          .first = event.first_timestamp,
          .name = event.metadata.name,
          .resource_version = event.metadata.resource_version};
}

}  // namespace kubexx::events
