/// @file
/// Sends messages to others over HTTP without anyone waiting for it.
#ifndef KUBEXX_RELOADER_NOTIFY_MESSAGE_SENDER_H_
#define KUBEXX_RELOADER_NOTIFY_MESSAGE_SENDER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::reloader {

/// The body of a POST.
struct Message {
  std::string content_type{};
  std::string body{};
  bool operator==(const Message&) const = default;
};

/// A bounded queue of messages with a thread that sends them in order. Thread-safe.
class MessageSender {
 public:
  /// Sends one message and returns the HTTP status of the answer; blocks.
  using Post = std::function<apimachinery::Result<int>(const Message&, const std::stop_token&)>;

  struct Options {
    /// In logs and the label `target` of kubexx_reloader_messages_total.
    std::string name{};
    /// Whether an answer of this HTTP status means success.
    std::function<bool(int status)> accepts{};
    /// How often a message is sent that gets no answer, or one of 429 or 5xx that is no success.
    /// Any other answer is final.
    int attempts = 3;
    /// Between two of them: the first, which doubles, and the longest. The next messages wait.
    base::Duration first_pause = std::chrono::milliseconds(100);
    base::Duration longest_pause = std::chrono::seconds(30);
    /// Messages that may wait; more are dropped and counted.
    std::size_t queue_size = 1000;
    /// How long Stop goes on sending.
    base::Duration flush_limit = std::chrono::seconds(1);
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
  };

  MessageSender(Options options, Post post);
  /// Stops.
  ~MessageSender();
  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;

  /// Called once, when it is final whether the message was delivered: on the sender's thread, or by
  /// Send itself for one that is dropped. Not called for one that the end of the process loses.
  /// Must not call the sender.
  using Done = std::function<void(bool delivered)>;

  /// Never blocks. After Stop the message is dropped.
  void Send(Message message, Done done = {});
  /// Takes no more, sends what waits for at most the flush limit, and joins. What is lost by that
  /// is one line in the log, with the number. May be called again.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  struct Item {
    Message message{};
    Done done{};
  };

  /// False when `stop` was requested before there was a final answer.
  bool Deliver(const Item& item, const std::stop_token& stop);
  static void Finish(const Item& item, bool delivered);

  const Options options_;
  const Post post_;
  metrics::Counter sent_;
  metrics::Counter failed_;
  metrics::Counter dropped_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::deque<Item> queue_ KX_GUARDED_BY(mu_);
  bool closed_ KX_GUARDED_BY(mu_) = false;
  bool done_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;
};

/// A sender of POST requests to `target`; `answered` may be empty and is called on the sender's
/// thread. kInvalidConfig for a URL or a proxy that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewHttpSender(
    MessageSender::Options options, rest::UrlClient::Options target,
    std::function<void(const rest::UrlClient::Answer&)> answered = {});

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_MESSAGE_SENDER_H_
