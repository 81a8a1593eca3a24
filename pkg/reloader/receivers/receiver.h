/// @file
/// Receiver: sends notifications to one address, and gathers those of a storm.
#ifndef KUBEXX_RELOADER_RECEIVERS_RECEIVER_H_
#define KUBEXX_RELOADER_RECEIVERS_RECEIVER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/alarms.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/mutex.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/receivers/receiver_message.h"
#include "kubexx/reloader/receivers/receiver_settings.h"
#include "kubexx/reloader/receivers/storm_digest.h"

namespace kubexx::reloader {

/// Sends what its settings want, one message at a time and in order. Within an interval it sends
/// the first notifications by themselves and gathers the others in a digest, which it sends at the
/// end of the interval. What does not fit into its queue is gathered, too, so nothing is left out
/// silently while the receiver does not answer. Besides the sender's thread it needs none of its
/// own. Thread-safe.
class Receiver {
 public:
  /// How many notifications wait by themselves; further ones are gathered.
  static constexpr std::size_t kMaxWaiting = 1000;
  /// When it is closed, so many that wait are sent by themselves; further ones are gathered,
  /// because there is little time. CloudEvents are sent in batches instead.
  static constexpr std::size_t kMaxAtEnd = 20;

  struct Options {
    ReceiverSettings settings{};
    MessageOrigin origin{};
    std::shared_ptr<base::Executor> executor{};
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    /// Makes the id of a digest.
    std::function<std::string()> new_id = base::RandomUuid;
  };

  /// Throws std::system_error when the system has no thread for the executor.
  Receiver(Options options, std::unique_ptr<MessageSender> sender);
  /// Stops.
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const ReceiverSettings& settings() const { return options_.settings; }
  /// Sends the notification, or gathers it, if the settings want it. Never blocks. Without effect
  /// after Close.
  void Take(const std::shared_ptr<const Notification>& notification);
  /// Takes no more; hands all that waits, and the digest, to the sender, which has the time of its
  /// flush_limit from now on. Waits for a message that is being made. May be called again.
  void Close();
  /// Closes, and ends the sender. May be called again.
  void Stop();

 private:
  using Waiting = std::deque<std::shared_ptr<const Notification>>;

  /// Sends the next message if none is under way. Runs on the executor.
  bool Step();
  void GatherLocked(const Notification& notification) KX_REQUIRES(mu_);
  /// The notifications of the next message; empty when none waits.
  std::vector<std::shared_ptr<const Notification>> TakeWaitingLocked() KX_REQUIRES(mu_);

  const Options options_;
  const std::size_t per_message_;
  metrics::Counter gathered_;
  base::Mutex mu_;
  Waiting waiting_ KX_GUARDED_BY(mu_);
  std::optional<StormDigest> digest_ KX_GUARDED_BY(mu_);
  base::TimePoint interval_end_ KX_GUARDED_BY(mu_){};
  std::size_t passed_ KX_GUARDED_BY(mu_) = 0;  ///< within the interval
  bool under_way_ KX_GUARDED_BY(mu_) = false;  ///< a message is being sent
  bool closed_ KX_GUARDED_BY(mu_) = false;
  base::OrderedTask task_;
  base::Alarm alarm_;
  const std::unique_ptr<MessageSender> sender_;  ///< last: it tells the task
};

/// Creates a receiver that sends over HTTP, and tries each message for about a minute. Fails with
/// kInvalidConfig for settings that cannot be used; the error names no URL and no header's value.
apimachinery::Result<std::unique_ptr<Receiver>> NewHttpReceiver(Receiver::Options options);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_RECEIVER_H_
