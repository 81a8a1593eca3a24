#include "kubexx/rest/internal/transport/traced_tripper.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Result;

constexpr int kFirstErrorCode = 400;

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      out.push_back(path.substr(0, end));
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

bool IsWatch(std::string_view query) {
  return query.starts_with("watch=true") || query.find("&watch=true") != std::string_view::npos;
}

std::string VerbOf(std::string_view method, bool has_name, std::string_view query) {
  if (method == "GET" || method == "HEAD") {
    return IsWatch(query) ? "watch" : has_name ? "get" : "list";
  }
  if (method == "DELETE") {
    return has_name ? "delete" : "deletecollection";
  }
  return method == "POST"    ? "create"
         : method == "PUT"   ? "update"
         : method == "PATCH" ? "patch"
                             : std::string(method);
}

std::int64_t NumberOf(const std::string& port) {
  std::int64_t number = 0;
  std::from_chars(port.data(), port.data() + port.size(), number);
  return number;
}

class TracedTrip final : public RoundTrip {
 public:
  TracedTrip(std::unique_ptr<RoundTrip> inner, tracing::Span span)
      : inner_(std::move(inner)), span_(std::move(span)) {}

  Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    auto head = inner_->AwaitHead(stop, limits);
    if (!head) {
      Fail(head.error());
      return head;
    }
    span_.Set("http.response.status_code", std::int64_t{head->code});
    if (head->code >= kFirstErrorCode) {
      span_.Set("error.type", std::to_string(head->code));
      span_.Fail("the server answered " + std::to_string(head->code));
    }
    return head;
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    auto more = inner_->Read(sink, stop, deadline);
    if (!more) {
      Fail(more.error());
    } else if (!*more) {
      span_.End();
    }
    return more;
  }
  Result<StreamRead> TryRead(Sink sink) override {
    auto found = inner_->TryRead(sink);
    if (!found) {
      Fail(found.error());
    } else if (*found == StreamRead::kEnd) {
      span_.End();
    }
    return found;
  }
  void Notify(std::function<void()> tell) override { inner_->Notify(std::move(tell)); }
  base::TimePoint Arm() override { return inner_->Arm(); }
  bool lost_connection() const override { return inner_->lost_connection(); }
  bool failed() const override { return inner_->failed(); }

 private:
  void Fail(const apimachinery::Status& status) {
    span_.Set("error.type", std::string(apimachinery::ToString(status.reason)));
    span_.Fail(status.message);
    span_.End();
  }

  // The span ends after the request, whose end is a part of it.
  std::unique_ptr<RoundTrip> inner_;
  tracing::Span span_;
};

}  // namespace

Asked WhatIsAsked(std::string_view method, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
  const std::vector<std::string_view> all = Segments(path);
  if (all.empty() || (all.front() != "api" && all.front() != "apis")) {
    return {};
  }
  const std::ptrdiff_t skipped = all.front() == "apis" ? 3 : 2;  // with group and version
  if (std::ssize(all) <= skipped) {
    return {};
  }
  std::vector<std::string_view> rest(all.begin() + skipped, all.end());
  Asked asked;
  const bool of_namespace =
      rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize");  // and not within one
  if (rest.size() > 2 && rest[0] == "namespaces" && !of_namespace) {
    asked.namespace_ = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  asked.resource = rest[0];
  if (rest.size() > 1) {
    asked.name = rest[1];
  }
  if (rest.size() > 2) {
    asked.resource += "/" + std::string(rest[2]);
  }
  asked.verb = VerbOf(method, rest.size() > 1, query);
  return asked;
}

TracedTripper::TracedTripper(std::shared_ptr<RoundTripper> inner,
                             std::shared_ptr<tracing::Tracer> tracer, ServerUrl server)
    : inner_(std::move(inner)), tracer_(std::move(tracer)), server_(std::move(server)) {}

tracing::Span TracedTripper::SpanFor(const HttpRequest& request) const {
  std::string_view target = request.target;
  if (target.starts_with(server_.prefix)) {
    target.remove_prefix(server_.prefix.size());
  }
  const Asked asked = WhatIsAsked(request.method, target);
  tracing::Span span =
      tracer_->Start(asked.verb.empty() ? request.method : asked.verb + " " + asked.resource,
                     tracing::SpanKind::kClient);
  if (span.is_recording()) {
    span.Set("http.request.method", request.method);
    span.Set("url.full", server_.Origin() + request.target);
    span.Set("server.address", server_.host);
    span.Set("server.port", NumberOf(server_.port));
    if (!asked.namespace_.empty()) {
      span.Set("k8s.namespace.name", asked.namespace_);
    }
    if (!asked.name.empty()) {
      span.Set("k8s.object.name", asked.name);
    }
  }
  return span;
}

std::unique_ptr<RoundTrip> TracedTripper::Start(const HttpRequest& request) {
  tracing::Span span = SpanFor(request);
  std::unique_ptr<RoundTrip> inner;
  {
    const tracing::Scope scope(span);  // middleware finds it in tracing::Current
    inner = tracer_->propagates() ? StartPropagated(request, span) : inner_->Start(request);
  }
  return std::make_unique<TracedTrip>(std::move(inner), std::move(span));
}

std::unique_ptr<RoundTrip> TracedTripper::StartPropagated(const HttpRequest& request,
                                                          const tracing::Span& span) {
  HttpRequest sent = request;
  sent.headers.emplace_back("traceparent", tracing::TraceParentOf(span.context()));
  if (std::string state = tracing::TraceStateOf(span.context()); !state.empty()) {
    sent.headers.emplace_back("tracestate", std::move(state));
  }
  return inner_->Start(sent);
}

bool TracedTripper::CanNotify() const { return inner_->CanNotify(); }

}  // namespace kubexx::rest::internal
