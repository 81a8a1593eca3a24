#include "kubexx/rest/internal/sender.h"

#include <algorithm>

#include "kubexx/logging/log.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/internal/error_response.h"
#include "kubexx/rest/internal/warning.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

constexpr double kDefaultQps = 5;
constexpr int kDefaultBurst = 10;

// Error bodies beyond this are not worth reading; the rest of the connection is given up instead.
constexpr std::size_t kMaxErrorBody = 1 << 20;
constexpr std::chrono::seconds kErrorBodyTimeout(30);

// A connection that a server closed under a request is tried again after this long, as client-go
// does.
constexpr std::chrono::seconds kWaitAfterLostConnection(1);

constexpr std::chrono::seconds kLongThrottle(1);
constexpr std::chrono::seconds kThrottleLogInterval(10);

bool Has(const HttpRequest& request, std::string_view header) {
  return std::ranges::any_of(request.headers, [header](const auto& entry) {
    return std::ranges::equal(entry.first, header,
                              [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  });
}

}  // namespace

Result<std::unique_ptr<Sender>> Sender::New(const Config& config,
                                            const RESTClient::Options& options) {
  KX_ASSIGN_OR_RETURN(ServerUrl server, ParseServerUrl(config.host));
  const double qps = config.qps == 0 ? kDefaultQps : config.qps;
  const int burst = config.burst == 0 ? kDefaultBurst : config.burst;
  std::unique_ptr<Sender> sender(new Sender(options, std::move(server), qps, burst));
  KX_ASSIGN_OR_RETURN(sender->credentials_, Credentials::New(config, options.clock));
  KX_ASSIGN_OR_RETURN(sender->transport_, Transport::New(config, sender->server_, options.clock));
  return sender;
}

Result<void> Sender::Throttle(const Prepared& request, const std::stop_token& stop) {
  if (request.watch) {
    return {};
  }
  const base::Duration wait = bucket_.Reserve();
  LogThrottle(request, wait);
  if (wait > base::Duration::zero() && !options_.clock.SleepFor(wait, stop)) {
    bucket_.Cancel();
    return Fail(Reason::kCancelled, "stopped while waiting for the client-side rate limit");
  }
  return {};
}

// A wait that a user notices is explained, but a client that is always throttled does not fill the
// log.
void Sender::LogThrottle(const Prepared& request, base::Duration wait) {
  if (wait <= kLongThrottle) {
    return;
  }
  {
    const base::TimePoint now = options_.clock.Now();
    base::MutexLock lock(mu_);
    if (throttle_logged_.has_value() && now - *throttle_logged_ < kThrottleLogInterval) {
      return;
    }
    throttle_logged_ = now;
  }
  logging::Info("request waits for the client-side rate limit, not for the server",
                {{"method", request.http.method},
                 {"path", request.http.target},
                 {"wait_seconds", std::chrono::duration<double>(wait).count()}});
}

Result<Opened> Sender::Open(const Prepared& request, const std::stop_token& stop) {
  KX_RETURN_IF_ERROR(Throttle(request, stop));
  base::Clock& time = options_.clock;
  const base::TimePoint deadline =
      request.timeout.count() > 0 ? time.Now() + request.timeout : base::TimePoint::max();
  for (int retries = 0;; ++retries) {
    auto opened = TryOnce(request, deadline, stop);
    if (opened) {
      return std::move(*opened);
    }
    const Attempt& attempt = opened.error();
    if (!attempt.retry || retries >= request.max_retries || time.Now() + attempt.wait >= deadline) {
      return Fail(attempt.status);
    }
    if (!time.SleepFor(attempt.wait, stop)) {
      return Fail(Reason::kCancelled,
                  "stopped while waiting to try again after: " + attempt.status.message);
    }
    KX_RETURN_IF_ERROR(Throttle(request, stop));
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
  HttpRequest http = request.http;
  if (const std::string value = credentials_->Authorization();
      !value.empty() && !Has(http, "Authorization")) {
    http.headers.emplace_back("Authorization", value);
  }
  HttpCall call = transport_->Start(http);
  const bool limited = options_.connect_timeout.count() > 0;
  auto head =
      call.AwaitHead(stop, {.connect = limited ? options_.clock.Now() + options_.connect_timeout
                                               : base::TimePoint::max(),
                            .head = deadline});
  if (!head) {
    Count(http.method, "<error>");
    const bool retry = call.lost_connection() && http.method == "GET";
    return std::unexpected(Attempt{
        .status = std::move(head).error(), .retry = retry, .wait = kWaitAfterLostConnection});
  }
  Count(http.method, std::to_string(head->code));
  for (const std::string& text : ParseWarnings(head->warning)) {
    logging::Warning("the API server warns",
                     {{"text", text}, {"method", http.method}, {"path", http.target}});
  }
  Opened opened{.call = std::move(call), .head = std::move(*head), .deadline = deadline};
  if (opened.head.code >= 200 && opened.head.code <= 299) {
    return opened;
  }
  return std::unexpected(ReadError(std::move(opened), stop));
}

Sender::Attempt Sender::ReadError(Opened opened, const std::stop_token& stop) {
  std::string body;
  const auto collect = [&body](std::string_view chunk) -> Result<void> {
    body.append(chunk.substr(0, kMaxErrorBody - std::min(body.size(), kMaxErrorBody)));
    return {};
  };
  const base::TimePoint deadline =
      std::min(opened.deadline, options_.clock.Now() + kErrorBodyTimeout);
  for (bool more = true; more && body.size() < kMaxErrorBody;) {
    auto read = opened.call.Read(collect, stop, deadline);
    if (!read && read.error().reason == Reason::kCancelled) {
      return {.status = std::move(read).error()};
    }
    more = read && *read;  // a body that broke off still has its code
  }
  const HttpHead& head = opened.head;
  const auto wait = ParseRetryAfter(head.retry_after);
  return {.status = StatusOfResponse(head.code, head.content_type, head.retry_after, body),
          .retry = wait.has_value() && (head.code == 429 || head.code >= 500),
          .wait = wait.value_or(std::chrono::seconds(0))};
}

void Sender::Count(const std::string& verb, const std::string& code) {
  if (options_.registry != nullptr) {
    options_.registry
        ->Counter("rest_client_requests_total",
                  "HTTP requests to the API server by code, method and host.",
                  {{"code", code}, {"method", verb}, {"host", server_.Authority()}})
        .Increment();
  }
}

void Sender::ObserveDuration(const std::string& verb, base::TimePoint start) {
  if (options_.registry != nullptr) {
    static const std::vector<double> kBuckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1,
                                                 2,     4,     8,   15,   30,  60};
    options_.registry
        ->Histogram(
            "rest_client_request_duration_seconds",
            "Time that requests to the API server took, by verb and host; watches are left out.",
            {{"verb", verb}, {"host", server_.Authority()}}, kBuckets)
        .Observe(std::chrono::duration<double>(options_.clock.Now() - start).count());
  }
}

}  // namespace kubexx::rest::internal
