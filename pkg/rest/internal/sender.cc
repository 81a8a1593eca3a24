#include "kubexx/rest/internal/sender.h"

#include <algorithm>

#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/error_response.h"
#include "kubexx/rest/internal/credentials/impersonation.h"
#include "kubexx/rest/internal/message/warning.h"
#include "kubexx/rest/internal/transport/transport_tripper.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

constexpr double kDefaultQps = 5;
constexpr int kDefaultBurst = 10;

// The body of an error is not read any further than this. The connection is given up instead.
constexpr std::size_t kMaxErrorBody = 1 << 20;
constexpr std::chrono::seconds kErrorBodyTimeout(30);

// The wait before a request is tried again after the server has closed its connection. The value is
// client-go's.
constexpr std::chrono::seconds kWaitAfterLostConnection(1);

// A longer Retry-After is not waited for. Then the caller gets the response, and may have something
// better to do. API servers ask for seconds; an answer that asks for hours is a maintenance page.
constexpr std::chrono::minutes kLongestRetryAfter(2);

// The interval at which a running watch looks for a new client certificate.
constexpr std::chrono::seconds kCertificateInterval(60);

// This is only a guard, because there are not so many resources.
constexpr std::size_t kMaxJsonOnly = 10000;

bool Has(const HttpRequest& request, std::string_view header) {
  return std::ranges::any_of(request.headers, [header](const auto& entry) {
    return std::ranges::equal(entry.first, header,
                              [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  });
}

// Returns the last error. When that one only says that the server is unreachable, the error before
// it is added, which may tell the reason.
Status WithPrevious(Status status, const std::string& previous) {
  if (status.code == 0 && !previous.empty() && previous != status.message) {
    status.message += "; error of the previous attempt: " + previous;
  }
  return status;
}

}  // namespace

bool JsonOnly::Has(const std::string& resource) const {
  base::MutexLock lock(mu_);
  return resources_.contains(resource);
}

void JsonOnly::Add(const std::string& resource) {
  base::MutexLock lock(mu_);
  if (resources_.size() < kMaxJsonOnly) {
    resources_.insert(resource);
  }
}

Result<bool> Opened::Read(HttpCall::Sink sink, const std::stop_token& stop, base::TimePoint until) {
  const auto take = [this, &sink](std::string_view chunk) { return Take(chunk, sink); };
  auto more = call.Read(take, stop, until);
  if (more && !*more && gzip) {
    KX_RETURN_IF_ERROR(gzip->Finish());
  }
  return more;
}

Result<StreamRead> Opened::TryRead(HttpCall::Sink sink) {
  const auto take = [this, &sink](std::string_view chunk) { return Take(chunk, sink); };
  auto found = call.TryRead(take);
  if (found && *found == StreamRead::kEnd && gzip) {
    KX_RETURN_IF_ERROR(gzip->Finish());
  }
  return found;
}

Result<void> Opened::Take(std::string_view chunk, HttpCall::Sink sink) {
  bytes += chunk.size();
  return gzip ? gzip->Feed(chunk, sink) : sink(chunk);
}

Sender::Sender(Config config, RESTClient::Options options, ServerUrl server)
    : config_(std::move(config)),
      options_(std::move(options)),
      server_(std::move(server)),
      metrics_(options_.registry, server_.Authority(), options_.clock) {}

Result<std::unique_ptr<Sender>> Sender::New(Config config, RESTClient::Options options) {
  KX_ASSIGN_OR_RETURN(ServerUrl server, ParseServerUrl(config.host));
  if (!options.rate_limiter) {
    const double qps = config.qps == 0 ? kDefaultQps : config.qps;
    const int burst = config.burst == 0 ? kDefaultBurst : config.burst;
    options.rate_limiter = NewTokenBucketLimiter(qps, burst, options.clock);
  }
  if (!options.backoff) {
    options.backoff = BackoffFromEnvironment();
  }
  if (!options.warnings) {
    options.warnings = NewWarningLogger();
  }
  std::unique_ptr<Sender> sender(
      new Sender(std::move(config), std::move(options), std::move(server)));
  base::Clock& clock = sender->clock();
  KX_ASSIGN_OR_RETURN(sender->impersonation_, ImpersonationHeaders(sender->config_.impersonate));
  KX_ASSIGN_OR_RETURN(sender->credentials_,
                      Credentials::New(sender->config_, clock, sender->metrics_));
  sender->reload_ = std::make_unique<TlsReload>(
      sender->server_.tls ? sender->config_.tls : TlsConfig{}, clock, sender->metrics_);
  KX_ASSIGN_OR_RETURN(sender->transport_, Transport::New(sender->config_, sender->server_, clock));
  sender->reload_->Attach(*sender->transport_);
  KX_ASSIGN_OR_RETURN(sender->wrapped_, Wrapped(sender->config_, sender->options_.tracer,
                                                sender->transport_, sender->server_, clock));
  return sender;
}

Result<void> Sender::Throttle(const Prepared& request, base::TimePoint deadline,
                              const std::stop_token& stop) {
  if (!request.limiter) {
    return {};
  }
  const base::Duration wait = request.limiter->Reserve();
  if (wait > base::Duration::zero() && wait >= deadline - options_.clock.Now()) {
    request.limiter->Cancel();
    return Fail(Reason::kTimeout,
                "the client-side rate limit allows it only after the request's timeout");
  }
  LogThrottle(request, wait);
  if (wait > base::Duration::zero() && !options_.clock.SleepFor(wait, stop)) {
    request.limiter->Cancel();
    return Fail(Reason::kCancelled, "stopped while waiting for the client-side rate limit");
  }
  metrics_.ObserveThrottle(request.http.method, wait);
  return {};
}

void Sender::LogThrottle(const Prepared& request, base::Duration wait) {
  if (const auto level = throttle_log_.LevelOf(wait, options_.clock.Now())) {
    logging::Log(*level, "A request waits for the client-side rate limit, not for the API server",
                 {{"method", request.http.method},
                  {"path", request.http.target},
                  {"wait_seconds", std::chrono::duration<double>(wait).count()}});
  }
}

base::Duration Sender::DelayOf(const Prepared& request, base::Duration wait) const {
  return request.backoff ? std::max(wait, request.backoff->Delay(server_.Authority())) : wait;
}

Result<void> Sender::Pause(base::Duration wait, const std::stop_token& stop) {
  if (wait > base::Duration::zero() && !options_.clock.SleepFor(wait, stop)) {
    return Fail(Reason::kCancelled, "stopped while waiting to send the request");
  }
  return {};
}

// Many requests are made on threads of the library, where an exception would end the process.
Result<Opened> Sender::Open(const Prepared& request, const std::stop_token& stop) {
  try {
    return OpenOrThrow(request, stop);
  } catch (...) {
    return Fail(Reason::kInternalError,
                "a rate limiter or backoff of this program threw: " + base::ThrownText());
  }
}

Result<Opened> Sender::OpenOrThrow(const Prepared& request, const std::stop_token& stop) {
  if (!request.watch) {
    KX_RETURN_IF_ERROR(Throttle(request, base::TimePoint::max(), stop));
  }
  base::Clock& time = options_.clock;
  const base::TimePoint deadline =
      request.timeout.count() > 0 ? time.Now() + request.timeout : base::TimePoint::max();
  std::string previous;
  const base::Duration first = DelayOf(request, base::Duration::zero());
  if (first > base::Duration::zero() && first >= deadline - time.Now()) {
    return Fail(Reason::kTimeout, "the backoff of the host is longer than the request's timeout");
  }
  KX_RETURN_IF_ERROR(Pause(first, stop));
  bool renewed = false;
  for (int retries = 0;;) {
    auto opened = TryOnce(request, deadline, stop);
    if (request.backoff) {
      request.backoff->Update(server_.Authority(),
                              opened ? opened->head.code : opened.error().code);
    }
    if (opened) {
      return std::move(*opened);
    }
    const Attempt& attempt = opened.error();
    if (attempt.refused && !renewed && RenewCredentials(attempt)) {
      renewed = true;
      metrics_.CountRetry(request.http.method, std::to_string(attempt.code));
      continue;
    }
    const base::Duration wait = DelayOf(request, attempt.wait);
    if (!attempt.retry || retries >= request.max_retries || wait >= deadline - time.Now()) {
      return Fail(WithPrevious(attempt.status, previous));
    }
    if (auto paused = Pause(wait, stop); !paused) {
      return Fail(paused.error().reason,
                  paused.error().message + " again after: " + attempt.status.message);
    }
    if (auto allowed = Throttle(request, deadline, stop); !allowed) {
      return Fail(allowed.error().reason == Reason::kTimeout
                      ? WithPrevious(attempt.status, previous)
                      : allowed.error());
    }
    previous = attempt.status.message;
    ++retries;
    metrics_.CountRetry(request.http.method,
                        attempt.code == 0 ? "<error>" : std::to_string(attempt.code));
  }
}

Result<Credentials::Credential> Sender::AddCredentials(HttpRequest& http, base::TimePoint deadline,
                                                       const std::stop_token& stop) {
  Credentials::Credential used;
  if (!Has(http, "Authorization")) {
    KX_ASSIGN_OR_RETURN(used, credentials_->Get(stop, deadline));
    if (!used.authorization.empty()) {
      http.headers.emplace_back("Authorization", used.authorization);
    }
  }
  if (used.plugin && server_.tls) {
    KX_RETURN_IF_ERROR(reload_->UseClientCertificate(used.plugin->certificate, used.plugin->key));
  }
  if (!impersonation_.empty() && !Has(http, "Impersonate-User")) {
    http.headers.insert(http.headers.end(), impersonation_.begin(), impersonation_.end());
  }
  return used;
}

bool Sender::RenewCredentials(const Attempt& attempt) {
  const bool certificate = reload_->CheckAfterRefusal(attempt.certificate);
  return credentials_->Renew(attempt.credential) || certificate;
}

void Sender::Warn(const Prepared& request, const HttpHead& head) const {
  if (head.warning.empty() || !request.warnings) {
    return;
  }
  try {
    for (const Warning& warning : ParseWarnings(head.warning)) {
      request.warnings->Handle(warning);
    }
  } catch (...) {  // The request has been answered, whatever becomes of its warnings.
    logging::Error("A handler of an API server's warnings threw", {{"error", base::ThrownText()}});
  }
}

std::expected<Opened, Sender::Attempt> Sender::TryOnce(const Prepared& request,
                                                       base::TimePoint deadline,
                                                       const std::stop_token& stop) {
  const auto failed = [](Status status) {
    return std::unexpected(Attempt{.status = std::move(status)});
  };
  if (stop.stop_requested()) {
    return failed(Status(Reason::kCancelled, "stopped before the request was sent"));
  }
  reload_->Check();
  HttpRequest http = request.http;
  const bool own_credentials = Has(http, "Authorization");
  auto used = AddCredentials(http, deadline, stop);
  if (!used) {
    return failed(std::move(used).error());
  }
  // It may have taken long to get the credentials and to check the files.
  if (options_.clock.Now() >= deadline) {
    return failed(Status(Reason::kTimeout, "not sent within the request's timeout"));
  }
  if (stop.stop_requested()) {
    return failed(Status(Reason::kCancelled, "stopped before the request was sent"));
  }
  if (http.has_body) {
    metrics_.ObserveRequestSize(http.method, http.body.size());
  }
  // The generation is read before the request starts: if it is too old, a watch merely begins anew.
  std::uint64_t certificate = transport_->certificate_generation();
  HttpCall call = wrapped_ ? wrapped_->Start(http) : transport_->Start(http);
  if (!wrapped_) {
    certificate = call.certificate_generation();
  }
  const bool limited = options_.connect_timeout.count() > 0;
  auto head =
      call.AwaitHead(stop, {.connect = limited ? options_.clock.Now() + options_.connect_timeout
                                               : base::TimePoint::max(),
                            .head = deadline,
                            .response = request.response});
  if (!head) {
    metrics_.CountRequest(http.method, "<error>");
    const bool retry = call.lost_connection() && http.method == "GET";
    return std::unexpected(Attempt{
        .status = std::move(head).error(), .retry = retry, .wait = kWaitAfterLostConnection});
  }
  metrics_.CountRequest(http.method, std::to_string(head->code));
  Warn(request, *head);
  Opened opened{.call = std::move(call),
                .head = std::move(*head),
                .deadline = deadline,
                .certificate = certificate};
  if (opened.head.content_encoding == "gzip") {
    opened.gzip = std::make_unique<GzipDecoder>();
  }
  if (opened.head.code >= 200 && opened.head.code <= 299) {
    return opened;
  }
  Attempt attempt = ReadError(std::move(opened), stop);
  attempt.refused = attempt.code == 401 && !own_credentials;
  attempt.credential = used->generation;
  return std::unexpected(std::move(attempt));
}

Sender::Attempt Sender::ReadError(Opened opened, const std::stop_token& stop) {
  std::string body;
  const auto collect = [&body](std::string_view chunk) -> Result<void> {
    body.append(chunk.substr(0, kMaxErrorBody - std::min(body.size(), kMaxErrorBody)));
    return {};
  };
  const base::TimePoint deadline =
      std::min(opened.deadline, options_.clock.Now() + kErrorBodyTimeout);
  // A body that decompresses to nothing would never reach the size limit, so the time limits it,
  // too.
  bool is_broken = true;
  for (bool more = true; more && body.size() < kMaxErrorBody && options_.clock.Now() < deadline;) {
    auto read = opened.Read(collect, stop, deadline);
    if (!read && read.error().reason == Reason::kCancelled) {
      return {.status = std::move(read).error()};
    }
    more = read && *read;  // if the body broke off, its status code still counts
    is_broken = !read || more;
  }
  const HttpHead& head = opened.head;
  const auto wait = ParseRetryAfter(head.retry_after);
  Status status = StatusOfResponse(head.code, head.content_type, head.retry_after, body);
  if (is_broken && body.size() < kMaxErrorBody &&
      apimachinery::HasStatusCause(status, apimachinery::kUnexpectedResponseCause)) {
    status.details.causes.push_back(
        {.reason = std::string(apimachinery::kBrokenResponseCause),
         .message = "the body of the response, which would say why, broke off"});
  }
  return {.status = std::move(status),
          .retry = wait.has_value() && *wait <= kLongestRetryAfter &&
                   (head.code == 429 || head.code >= 500),
          .wait = wait.value_or(std::chrono::seconds(0)),
          .code = head.code,
          .certificate = opened.certificate};
}

bool Sender::HasOldCertificate(const Opened& opened) {
  reload_->Check();
  return opened.certificate != transport_->certificate_generation();
}

std::chrono::seconds Sender::certificate_interval() const {
  const bool may_change = server_.tls && (!config_.tls.cert_file.empty() || config_.exec);
  return may_change ? kCertificateInterval : std::chrono::seconds(0);
}

}  // namespace kubexx::rest::internal
