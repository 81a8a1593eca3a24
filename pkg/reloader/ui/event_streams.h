/// @file
/// The streams of server-sent events by which the page follows the state.
#ifndef KUBEXX_RELOADER_UI_EVENT_STREAMS_H_
#define KUBEXX_RELOADER_UI_EVENT_STREAMS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"
#include "kubexx/http/message.h"
#include "kubexx/reloader/ui/state_feed.h"

namespace kubexx::reloader {

/// Opens streams, up to a limit that its clients share: when all are open, who has fewer than
/// another gets the place of the oldest stream of the client that has most. A stream sends all
/// changes since its last event as one event, when its client can take one: a slow client gets
/// fewer events, and never an old state. Thread-safe.
class EventStreams {
 public:
  /// `feed` and `clock` must outlive this object and the server that has the streams.
  EventStreams(const StateFeed& feed, std::size_t max_streams,
               base::Clock& clock = base::Clock::Real());

  /// Opens a stream for a client, see PageAccess::ClientOf, that has sent this Last-Event-ID, or
  /// none. After `age` the stream ends with an event "again", which asks the client to open the
  /// next one; std::nullopt means never. It also ends so when it has to give its place away.
  /// Returns null when there are too many already, and the client has a fair share of them: no
  /// other one has at least two more.
  std::shared_ptr<http::BodyStream> Open(const std::string& client, std::string_view last_event_id,
                                         std::optional<base::Duration> age = std::nullopt);
  /// There is news: see StateFeed::Options::on_change.
  void Wake();
  /// Makes each stream send a comment, by which a client knows that the program is there, or end
  /// when it is old. Call it every few seconds.
  void Beat();
  /// How many streams are open.
  std::size_t open() const;

 private:
  class Stream;
  class Shared;

  const StateFeed& feed_;
  const std::size_t max_streams_;
  base::Clock& clock_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_EVENT_STREAMS_H_
