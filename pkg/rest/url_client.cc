#include "kubexx/rest/url_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/error_response.h"
#include "kubexx/rest/internal/config/proxy.h"
#include "kubexx/rest/internal/transport/transport.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::size_t kMaxAnswer = 4096;

}  // namespace

class UrlClient::Impl {
 public:
  Impl(std::unique_ptr<internal::Transport> transport, std::string target, Headers headers,
       std::chrono::milliseconds timeout, base::Clock& clock)
      : transport_(std::move(transport)),
        target_(std::move(target)),
        headers_(std::move(headers)),
        timeout_(timeout),
        clock_(clock) {}

  Result<Answer> Post(std::string_view content_type, std::string_view body,
                      const std::stop_token& stop, base::TimePoint deadline) const {
    const HttpRequest request = PostOf(content_type, body);
    Answer answer;
    if (auto asked = Ask(request, answer, kMaxAnswer, stop, std::min(Deadline(), deadline));
        !asked && answer.status == 0) {
      return Fail(std::move(asked).error());
    }
    return answer;  // if there is an answer, its status tells everything
  }

  Result<Answer> PostWhole(std::string_view content_type, std::string_view body,
                           std::size_t max_bytes, const std::stop_token& stop) const {
    const HttpRequest request = PostOf(content_type, body);
    Answer answer;
    KX_RETURN_IF_ERROR(Ask(request, answer, max_bytes + 1, stop, Deadline()));
    return Bounded(std::move(answer), max_bytes);
  }

  Result<Answer> Get(const Headers& headers, std::size_t max_bytes,
                     const std::stop_token& stop) const {
    // Nobody knows what this server is. Streams bound what it may send in the head of an answer.
    HttpRequest request{.method = "GET", .target = target_, .headers = headers_, .stream = true};
    for (const auto& [name, value] : headers) {
      KX_RETURN_IF_ERROR(CheckHeader(name, value));
      request.headers.emplace_back(name, value);
    }
    Answer answer;
    KX_RETURN_IF_ERROR(Ask(request, answer, max_bytes + 1, stop, Deadline()));
    return Bounded(std::move(answer), max_bytes);
  }

 private:
  base::TimePoint Deadline() const { return base::After(clock_.Now(), timeout_); }

  HttpRequest PostOf(std::string_view content_type, std::string_view body) const {
    HttpRequest request{.method = "POST",
                        .target = target_,
                        .headers = headers_,
                        .body = body,
                        .has_body = true,
                        .stream = true};
    request.headers.emplace_back("Content-Type", content_type);
    return request;
  }

  static Result<Answer> Bounded(Answer answer, std::size_t max_bytes) {
    if (answer.body.size() > max_bytes) {
      return Fail(Reason::kInvalid,
                  "the answer is larger than " + std::to_string(max_bytes) + " bytes");
    }
    return answer;
  }

  /// Reads up to `max_bytes` of the body. After an error, the bytes that were read before it stay
  /// in `answer`.
  Result<void> Ask(const HttpRequest& request, Answer& answer, std::size_t max_bytes,
                   const std::stop_token& stop, base::TimePoint deadline) const {
    internal::HttpCall call = transport_->Start(request);
    const auto head = call.AwaitHead(stop, {.connect = deadline, .head = deadline});
    if (!head) {
      return Fail(head.error());
    }
    answer.status = head->code;
    answer.retry_after = ParseRetryAfter(head->retry_after).value_or(std::chrono::seconds(0));
    const auto keep = [&answer, max_bytes](std::string_view chunk) -> Result<void> {
      answer.body += chunk.substr(0, max_bytes - answer.body.size());
      return {};
    };
    while (answer.body.size() < max_bytes) {
      if (clock_.Now() >= deadline) {
        return Fail(Reason::kTimeout, "the answer did not end within the timeout");
      }
      KX_ASSIGN_OR_RETURN(const bool more, call.Read(keep, stop, deadline));
      if (!more) {
        break;
      }
    }
    return {};
  }

  const std::unique_ptr<internal::Transport> transport_;
  const std::string target_;
  const Headers headers_;
  const std::chrono::milliseconds timeout_;
  base::Clock& clock_;
};

Result<std::unique_ptr<UrlClient>> UrlClient::New(Options options) {
  const std::string_view url = options.url;
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos ||
      !(url.starts_with("http:") || url.starts_with("https:"))) {
    return Fail(Reason::kInvalidConfig, "the URL must begin with http:// or https://");
  }
  const std::size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  const auto server = ParseServerUrl(url.substr(0, end));
  if (!server) {
    return Fail(Reason::kInvalidConfig, "the URL has no host and port that can be used");
  }
  std::string target(url.substr(end, url.find('#', end) - end));
  if (!target.starts_with("/")) {
    target.insert(0, "/");
  }
  std::optional<Proxy> proxy;
  if (!options.proxy.empty()) {
    auto parsed = internal::ParseProxyUrl(options.proxy);
    if (!parsed) {
      return Fail(parsed.error().WithContext("proxy"));
    }
    proxy = *std::move(parsed);
  } else if (options.proxy_from_environment) {
    KX_ASSIGN_OR_RETURN(proxy, internal::ChooseProxy("", *server, internal::ValueInEnvironment));
  }
  for (const auto& [name, value] : options.headers) {
    if (!CheckHeader(name, value)) {
      return Fail(Reason::kInvalidConfig,
                  "the header \"" + name + "\" has a name or a value that cannot be sent");
    }
  }
  KX_ASSIGN_OR_RETURN(auto transport,
                      internal::Transport::NewThrough(std::move(proxy), options.tls, *server,
                                                      options.clock, Http2Use::kNever));
  return std::unique_ptr<UrlClient>(new UrlClient(
      std::make_unique<Impl>(std::move(transport), std::move(target), std::move(options.headers),
                             options.timeout, options.clock)));
}

UrlClient::UrlClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
UrlClient::~UrlClient() = default;

Result<UrlClient::Answer> UrlClient::Post(std::string_view content_type, std::string_view body,
                                          const std::stop_token& stop,
                                          base::TimePoint deadline) const {
  return impl_->Post(content_type, body, stop, deadline);
}

Result<UrlClient::Answer> UrlClient::PostWhole(std::string_view content_type, std::string_view body,
                                               std::size_t max_bytes,
                                               const std::stop_token& stop) const {
  return impl_->PostWhole(content_type, body, max_bytes, stop);
}

Result<UrlClient::Answer> UrlClient::Get(const Headers& headers, std::size_t max_bytes,
                                         const std::stop_token& stop) const {
  return impl_->Get(headers, max_bytes, stop);
}

}  // namespace kubexx::rest
