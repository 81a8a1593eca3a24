#include "kubexx/rest/request.h"

#include <algorithm>

#include "kubexx/rest/internal/client_impl.h"
#include "kubexx/rest/internal/error_response.h"
#include "kubexx/rest/internal/query_params.h"
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

// `more` appended to `path` as "/a/b", or an error when it is no plain path.
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

// Reads a stream piece by piece. A watch on a connection whose client certificate may be replaced
// looks for a new one from time to time, and ends when there is one: it begins again with it.
struct StreamReader {
  internal::Sender& sender;
  internal::Opened& opened;
  base::Duration idle_timeout;  // zero: none
  base::Duration look;          // how often to look; zero: never

  Result<bool> Next(internal::HttpCall::Sink sink, const std::stop_token& stop) const {
    base::Clock& clock = sender.clock();
    const base::TimePoint idle =
        idle_timeout.count() > 0 ? clock.Now() + idle_timeout : base::TimePoint::max();
    if (look.count() == 0) {
      return opened.Read(sink, stop, idle);
    }
    for (;;) {
      auto read = opened.Read(sink, stop, std::min(idle, clock.Now() + look));
      const bool time_is_up = !read && read.error().reason == Reason::kUnavailable &&
                              !opened.call.failed() && clock.Now() < idle;
      if ((time_is_up || (read && *read)) && sender.HasOldCertificate(opened)) {
        return Fail(Reason::kUnavailable,
                    "the client certificate has changed, so the watch has to begin again");
      }
      if (!time_is_up) {
        return read;
      }
    }
  }
};

// Errors that arise on this side say what was asked; a server's own message already does.
Status AddContext(const Request& request, Status status) {
  return status.code == 0 ? status.WithContext(request.ToString()) : std::move(status);
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
  if (resource_.plural.empty() && !(prefix_.empty() && suffix_.empty())) {
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
  constexpr std::string_view kKeepPath = ":@!$&'()*+,;=/";
  std::string target = client_->impl_->sender->server().prefix + PercentEncode(prefix_, kKeepPath);
  if (!abs_path_.empty()) {
    target += PercentEncode(abs_path_, kKeepPath);
  } else if (!resource_.plural.empty()) {
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
  target += PercentEncode(suffix_, kKeepPath);
  char separator = '?';
  for (const auto& [name, value] : params_) {
    target += separator;
    target += PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  return target;
}

std::string Request::ToString() const { return method_ + " " + Target(); }

std::string Request::ResourceKey() const {
  return std::string(resource_.group) + "/" + std::string(resource_.version) + "/" +
         std::string(resource_.plural);
}

Result<internal::Prepared> Request::Prepare() const {
  internal::Sender& sender = *client_->impl_->sender;
  internal::Prepared out{.http = {.method = method_,
                                  .target = Target(),
                                  .headers = headers_,
                                  .body = body_,
                                  .has_body = has_body_},
                         .watch = watch_,
                         .timeout = timeout_,
                         .max_retries = max_retries_,
                         .limiter = limiter_,
                         .backoff = backoff_,
                         .warnings = warnings_};
  if (timeout_.count() == 0 && !watch_) {
    out.timeout = client_->config().timeout;
  }
  const bool json_only = sender.json_only().Has(ResourceKey());
  std::string accept;
  for (const codec::Encoding encoding : accept_) {
    if (json_only && encoding == codec::Encoding::kProtobuf) {
      continue;
    }
    accept += accept.empty() ? "" : ",";
    accept += MediaType(encoding);
    accept += accept_parameters_.empty() ? "" : ";" + accept_parameters_;
    accept += watch_ ? ";stream=watch" : "";
  }
  out.http.headers.emplace_back(
      "Accept", accept.empty() ? std::string(MediaType(codec::Encoding::kJson)) : accept);
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
    out.http.headers.emplace_back("Content-Type", MediaType(encoding));
  } else if (has_body_) {
    out.http.headers.emplace_back("Content-Type", content_type_);
  }
  return out;
}

// A server that takes no protobuf for this resource is asked again in JSON, once.
Result<internal::Opened> Request::Open(const std::stop_token& stop) const {
  internal::Sender& sender = *client_->impl_->sender;
  const bool had_choice = !sender.json_only().Has(ResourceKey());
  KX_ASSIGN_OR_RETURN(const internal::Prepared prepared, Prepare());
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
  KX_ASSIGN_OR_RETURN(const internal::Prepared in_json, Prepare());
  return sender.Open(in_json, stop);
}

Result<Response> Request::Do(std::stop_token stop) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  base::Clock& clock = sender.clock();
  const base::TimePoint start = clock.Now();
  auto opened = Open(stop);
  if (!opened) {
    sender.metrics().ObserveDuration(method_, clock.Now() - start);
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
    auto read = opened->Read(collect, stop, opened->deadline);
    if (!read) {
      Status status = std::move(read).error();
      if (opened->deadline != base::TimePoint::max() && clock.Now() >= opened->deadline) {
        status = Status(Reason::kTimeout, "the response did not end within the request's timeout");
      }
      return Fail(AddContext(*this, std::move(status)));
    }
    more = *read;
  }
  sender.metrics().ObserveDuration(method_, clock.Now() - start);
  sender.metrics().ObserveResponseSize(method_, opened->bytes);
  return response;
}

Result<void> Request::Stream(HeadSink on_head, ChunkSink on_chunk, std::stop_token stop,
                             std::chrono::milliseconds idle_timeout) {
  KX_RETURN_IF_ERROR(Check());
  internal::Sender& sender = *client_->impl_->sender;
  base::Clock& clock = sender.clock();
  const base::TimePoint start = clock.Now();
  auto opened = Open(stop);
  if (!watch_) {
    sender.metrics().ObserveDuration(method_, clock.Now() - start);
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
  const base::Duration look = watch_ ? sender.certificate_interval() : std::chrono::seconds(0);
  const StreamReader reader{
      .sender = sender, .opened = *opened, .idle_timeout = idle_timeout, .look = look};
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
    sender.metrics().ObserveResponseSize(method_, opened->bytes);
  }
  return {};
}

}  // namespace kubexx::rest
