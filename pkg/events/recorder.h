/// @file
/// Recorder: records Events, with which a controller tells users about an object.
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

/// The types of events in the API.
enum class EventType : std::uint8_t { kNormal, kWarning };

/// Something that happened and that an event should report.
struct Occurrence {
  api::core::v1::ObjectReference regarding{};
  /// A second object that is involved, for example one that `regarding` acted on.
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

/// Records events. CoreRecorder and SeriesRecorder write them to an API server; a test may
/// implement its own recorder. Implementations are thread-safe and neither block nor throw.
class Recorder {
 public:
  virtual ~Recorder() = default;

  virtual void Record(Occurrence occurrence) = 0;

  /// Records an event about `object`, whose type must have a schema and metadata.
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

/// Records nothing. It serves tests, and controllers without a manager. Thread-safe.
class DiscardingRecorder final : public Recorder {
 public:
  /// Returns the one instance, which all share because it has no state.
  static DiscardingRecorder& Instance() {
    static DiscardingRecorder recorder;
    return recorder;
  }
  void Record(Occurrence /*occurrence*/) override {}
};

}  // namespace kubexx::events

#endif  // KUBEXX_EVENTS_RECORDER_H_
