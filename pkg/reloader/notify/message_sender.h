/// @file
/// Sends messages over HTTP in the background.
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

/// The content of a POST request.
struct Message {
  std::string content_type{};
  std::string body{};
  bool operator==(const Message&) const = default;
};

/// A bounded queue of messages and a thread that sends them in order. Thread-safe.
class MessageSender {
 public:
  /// Sends one message and returns the HTTP status of the answer. An answer that asks for a pause
  /// before the message is sent again may be an error with it. Blocks.
  using Post = std::function<apimachinery::Result<int>(const Message&, const std::stop_token&)>;

  struct Options {
    /// The name in logs and in the label `target` of kubexx_reloader_messages_total.
    std::string name{};
    /// Whether an answer with this HTTP status means success.
    std::function<bool(int status)> accepts{};
    /// How often a message is sent if there is no answer, or one with status 429 or 5xx that does
    /// not mean success. Any other answer is final.
    int attempts = 3;
    /// The first pause between two attempts, which doubles, and the longest one. Later messages
    /// wait meanwhile.
    base::Duration first_pause = std::chrono::milliseconds(100);
    base::Duration longest_pause = std::chrono::seconds(30);
    /// The longest pause that an error asks for (its details' retry_after) and gets.
    base::Duration longest_wished = std::chrono::minutes(5);
    /// How many messages may wait. Further messages are dropped and counted.
    std::size_t queue_size = 1000;
    /// How long it continues to send after Close or Stop.
    base::Duration flush_limit = std::chrono::seconds(1);
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
  };

  MessageSender(Options options, Post post);
  /// Stops.
  ~MessageSender();
  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;

  /// Called once when it is certain whether the message was delivered: on the sender's thread, or
  /// by Send for a message that is dropped. Not called for a message that is lost because the
  /// process ends. Must not call the sender.
  using Done = std::function<void(bool delivered)>;

  /// Never blocks. Drops the message after Close and Stop.
  void Send(Message message, Done done = {});
  /// Accepts no more messages; the time of flush_limit begins. Several senders that are closed
  /// first and stopped afterwards share that time. Never blocks.
  void Close();
  /// Closes, sends the messages that wait for at most flush_limit, and joins. Logs the number of
  /// messages that are lost in one line. May be called again.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  struct Item {
    Message message{};
    Done done{};
  };

  /// Returns false when `stop` was requested before there was a final answer.
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
  base::TimePoint flush_end_ KX_GUARDED_BY(mu_){};
  bool done_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;
};

/// Creates a sender of POST requests to `target`. `answered` is called with each answer on the
/// sender's thread; it may be empty. Fails with kInvalidConfig for a URL or proxy that cannot be
/// used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewHttpSender(
    MessageSender::Options options, rest::UrlClient::Options target,
    std::function<void(const rest::UrlClient::Answer&)> answered = {});

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_MESSAGE_SENDER_H_
