/// @file
/// Events: what a controller tells the users of an object about it.
#ifndef KUBEXX_EVENTS_RECORDER_H_
#define KUBEXX_EVENTS_RECORDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/events/reference.h"

namespace kubexx::events {

/// As the API server knows them.
enum class EventType : std::uint8_t { kNormal, kWarning };

/// One thing that happened.
struct Occurrence {
  api::core::v1::ObjectReference regarding{};
  /// A second object that it involves, for example one that `regarding` acted on.
  std::optional<api::core::v1::ObjectReference> related{};
  EventType type = EventType::kNormal;
  /// Why it happened, in UpperCamelCase and few words. Programs and users select Events by it.
  std::string reason{};
  /// What was done about it, in UpperCamelCase. When empty, the reason is used.
  std::string action{};
  /// A sentence for people. Never put Secret data here.
  std::string note{};
  std::map<std::string, std::string> annotations{};
};

/// Records events. CoreRecorder and SeriesRecorder write them to an API server; a test may have one
/// of its own. Implementations are thread-safe and neither block nor throw.
class Recorder {
 public:
  virtual ~Recorder() = default;

  virtual void Record(Occurrence occurrence) = 0;

  /// An event about `object`, any type with a schema and metadata.
  template <class T>
  void Event(const T& object, EventType type, std::string reason, std::string note) {
    Occurrence occurrence;
    occurrence.regarding = ReferenceTo(object);
    occurrence.type = type;
    occurrence.reason = std::move(reason);
    occurrence.note = std::move(note);
    Record(std::move(occurrence));
  }
};

/// Records nothing: for tests, and for controllers without a manager. Thread-safe.
class DiscardingRecorder final : public Recorder {
 public:
  /// One for all, as it has no state.
  static DiscardingRecorder& Instance() {
    static DiscardingRecorder recorder;
    return recorder;
  }
  void Record(Occurrence /*occurrence*/) override {}
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_RECORDER_H_
