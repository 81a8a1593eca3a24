#include "kubexx/rest/request.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "kubexx/rest/error_response.h"
#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/internal/message/query_params.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// This is a guard against overflow. No server keeps a watch for that long.
constexpr std::chrono::hours kMaxLifetime(24 * 365);

// Appends `more` to `path` as "/a/b". Returns an error when it is not a plain path.
Result<void> Join(std::string_view what, std::string_view more, std::string& path) {
  while (more.starts_with('/')) {
    more.remove_prefix(1);
  }
  while (more.ends_with('/')) {
    more.remove_suffix(1);
  }
  for (std::size_t begin = 0; begin <= more.size();) {
    const std::size_t end = std::min(more.find('/', begin), more.size());
    KX_RETURN_IF_ERROR(CheckPathSegment(what, more.substr(begin, end - begin)));
    begin = end + 1;
  }
  path += '/';
  path += more;
  return {};
}

}  // namespace

Request::Request(RESTClient& client, std::string method)
    : client_(&client),
      method_(std::move(method)),
      limiter_(client.impl_->sender->options().rate_limiter),
      backoff_(client.impl_->sender->options().backoff),
      warnings_(client.impl_->sender->options().warnings) {}

void Request::KeepError(Result<void> result) {
  if (argument_error_ && !result) {
    argument_error_ = std::move(result);
  }
}

Request& Request::Resource(const apimachinery::ResourceInfo& resource) {
  resource_ = resource;
  if (!resource.group.empty()) {
    KeepError(CheckPathSegment("group", resource.group));
  }
  KeepError(CheckPathSegment("version", resource.version));
  KeepError(CheckPathSegment("resource", resource.plural));
  return *this;
}

Request& Request::Namespace(std::string_view namespace_) {
  if (!namespace_.empty()) {
    KeepError(CheckPathSegment("namespace", namespace_));
  }
  in_namespace_ = namespace_;
  return *this;
}

Request& Request::Name(std::string_view name) {
  KeepError(CheckPathSegment("name", name));
  name_ = name;
  return *this;
}

Request& Request::SubResource(std::string_view subresource) {
  KeepError(CheckPathSegment("subresource", subresource));
  subresource_ = subresource;
  return *this;
}

Request& Request::AbsPath(std::string_view path) {
  const bool plain =
      path.starts_with('/') && path.find_first_of("?#%") == std::string_view::npos &&
      std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!plain) {
    KeepError(Fail(Reason::kBadRequest,
                   "path \"" + std::string(path) + "\" must begin with \"/\" and not be encoded"));
  }
  abs_path_ = path;
  return *this;
}

Request& Request::Prefix(std::string_view segments) {
  KeepError(Join("prefix", segments, prefix_));
  return *this;
}

Request& Request::Suffix(std::string_view segments) {
  KeepError(Join("suffix", segments, suffix_));
  return *this;
}

Request& Request::Param(std::string_view name, std::string_view value) {
  if (name == "watch") {
    watch_ = value == "true" || value == "1";
  }
  if (name == "follow") {
    follow_ = value != "false" && value != "0";
  }
  if (name == "timeoutSeconds") {
    std::int64_t seconds = 0;
    std::from_chars(value.data(), value.data() + value.size(), seconds);
    lifetime_ = std::chrono::seconds(
        std::clamp<std::int64_t>(seconds, 0, std::chrono::seconds(kMaxLifetime).count()));
  }
  params_.emplace_back(name, value);
  return *this;
}

Request& Request::Options(const apimachinery::ListOptions& options) {
  const auto text = [this](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      Param(name, value);
    }
  };
  text("labelSelector", options.label_selector);
  text("fieldSelector", options.field_selector);
  text("resourceVersion", options.resource_version);
  text("resourceVersionMatch", options.resource_version_match);
  text("continue", options.continue_);
  if (options.limit > 0) {
    Param("limit", std::to_string(options.limit));
  }
  if (options.timeout.count() > 0) {
    Param("timeoutSeconds", std::to_string(options.timeout.count()));
  }
  if (options.allow_watch_bookmarks) {
    Param("allowWatchBookmarks", "true");
  }
  if (options.send_initial_events.has_value()) {
    Param("sendInitialEvents", *options.send_initial_events ? "true" : "false");
  }
  return *this;
}

Request& Request::VersionedParams(const codec::TypeSchema& schema, const void* options) {
  for (const auto& [name, value] : internal::QueryParams(schema, options)) {
    Param(name, value);
  }
  return *this;
}

Request& Request::Watch() { return Param("watch", "true"); }

Request& Request::Header(std::string_view name, std::string_view value) {
  KeepError(CheckHeader(name, value));
  headers_.emplace_back(name, value);
  return *this;
}

Request& Request::Body(codec::Encoding encoding, std::string body) {
  if (content_type_.empty()) {
    content_type_ = MediaTypeOf(encoding);
  }
  has_body_ = true;
  body_ = std::move(body);
  return *this;
}

Request& Request::Body(Encoder encode) {
  has_body_ = true;
  encode_ = std::move(encode);
  return *this;
}

Request& Request::Throttle(std::shared_ptr<RateLimiter> limiter) {
  limiter_ = std::move(limiter);
  return *this;
}

Request& Request::BackOff(std::shared_ptr<BackoffManager> manager) {
  backoff_ = std::move(manager);
  return *this;
}

Request& Request::Warnings(std::shared_ptr<WarningHandler> handler) {
  warnings_ = std::move(handler);
  return *this;
}

Request& Request::Accept(std::vector<codec::Encoding> encodings) {
  if (encodings.empty()) {
    KeepError(Fail(Reason::kBadRequest, "no encoding to accept"));
  }
  accept_ = std::move(encodings);
  return *this;
}

Request& Request::AcceptParameters(std::string_view parameters) {
  KeepError(CheckHeader("Accept", parameters));
  accept_parameters_ = parameters;
  return *this;
}

Request& Request::Timeout(std::chrono::milliseconds timeout) {
  timeout_ = timeout;
  return *this;
}

Request& Request::BodyTimeout(std::chrono::milliseconds timeout) {
  body_timeout_ = timeout;
  return *this;
}

Request& Request::MaxRetries(int retries) {
  max_retries_ = retries;
  return *this;
}

Result<void> Request::Check() const {
  KX_RETURN_IF_ERROR(argument_error_);
  if (!abs_path_.empty()) {
    return {};
  }
  if (resource_.plural.empty() && !(prefix_.empty() && suffix_.empty())) {
    return {};
  }
  if (resource_.plural.empty()) {
    return Fail(Reason::kBadRequest, "a request needs a resource or a path");
  }
  const std::string plural(resource_.plural);
  if (!resource_.namespaced && !in_namespace_.empty()) {
    return Fail(Reason::kBadRequest, plural + " are cluster-scoped, so namespace \"" +
                                         in_namespace_ + "\" cannot be set");
  }
  if (resource_.namespaced && in_namespace_.empty() && (!name_.empty() || method_ == "POST")) {
    return Fail(Reason::kBadRequest, plural + " are namespaced, so a namespace must be set");
  }
  if (!subresource_.empty() && name_.empty()) {
    return Fail(Reason::kBadRequest, "subresource \"" + subresource_ + "\" needs a name");
  }
  return {};
}

std::string Request::Target() const {
  constexpr std::string_view kKeep = ":@!$&'()*+,;=";
  constexpr std::string_view kKeepPath = ":@!$&'()*+,;=/";
  std::string target = client_->impl_->sender->server().prefix + PercentEncode(prefix_, kKeepPath);
  if (!abs_path_.empty()) {
    target += PercentEncode(abs_path_, kKeepPath);
  } else if (!resource_.plural.empty()) {
    target += resource_.group.empty() ? "/api" : "/apis/" + PercentEncode(resource_.group, kKeep);
    for (const std::string_view segment :
         {resource_.version, std::string_view(in_namespace_.empty() ? "" : "namespaces"),
          std::string_view(in_namespace_), resource_.plural, std::string_view(name_),
          std::string_view(subresource_)}) {
      if (!segment.empty()) {
        target += '/';
        target += PercentEncode(segment, kKeep);
      }
    }
  }
  target += PercentEncode(suffix_, kKeepPath);
  char separator = '?';
  for (const auto& [name, value] : params_) {
    target += separator;
    target += PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  return target;
}

// Follows the server's own rule for requests that run long and are not limited by its
// --request-timeout.
bool Request::BeginsLate() const { return subresource_ == "log" || subresource_ == "proxy"; }

// A followed log ends when its container ends.
bool Request::Follows() const { return subresource_ == "log" && follow_; }

// When the caller has written the path, its resource is not known, so the path is searched for the
// word.
bool Request::ReadsSecrets() const {
  return (resource_.group.empty() && resource_.plural == "secrets") ||
         abs_path_.find("secrets") != std::string::npos;
}

std::string Request::ToString() const { return method_ + " " + Target(); }

std::string Request::ResourceKey() const {
  return std::string(resource_.group) + "/" + std::string(resource_.version) + "/" +
         std::string(resource_.plural);
}

}  // namespace kubexx::rest
