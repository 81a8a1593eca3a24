#include "kubexx/rest/request.h"

#include <algorithm>

#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/internal/error_response.h"
#include "kubexx/rest/internal/url.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using internal::CheckPathSegment;
using internal::PercentEncode;

// Do keeps the whole response in memory; lists of any size go through Stream.
constexpr std::size_t kMaxBody = 256 << 20;

std::string_view MediaType(codec::Encoding encoding) {
  return encoding == codec::Encoding::kProtobuf ? "application/vnd.kubernetes.protobuf"
                                                : "application/json";
}

// Errors that arise on this side say what was asked; a server's own message already does.
Status AddContext(const Request& request, Status status) {
  return status.code == 0 ? status.WithContext(request.ToString()) : std::move(status);
}

}  // namespace

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

Request& Request::Namespace(std::string_view name_space) {
  if (!name_space.empty()) {
    KeepError(CheckPathSegment("namespace", name_space));
  }
  namespace_ = name_space;
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

Request& Request::Param(std::string_view name, std::string_view value) {
  if (name == "watch") {
    watch_ = value == "true" || value == "1";
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

Request& Request::Watch() { return Param("watch", "true"); }

Request& Request::Header(std::string_view name, std::string_view value) {
  KeepError(internal::CheckHeader(name, value));
  headers_.emplace_back(name, value);
  return *this;
}

Request& Request::Body(codec::Encoding encoding, std::string body) {
  if (content_type_.empty()) {
    content_type_ = MediaType(encoding);
  }
  has_body_ = true;
  body_ = std::move(body);
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
  KeepError(internal::CheckHeader("Accept", parameters));
  accept_parameters_ = parameters;
  return *this;
}

Request& Request::Timeout(std::chrono::milliseconds timeout) {
  timeout_ = timeout;
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
  if (resource_.plural.empty()) {
    return Fail(Reason::kBadRequest, "a request needs a resource or a path");
  }
  const std::string plural(resource_.plural);
  if (!resource_.namespaced && !namespace_.empty()) {
    return Fail(Reason::kBadRequest,
                plural + " are cluster-scoped, so namespace \"" + namespace_ + "\" cannot be set");
  }
  if (resource_.namespaced && namespace_.empty() && (!name_.empty() || method_ == "POST")) {
    return Fail(Reason::kBadRequest, plural + " are namespaced, so a namespace must be set");
  }
  if (!subresource_.empty() && name_.empty()) {
    return Fail(Reason::kBadRequest, "subresource \"" + subresource_ + "\" needs a name");
  }
  return {};
}

std::string Request::Target() const {
  constexpr std::string_view kKeep = ":@!$&'()*+,;=";
  std::string target = client_->impl_->sender->server().prefix;
  if (!abs_path_.empty()) {
    target += PercentEncode(abs_path_, ":@!$&'()*+,;=/");
  } else {
    target += resource_.group.empty() ? "/api" : "/apis/" + PercentEncode(resource_.group, kKeep);
    for (const std::string_view segment :
         {resource_.version, std::string_view(namespace_.empty() ? "" : "namespaces"),
          std::string_view(namespace_), resource_.plural, std::string_view(name_),
          std::string_view(subresource_)}) {
      if (!segment.empty()) {
        target += '/';
        target += PercentEncode(segment, kKeep);
      }
    }
  }
  char separator = '?';
  for (const auto& [name, value] : params_) {
    target += separator;
    target += PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  return target;
}

std::string Request::ToString() const { return method_ + " " + Target(); }

internal::Prepared Request::Prepare() const {
  internal::Prepared out{.http = {.method = method_,
                                  .target = Target(),
                                  .headers = headers_,
                                  .body = body_,
                                  .has_body = has_body_},
                         .watch = watch_,
                         .timeout = timeout_,
                         .max_retries = max_retries_};
  if (timeout_.count() == 0 && !watch_) {
    out.timeout = client_->config().timeout;
  }
  std::string accept;
  for (const codec::Encoding encoding : accept_) {
    accept += accept.empty() ? "" : ",";
    accept += MediaType(encoding);
    accept += accept_parameters_.empty() ? "" : ";" + accept_parameters_;
    accept += watch_ ? ";stream=watch" : "";
  }
  out.http.headers.emplace_back("Accept", accept);
  out.http.headers.emplace_back("User-Agent", client_->config().user_agent);
  if (has_body_) {
    out.http.headers.emplace_back("Content-Type", content_type_);
  }
  return out;
}

Result<Response> Request::Do(std::stop_token stop) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  const base::TimePoint start = sender.clock().Now();
  auto opened = sender.Open(Prepare(), stop);
  if (!opened) {
    sender.ObserveDuration(method_, start);
    return Fail(AddContext(*this, std::move(opened).error()));
  }
  Response response{.code = opened->head.code,
                    .encoding = internal::EncodingOf(opened->head.content_type)};
  const auto collect = [&response](std::string_view chunk) -> Result<void> {
    if (chunk.size() > kMaxBody - response.body.size()) {
      return Fail(Reason::kMalformed, "the response is larger than 256 MiB");
    }
    response.body.append(chunk);
    return {};
  };
  for (bool more = true; more;) {
    auto read = opened->call.Read(collect, stop, opened->deadline);
    if (!read) {
      Status status = std::move(read).error();
      if (opened->deadline != base::TimePoint::max() && sender.clock().Now() >= opened->deadline) {
        status = Status(Reason::kTimeout, "the response did not end within the request's timeout");
      }
      return Fail(AddContext(*this, std::move(status)));
    }
    more = *read;
  }
  sender.ObserveDuration(method_, start);
  return response;
}

Result<void> Request::Stream(HeadSink on_head, ChunkSink on_chunk, std::stop_token stop,
                             std::chrono::milliseconds idle_timeout) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  base::Clock& clock = sender.clock();
  const base::TimePoint start = clock.Now();
  auto opened = sender.Open(Prepare(), stop);
  if (!watch_) {
    sender.ObserveDuration(method_, start);
  }
  if (!opened) {
    return Fail(AddContext(*this, std::move(opened).error()));
  }
  KX_RETURN_IF_ERROR(on_head(
      {.code = opened->head.code, .encoding = internal::EncodingOf(opened->head.content_type)}));
  Result<void> sink_result;
  const auto deliver = [&sink_result, &on_chunk](std::string_view chunk) {
    return sink_result = on_chunk(chunk);
  };
  for (;;) {
    const base::TimePoint deadline =
        idle_timeout.count() > 0 ? clock.Now() + idle_timeout : base::TimePoint::max();
    auto read = opened->call.Read(deliver, stop, deadline);
    if (!sink_result) {
      return sink_result;
    }
    if (!read) {
      return Fail(AddContext(*this, std::move(read).error()));
    }
    if (!*read) {
      return {};
    }
  }
}

}  // namespace kubexx::rest
