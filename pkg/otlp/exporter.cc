#include "kubexx/otlp/exporter.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/otlp/trace_message.h"

namespace kubexx::otlp {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using rest::UrlClient;

constexpr base::Duration kFirstDelay = std::chrono::seconds(1);
constexpr base::Duration kLongestDelay = std::chrono::seconds(10);
// What a collector asks for beyond this is taken for a mistake.
constexpr base::Duration kLongestPause = std::chrono::minutes(10);

Result<std::string> Compressed(const std::string& bytes) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kUsualMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kUsualMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(Reason::kInternalError, "gzip could not be set up");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) {
    return Fail(Reason::kInternalError, "gzip failed");
  }
  return out;
}

bool MaySucceedLater(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// Why the collector did not take everything; std::nullopt when it did.
std::optional<apimachinery::Status> WhatIsWrong(const UrlClient::Answer& answer) {
  if (answer.status < 200 || answer.status > 299) {
    return apimachinery::Status(
        Reason::kUnavailable,
        "the collector answered " + std::to_string(answer.status) +
            (answer.status == 404                           ? "; does the URL have the right path?"
             : answer.status == 401 || answer.status == 403 ? "; check OTEL_EXPORTER_OTLP_HEADERS"
                                                            : ""));
  }
  // Whoever answers with something else has taken the spans all the same, as far as can be known.
  const auto partial = DecodePartialSuccess(answer.body);
  if (!partial || partial->rejected_spans <= 0) {
    return std::nullopt;
  }
  return apimachinery::Status(Reason::kInvalid, "the collector refused " +
                                                    std::to_string(partial->rejected_spans) +
                                                    " of them: " + partial->message);
}

}  // namespace

Exporter::Exporter(const Settings& settings, std::unique_ptr<UrlClient> client, base::Clock& clock)
    : resource_(settings.resource),
      gzip_(settings.gzip),
      limit_(settings.export_timeout),
      client_(std::move(client)),
      clock_(clock) {}

Result<std::unique_ptr<Exporter>> Exporter::New(const Settings& settings, base::Clock& clock) {
  UrlClient::Options options{.url = settings.url,
                             .proxy_from_environment = true,
                             .tls = settings.tls,
                             .headers = settings.headers,
                             .timeout = settings.timeout,
                             .clock = clock};
  if (settings.gzip) {
    options.headers.emplace_back("Content-Encoding", "gzip");
  }
  auto client = UrlClient::New(std::move(options));
  if (!client) {
    return Fail(client.error().WithContext("the collector's endpoint"));
  }
  return std::unique_ptr<Exporter>(new Exporter(settings, std::move(*client), clock));
}

Result<std::string> Exporter::Body(std::span<const tracing::SpanData> spans) const {
  std::string body = EncodeTraces(resource_, spans);
  return gzip_ ? Compressed(body) : body;
}

Result<void> Exporter::AwaitPause(base::TimePoint deadline, const std::stop_token& stop) {
  const base::TimePoint now = clock_.Now();
  if (pause_ends_ > now) {
    // Waiting keeps the spans that come meanwhile in the queue, where the first ones stay.
    const bool slept = clock_.SleepFor(std::min(pause_ends_, deadline) - now, stop);
    if (!slept || pause_ends_ > deadline) {
      return Fail(Reason::kUnavailable, "the collector asked for a pause, which is not over");
    }
  }
  return {};
}

Result<void> Exporter::Export(std::span<const tracing::SpanData> spans,
                              const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const std::string body, Body(spans));
  const base::TimePoint deadline = base::After(clock_.Now(), limit_);
  KX_RETURN_IF_ERROR(AwaitPause(deadline, stop));
  for (base::Duration delay = kFirstDelay;; delay = std::min(2 * delay, kLongestDelay)) {
    const auto answer = client_->Post("application/x-protobuf", body, stop, deadline);
    std::optional<apimachinery::Status> wrong =
        answer ? WhatIsWrong(*answer) : std::optional(answer.error());
    if (!wrong) {
      return {};
    }
    const bool later =
        answer ? MaySucceedLater(answer->status)
               : wrong->reason == Reason::kUnavailable || wrong->reason == Reason::kTimeout;
    base::Duration wait = delay;
    if (later && answer && answer->retry_after.count() > 0) {
      wait = std::min<base::Duration>(answer->retry_after, kLongestPause);
      pause_ends_ = base::After(clock_.Now(), wait);
    }
    if (!later || wait >= deadline - clock_.Now() || !clock_.SleepFor(wait, stop)) {
      return Fail(*std::move(wrong));
    }
  }
}

}  // namespace kubexx::otlp
