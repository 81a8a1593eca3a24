#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/rest/error_response.h"
#include "kubexx/rest/internal/body_reader.h"
#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/request.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

// Do keeps the whole response in memory. Larger lists go through Stream.
constexpr std::size_t kMaxBody = 256 << 20;

// The time for which an API server with default settings keeps a watch that asks for no time, and
// the additional time that a watch may take to end.
constexpr std::chrono::minutes kLifetime(60);
constexpr std::chrono::seconds kLifetimeMargin(30);

// A request that takes no longer than this uses the same tunnels as most requests.
constexpr std::chrono::minutes kNotQuiet(10);

// An error that arises on this side names the request. A server's own message already does that.
Status AddContext(const Request& request, Status status) {
  return status.code == 0 ? status.WithContext(request.ToString()) : std::move(status);
}

}  // namespace

Result<internal::Prepared> Request::Prepare(Reading reading) const {
  internal::Sender& sender = *client_->impl_->sender;
  internal::Prepared out{
      .http = {.method = method_,
               .target = Target(),
               .headers = headers_,
               .body = body_,
               .has_body = has_body_,
               .quiet = BeginsLate() || timeout_ > kNotQuiet ||
                        (watch_ && (lifetime_.count() == 0 || lifetime_ > kNotQuiet)),
               .stream = reading == Reading::kStream,
               .secret = ReadsSecrets()},
      .watch = watch_,
      .timeout = timeout_,
      .max_retries = max_retries_,
      .limiter = limiter_,
      .backoff = backoff_,
      .warnings = warnings_};
  if (timeout_.count() == 0 && !watch_ && !Follows()) {
    out.timeout = client_->config().timeout;
  }
  if (out.timeout.count() == 0 && !BeginsLate()) {
    out.response = sender.options().response_timeout;
  }
  const bool json_only = sender.json_only().Has(ResourceKey());
  std::string accept;
  for (const codec::Encoding encoding : accept_) {
    if (json_only && encoding == codec::Encoding::kProtobuf) {
      continue;
    }
    accept += accept.empty() ? "" : ",";
    accept += MediaTypeOf(encoding);
    accept += accept_parameters_.empty() ? "" : ";" + accept_parameters_;
    accept += watch_ ? ";stream=watch" : "";
  }
  out.http.headers.emplace_back(
      "Accept", accept.empty() ? std::string(MediaTypeOf(codec::Encoding::kJson)) : accept);
  out.http.headers.emplace_back("User-Agent", client_->config().user_agent);
  if (method_ == "GET" && !client_->config().disable_compression) {
    out.http.headers.emplace_back("Accept-Encoding", "gzip");
  }
  if (encode_) {
    const codec::Encoding encoding =
        json_only ? codec::Encoding::kJson : codec::Encoding::kProtobuf;
    KX_ASSIGN_OR_RETURN(std::string body, encode_(encoding));
    out.encoded = std::make_shared<const std::string>(std::move(body));
    out.http.body = *out.encoded;
    out.http.headers.emplace_back("Content-Type", MediaTypeOf(encoding));
  } else if (has_body_) {
    out.http.headers.emplace_back("Content-Type", content_type_);
  }
  return out;
}

// When a server does not accept protobuf for this resource, the request is sent once more with
// JSON.
Result<internal::Opened> Request::Open(const std::stop_token& stop, Reading reading) const {
  internal::Sender& sender = *client_->impl_->sender;
  const bool had_choice = !sender.json_only().Has(ResourceKey());
  KX_ASSIGN_OR_RETURN(const internal::Prepared prepared, Prepare(reading));
  auto opened = sender.Open(prepared, stop);
  if (opened || !had_choice) {
    return opened;
  }
  const bool refused_body = encode_ && opened.error().code == 415;
  const bool refused_accept =
      opened.error().code == 406 &&
      std::ranges::find(accept_, codec::Encoding::kProtobuf) != accept_.end();
  if (!refused_body && !refused_accept) {
    return opened;
  }
  sender.json_only().Add(ResourceKey());
  KX_ASSIGN_OR_RETURN(const internal::Prepared in_json, Prepare(reading));
  return sender.Open(in_json, stop);
}

Result<Response> Request::Do(std::stop_token stop) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  base::Clock& clock = sender.clock();
  const base::TimePoint start = clock.Now();
  auto opened = Open(stop, Reading::kWhole);
  if (!opened) {
    sender.metrics().ObserveDuration(method_, clock.Now() - start);
    return Fail(AddContext(*this, std::move(opened).error()));
  }
  Response response{.code = opened->head.code, .encoding = EncodingOf(opened->head.content_type)};
  const auto collect = [&response](std::string_view chunk) -> Result<void> {
    if (chunk.size() > kMaxBody - response.body.size()) {
      return Fail(Reason::kMalformed, "the response is larger than 256 MiB");
    }
    response.body.append(chunk);
    return {};
  };
  internal::BodyLimits limits{.deadline = opened->deadline};
  if (opened->deadline == base::TimePoint::max() && !BeginsLate()) {
    limits.idle = sender.options().idle_timeout;
    limits.whole = sender.options().body_timeout;
  }
  internal::BodyReader reader(sender, *opened, limits, base::Duration::zero());
  for (bool more = true; more;) {
    auto read = reader.Next(collect, stop);
    if (!read) {
      return Fail(AddContext(*this, std::move(read).error()));
    }
    more = *read;
  }
  sender.metrics().ObserveDuration(method_, clock.Now() - start);
  sender.metrics().ObserveResponseSize(method_, opened->bytes);
  return response;
}

Result<internal::OpenedStream> Request::BeginStream(
    const std::stop_token& stop, std::optional<std::chrono::milliseconds> idle_timeout) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  base::Clock& clock = sender.clock();
  const base::TimePoint start = clock.Now();
  auto opened = Open(stop, Reading::kStream);
  if (!watch_) {
    sender.metrics().ObserveDuration(method_, clock.Now() - start);
  }
  if (!opened) {
    return Fail(AddContext(*this, std::move(opened).error()));
  }
  internal::BodyLimits limits{.idle = idle_timeout.value_or(std::chrono::milliseconds(0))};
  if (watch_) {
    limits.whole = std::max<base::Duration>(
        (lifetime_.count() > 0 ? lifetime_ : kLifetime) + kLifetimeMargin, limits.idle);
  } else if (body_timeout_) {
    limits.idle = idle_timeout.value_or(sender.options().idle_timeout);
    limits.whole = *body_timeout_;
  } else if (const base::Duration timeout = client_->config().timeout;
             timeout.count() > 0 && !Follows()) {
    limits.whole = timeout;
    if (timeout_.count() == 0) {
      limits.waited = timeout - (opened->deadline - clock.Now());
    }
  } else if (!BeginsLate()) {
    limits.idle = idle_timeout.value_or(sender.options().idle_timeout);
    limits.whole = sender.options().body_timeout;
  }
  const StreamHead head{.code = opened->head.code,
                        .encoding = EncodingOf(opened->head.content_type),
                        .secret = ReadsSecrets()};
  return internal::OpenedStream{
      .opened = std::move(*opened),
      .head = head,
      .limits = limits,
      .look = watch_ ? sender.certificate_interval() : std::chrono::seconds(0)};
}

Result<void> Request::Stream(HeadSink on_head, ChunkSink on_chunk, std::stop_token stop,
                             std::optional<std::chrono::milliseconds> idle_timeout) {
  KX_ASSIGN_OR_RETURN(internal::OpenedStream stream, BeginStream(stop, idle_timeout));
  internal::Sender& sender = *client_->impl_->sender;
  Result<void> sink_result;
  const auto deliver = [&sink_result, &on_chunk](std::string_view chunk) {
    return sink_result = on_chunk(chunk);
  };
  KX_RETURN_IF_ERROR(on_head(stream.head));
  internal::BodyReader reader(sender, stream.opened, stream.limits, stream.look);
  for (bool more = true; more;) {
    auto read = reader.Next(deliver, stop);
    if (!sink_result) {
      return sink_result;
    }
    if (!read) {
      return Fail(AddContext(*this, std::move(read).error()));
    }
    more = *read;
  }
  if (!watch_) {
    sender.metrics().ObserveResponseSize(method_, stream.opened.bytes);
  }
  return {};
}

Result<std::unique_ptr<ResponseStream>> Request::OpenStream(
    const std::stop_token& stop, std::optional<std::chrono::milliseconds> idle_timeout) {
  if (!client_->CanOpenStreams()) {
    return Fail(Reason::kInternalError,
                ToString() + ": the round tripper cannot notify, so the request needs Stream");
  }
  KX_ASSIGN_OR_RETURN(internal::OpenedStream stream, BeginStream(stop, idle_timeout));
  return internal::NewResponseStream(*client_->impl_->sender, std::move(stream), ToString());
}

}  // namespace kubexx::rest
