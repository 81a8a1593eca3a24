#include "kubexx/reloader/receivers/receiver.h"

#include <chrono>
#include <utility>

#include "kubexx/reloader/receivers/grafana_annotation.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::reloader {
namespace {

metrics::Counter GatheredCounter(const Receiver::Options& options) {
  if (options.registry == nullptr) {
    return {};
  }
  return options.registry->Counter("kubexx_reloader_notifications_gathered_total",
                                   "Notifications that were gathered in a digest.",
                                   {{"target", options.settings.name}});
}

bool Accepts(int status) { return status >= 200 && status < 300; }

}  // namespace

Receiver::Receiver(Options options, std::unique_ptr<MessageSender> sender)
    : options_(std::move(options)),
      per_message_(MaxPerMessage(options_.settings)),
      gathered_(GatheredCounter(options_)),
      task_(options_.executor, [this] { return Step(); }),
      alarm_(options_.executor->AlarmsOf(options_.clock), task_),
      sender_(std::move(sender)) {
  options_.executor->Start();
  task_.Start();
}

Receiver::~Receiver() { Stop(); }

void Receiver::Take(const std::shared_ptr<const Notification>& notification) {
  if (!options_.settings.Wants(*notification)) {
    return;
  }
  const base::TimePoint now = options_.clock.Now();
  {
    const base::MutexLock lock(mu_);
    if (closed_) {
      return;
    }
    if (now >= interval_end_ && !digest_) {
      interval_end_ = now + options_.settings.digest.every;
      passed_ = 0;
    }
    const auto& after = options_.settings.digest.after;
    if ((after && passed_ >= *after) || waiting_.size() >= kMaxWaiting) {
      GatherLocked(*notification);
    } else {
      ++passed_;
      waiting_.push_back(notification);
    }
  }
  task_.Wake();
}

void Receiver::GatherLocked(const Notification& notification) {
  if (!digest_) {
    digest_.emplace(options_.new_id(), notification.time);
  }
  digest_->Add(notification);
  gathered_.Increment();
}

std::vector<std::shared_ptr<const Notification>> Receiver::TakeWaitingLocked() {
  std::vector<std::shared_ptr<const Notification>> next;
  while (!waiting_.empty() && next.size() < per_message_) {
    next.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return next;
}

bool Receiver::Step() {
  std::optional<StormDigest> digest;
  std::vector<std::shared_ptr<const Notification>> next;
  base::TimePoint look_at = base::TimePoint::max();
  {
    const base::MutexLock lock(mu_);
    if (under_way_ || closed_) {
      return false;  // woken again when it has ended
    }
    const base::TimePoint now = options_.clock.Now();
    if (digest_ && now >= interval_end_) {
      digest = std::exchange(digest_, std::nullopt);
      interval_end_ = now;  // the next one begins a new interval
    } else {
      next = TakeWaitingLocked();
      look_at = digest_ ? interval_end_ : base::TimePoint::max();
    }
    under_way_ = digest || !next.empty();
  }
  alarm_.Set(look_at);
  if (!digest && next.empty()) {
    return false;
  }
  sender_->Send(digest ? MessageOf(options_.settings, options_.origin, *digest)
                       : MessageOf(options_.settings, options_.origin, next),
                [this](bool) {
                  {
                    const base::MutexLock lock(mu_);
                    under_way_ = false;
                  }
                  task_.Wake();
                });
  return false;
}

void Receiver::Close() {
  {
    const base::MutexLock lock(mu_);
    if (closed_) {
      return;
    }
    closed_ = true;
  }
  task_.Stop();
  std::vector<std::vector<std::shared_ptr<const Notification>>> messages;
  std::optional<StormDigest> digest;
  {
    const base::MutexLock lock(mu_);
    while (per_message_ == 1 && waiting_.size() > kMaxAtEnd) {
      GatherLocked(*waiting_.back());
      waiting_.pop_back();
    }
    while (!waiting_.empty()) {
      messages.push_back(TakeWaitingLocked());
    }
    digest = std::exchange(digest_, std::nullopt);
  }
  for (const auto& message : messages) {
    sender_->Send(MessageOf(options_.settings, options_.origin, message));
  }
  if (digest) {
    sender_->Send(MessageOf(options_.settings, options_.origin, *digest));
  }
  sender_->Close();
}

void Receiver::Stop() {
  Close();
  sender_->Stop();
}

apimachinery::Result<std::unique_ptr<Receiver>> NewHttpReceiver(Receiver::Options options) {
  const ReceiverSettings& settings = options.settings;
  MessageSender::Options sending{.name = settings.name, .accepts = Accepts};
  // 0.5 + 1 + 2 + 4 + 8 + 16 + 30 s is long enough for a service that restarts.
  sending.attempts = 8;
  sending.first_pause = std::chrono::milliseconds(500);
  sending.registry = options.registry;
  const bool is_grafana = settings.type == ReceiverType::kGrafana;
  KX_ASSIGN_OR_RETURN(
      auto sender, NewHttpSender(std::move(sending),
                                 {.url = is_grafana ? AnnotationsUrl(settings.url) : settings.url,
                                  .proxy = settings.proxy,
                                  .tls = {.ca_file = settings.ca_file},
                                  .headers = settings.headers}));
  return std::make_unique<Receiver>(std::move(options), std::move(sender));
}

}  // namespace kubexx::reloader
