#include "kubexx/reloader/message_sender.h"

#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

constexpr base::Duration kFirstPause = std::chrono::milliseconds(100);

bool MayPass(int status) { return status == 429 || status >= 500; }

metrics::Counter Counter(const MessageSender::Options& options, const char* result) {
  if (options.registry == nullptr) {
    return {};
  }
  return options.registry->Counter("kubexx_reloader_messages_total",
                                   "Alerts and webhook calls, by what became of them.",
                                   {{"target", options.name}, {"result", result}});
}

}  // namespace

MessageSender::MessageSender(Options options, Post post)
    : options_(std::move(options)),
      post_(std::move(post)),
      sent_(Counter(options_, "sent")),
      failed_(Counter(options_, "failed")),
      dropped_(Counter(options_, "dropped")),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

MessageSender::~MessageSender() { Stop(); }

void MessageSender::Send(Message message) {
  {
    const base::MutexLock lock(mu_);
    if (!closed_ && queue_.size() < options_.queue_size) {
      queue_.push_back(std::move(message));
      changed_.notify_all();
      return;
    }
  }
  dropped_.Increment();
}

void MessageSender::Stop() {
  {
    const base::MutexLock lock(mu_);
    closed_ = true;
    changed_.notify_all();
    const base::TimePoint deadline = options_.clock.Now() + options_.flush_limit;
    while (!done_ &&
           options_.clock.WaitUntil(mu_, changed_, {}, deadline) != base::Wake::kTimeout) {
    }
  }
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

void MessageSender::Run(const std::stop_token& stop) {
  while (true) {
    Message message;
    {
      const base::MutexLock lock(mu_);
      while (queue_.empty() && !closed_ && !stop.stop_requested()) {
        (void)options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
      }
      if (queue_.empty() || stop.stop_requested()) {
        dropped_.Increment(static_cast<double>(queue_.size()));
        done_ = true;
        changed_.notify_all();
        return;
      }
      message = std::move(queue_.front());
      queue_.pop_front();
    }
    Deliver(message, stop);
  }
}

void MessageSender::Deliver(const Message& message, const std::stop_token& stop) {
  base::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt) {
    const auto status = post_(message, stop);
    if (status && options_.accepts(*status)) {
      sent_.Increment();
      return;
    }
    const bool final_answer = status && !MayPass(*status);
    if (final_answer || attempt >= options_.attempts || !options_.clock.SleepFor(pause, stop)) {
      failed_.Increment();
      logging::Error("Message could not be delivered",
                     {{"target", options_.name},
                      {"attempts", attempt},
                      {"error", status ? "HTTP status " + std::to_string(*status)
                                       : status.status().ToString()}});
      return;
    }
    pause *= 2;
  }
}

apimachinery::Result<std::unique_ptr<MessageSender>> NewHttpSender(
    MessageSender::Options options, rest::UrlClient::Options target,
    std::function<void(const rest::UrlClient::Answer&)> answered) {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<const rest::UrlClient> poster,
                      rest::UrlClient::New(std::move(target)));
  const auto post = [poster, answered = std::move(answered)](
                        const Message& message,
                        const std::stop_token& stop) -> apimachinery::Result<int> {
    KX_ASSIGN_OR_RETURN(const auto answer, poster->Post(message.content_type, message.body, stop));
    if (answered) {
      answered(answer);
    }
    return answer.status;
  };
  return std::make_unique<MessageSender>(std::move(options), post);
}

}  // namespace kubexx::reloader
