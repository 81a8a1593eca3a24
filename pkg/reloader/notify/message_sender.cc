#include "kubexx/reloader/notify/message_sender.h"

#include <algorithm>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::reloader {
namespace {

bool MayPass(int status) { return status == 429 || status >= 500; }

metrics::Counter Counter(const MessageSender::Options& options, const char* result) {
  if (options.registry == nullptr) {
    return {};
  }
  return options.registry->Counter(
      "kubexx_reloader_messages_total",
      "Alerts, notifications and webhook calls, by what became of them.",
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

void MessageSender::Send(Message message, Done done) {
  {
    const base::MutexLock lock(mu_);
    if (!closed_ && queue_.size() < options_.queue_size) {
      queue_.push_back({std::move(message), std::move(done)});
      changed_.notify_all();
      return;
    }
  }
  dropped_.Increment();
  if (done) {
    done(false);
  }
}

void MessageSender::Close() {
  const base::MutexLock lock(mu_);
  if (!closed_) {
    closed_ = true;
    flush_end_ = options_.clock.Now() + options_.flush_limit;
    changed_.notify_all();
  }
}

void MessageSender::Stop() {
  Close();
  {
    const base::MutexLock lock(mu_);
    while (!done_ &&
           options_.clock.WaitUntil(mu_, changed_, {}, flush_end_) != base::Wake::kTimeout) {
    }
  }
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

void MessageSender::Run(const std::stop_token& stop) {
  std::size_t lost = 0;
  while (true) {
    Item item;
    {
      const base::MutexLock lock(mu_);
      while (queue_.empty() && !closed_ && !stop.stop_requested()) {
        (void)options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
      }
      if (queue_.empty() || stop.stop_requested()) {
        lost += queue_.size();
        break;
      }
      item = std::move(queue_.front());
      queue_.pop_front();
    }
    lost += Deliver(item, stop) ? 0 : 1;
  }
  dropped_.Increment(static_cast<double>(lost));
  if (lost > 0) {
    logging::Warning("The process ends before all messages were delivered",
                     {{"target", options_.name}, {"lost", lost}});
  }
  const base::MutexLock lock(mu_);
  done_ = true;
  changed_.notify_all();
}

void MessageSender::Finish(const Item& item, bool delivered) {
  if (item.done) {
    item.done(delivered);
  }
}

bool MessageSender::Deliver(const Item& item, const std::stop_token& stop) {
  base::Duration pause = options_.first_pause;
  for (int attempt = 1;; ++attempt) {
    const auto status = post_(item.message, stop);
    if (status && options_.accepts(*status)) {
      sent_.Increment();
      Finish(item, true);
      return true;
    }
    const bool final_answer = status && !MayPass(*status);
    if (final_answer || attempt >= options_.attempts) {
      failed_.Increment();
      logging::Error("Cannot deliver a message",
                     {{"target", options_.name},
                      {"attempts", attempt},
                      {"error", status ? "HTTP status " + std::to_string(*status)
                                       : status.error().ToString()}});
      Finish(item, false);
      return true;
    }
    const base::Duration wished =
        status ? base::Duration(0) : base::Duration(status.error().details.retry_after);
    if (!options_.clock.SleepFor(std::max(pause, std::min(wished, options_.longest_wished)),
                                 stop)) {
      return false;
    }
    pause = std::min(2 * pause, options_.longest_pause);
  }
}

apimachinery::Result<std::unique_ptr<MessageSender>> NewHttpSender(
    MessageSender::Options options, rest::UrlClient::Options target,
    std::function<void(const rest::UrlClient::Answer&)> answered) {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<const rest::UrlClient> poster,
                      rest::UrlClient::New(std::move(target)));
  const auto post = [poster, answered = std::move(answered), accepts = options.accepts](
                        const Message& message,
                        const std::stop_token& stop) -> apimachinery::Result<int> {
    KX_ASSIGN_OR_RETURN(const auto answer, poster->Post(message.content_type, message.body, stop));
    if (answered) {
      answered(answer);
    }
    if (answer.retry_after.count() > 0 && MayPass(answer.status) && !accepts(answer.status)) {
      apimachinery::Status wait(apimachinery::Reason::kTooManyRequests,
                                "HTTP status " + std::to_string(answer.status), answer.status);
      wait.details.retry_after = answer.retry_after;
      return apimachinery::Fail(std::move(wait));
    }
    return answer.status;
  };
  return std::make_unique<MessageSender>(std::move(options), post);
}

}  // namespace kubexx::reloader
