#include "kubexx/apiserver/server/testing/interceptor.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/request/request_info.h"
#include "kubexx/apiserver/endpoints/response/error_response.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx::testing {
namespace {

using apimachinery::Result;

std::string_view QueryOf(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

/// A request as the hooks see it. It lives as long as the request.
class SeenRequest {
 public:
  SeenRequest(const rest::HttpRequest& request, RequestMatch parts)
      : parts_(std::move(parts)),
        method_(request.method),
        target_(request.target),
        body_(request.body) {
    if (body_.starts_with(codec::kEnvelopeMagic)) {
      if (const auto envelope = codec::ReadEnvelope(body_)) {
        encoding_ = codec::Encoding::kProtobuf;
        object_ = envelope->raw;
        type_ = {std::string(envelope->api_version), std::string(envelope->kind)};
        return;
      }
    }
    object_ = body_;
    type_ = codec::ReadTypeMeta(body_);
  }
  SeenRequest(const SeenRequest&) = delete;
  SeenRequest& operator=(const SeenRequest&) = delete;

  InterceptedRequest view() const {
    return {.parts = parts_,
            .method = method_,
            .target = target_,
            .encoding = encoding_,
            .body = object_,
            .type = type_};
  }

 private:
  const RequestMatch parts_;
  const std::string method_;
  const std::string target_;
  const std::string body_;
  codec::Encoding encoding_ = codec::Encoding::kJson;
  std::string_view object_{};
  codec::TypeMeta type_{};
};

/// Returns an error instead of the server's answer.
class ErrorTrip final : public rest::RoundTrip {
 public:
  explicit ErrorTrip(const apimachinery::Status& status) {
    http::Response response = apiserver::ErrorResponse(status);
    head_.code = response.status;
    head_.content_type = std::move(response.content_type);
    for (const auto& [name, value] : response.headers) {
      if (name == "Retry-After") {
        head_.retry_after = value;
      }
    }
    body_ = std::move(response.body);
  }

  Result<rest::HttpHead> AwaitHead(const std::stop_token& /*stop*/,
                                   const Limits& /*limits*/) override {
    return head_;
  }
  Result<bool> Read(Sink sink, const std::stop_token& /*stop*/,
                    base::TimePoint /*deadline*/) override {
    if (body_.empty()) {
      return false;
    }
    const std::string body = std::exchange(body_, {});
    KX_RETURN_IF_ERROR(sink(body));
    return true;
  }
  Result<rest::StreamRead> TryRead(Sink sink) override {
    KX_ASSIGN_OR_RETURN(const bool is_piece, Read(sink, {}, {}));
    return is_piece ? rest::StreamRead::kPiece : rest::StreamRead::kEnd;
  }
  bool lost_connection() const override { return false; }
  bool failed() const override { return false; }

 private:
  rest::HttpHead head_{};
  std::string body_{};
};

/// Fails without an answer.
class LostTrip final : public rest::RoundTrip {
 public:
  explicit LostTrip(apimachinery::Status status) : status_(std::move(status)) {}

  Result<rest::HttpHead> AwaitHead(const std::stop_token& /*stop*/,
                                   const Limits& /*limits*/) override {
    return apimachinery::Fail(status_);
  }
  Result<bool> Read(Sink /*sink*/, const std::stop_token& /*stop*/,
                    base::TimePoint /*deadline*/) override {
    return apimachinery::Fail(status_);
  }
  bool lost_connection() const override {
    return status_.reason == apimachinery::Reason::kUnavailable;
  }
  bool failed() const override { return lost_connection(); }

 private:
  const apimachinery::Status status_;
};

/// What the client gets when a hook has failed with `status`.
std::unique_ptr<rest::RoundTrip> TripFor(const apimachinery::Status& status) {
  const bool is_of_client = status.reason == apimachinery::Reason::kUnavailable ||
                            status.reason == apimachinery::Reason::kCancelled;
  if (status.code == 0 && is_of_client) {
    return std::make_unique<LostTrip>(status);
  }
  return std::make_unique<ErrorTrip>(status);
}

}  // namespace

std::string InterceptedRequest::Parameter(std::string_view name) const {
  return std::string(apiserver::Param(apiserver::ParseQuery(QueryOf(target)), name));
}

class Interceptor::Hooks {
 public:
  void Before(RequestMatch which, Hook hook) {
    const base::MutexLock lock(mu_);
    before_.emplace_back(std::move(which), std::move(hook));
  }
  void After(RequestMatch which, AnswerHook hook) {
    const base::MutexLock lock(mu_);
    after_.emplace_back(std::move(which), std::move(hook));
  }
  void Clear() {
    std::vector<std::pair<RequestMatch, Hook>> before;
    std::vector<std::pair<RequestMatch, AnswerHook>> after;
    const base::MutexLock lock(mu_);
    before_.swap(before);
    after_.swap(after);
  }
  int Count(const RequestMatch& which) const {
    const base::MutexLock lock(mu_);
    int count = 0;
    for (const auto& [parts, times] : counts_) {
      count += Matches(which, parts) ? times : 0;
    }
    return count;
  }

  void Note(const RequestMatch& parts) {
    const base::MutexLock lock(mu_);
    ++counts_[parts];
  }
  Result<void> RunBefore(const InterceptedRequest& request) const {
    for (const Hook& hook : HooksBefore(request)) {
      KX_RETURN_IF_ERROR(hook(request));
    }
    return {};
  }
  Result<void> RunAfter(const InterceptedRequest& request, int code) const {
    for (const AnswerHook& hook : HooksAfter(request)) {
      KX_RETURN_IF_ERROR(hook(request, code));
    }
    return {};
  }

 private:
  template <class F>
  static std::vector<F> Matching(const std::vector<std::pair<RequestMatch, F>>& hooks,
                                 const InterceptedRequest& request) {
    std::vector<F> matching;
    for (const auto& [which, hook] : hooks) {
      if (Matches(which, request.parts)) {
        matching.push_back(hook);
      }
    }
    return matching;
  }
  // The hooks are copied, because they run without the lock.
  std::vector<Hook> HooksBefore(const InterceptedRequest& request) const {
    const base::MutexLock lock(mu_);
    return Matching(before_, request);
  }
  std::vector<AnswerHook> HooksAfter(const InterceptedRequest& request) const {
    const base::MutexLock lock(mu_);
    return Matching(after_, request);
  }

  mutable base::Mutex mu_;
  std::vector<std::pair<RequestMatch, Hook>> before_ KX_GUARDED_BY(mu_);
  std::vector<std::pair<RequestMatch, AnswerHook>> after_ KX_GUARDED_BY(mu_);
  std::map<RequestMatch, int> counts_ KX_GUARDED_BY(mu_);
};

namespace {

/// Runs the hooks. Their type is a template parameter, because Interceptor's class for them is
/// private.
template <class Hooks>
class InterceptedTrip final : public rest::RoundTrip {
 public:
  InterceptedTrip(std::shared_ptr<Hooks> hooks, std::unique_ptr<SeenRequest> seen,
                  std::unique_ptr<rest::RoundTrip> inner)
      : hooks_(std::move(hooks)), seen_(std::move(seen)), inner_(std::move(inner)) {}

  Result<rest::HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    KX_ASSIGN_OR_RETURN(rest::HttpHead head, inner_->AwaitHead(stop, limits));
    const auto passed = hooks_->RunAfter(seen_->view(), head.code);
    if (passed) {
      return head;
    }
    inner_ = TripFor(passed.error());
    return inner_->AwaitHead(stop, limits);
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    return inner_->Read(sink, stop, deadline);
  }
  Result<rest::StreamRead> TryRead(Sink sink) override { return inner_->TryRead(sink); }
  void Notify(std::function<void()> tell) override { inner_->Notify(std::move(tell)); }
  base::TimePoint Arm() override { return inner_->Arm(); }
  bool lost_connection() const override { return inner_->lost_connection(); }
  bool failed() const override { return inner_->failed(); }

 private:
  const std::shared_ptr<Hooks> hooks_;
  const std::unique_ptr<SeenRequest> seen_;
  std::unique_ptr<rest::RoundTrip> inner_;
};

template <class Hooks>
class InterceptedTripper final : public rest::RoundTripper {
 public:
  InterceptedTripper(std::shared_ptr<Hooks> hooks, std::shared_ptr<rest::RoundTripper> inner)
      : hooks_(std::move(hooks)), inner_(std::move(inner)) {}

  std::unique_ptr<rest::RoundTrip> Start(const rest::HttpRequest& request) override {
    const std::string_view target = request.target;
    auto parts =
        PartsOfRequest(request.method, target.substr(0, target.find('?')), QueryOf(target));
    if (!parts) {
      return inner_->Start(request);
    }
    hooks_->Note(*parts);
    auto seen = std::make_unique<SeenRequest>(request, std::move(*parts));
    if (const auto passed = hooks_->RunBefore(seen->view()); !passed) {
      return TripFor(passed.error());
    }
    return std::make_unique<InterceptedTrip<Hooks>>(hooks_, std::move(seen),
                                                    inner_->Start(request));
  }
  bool CanNotify() const override { return inner_->CanNotify(); }

 private:
  const std::shared_ptr<Hooks> hooks_;
  const std::shared_ptr<rest::RoundTripper> inner_;
};

}  // namespace

Interceptor::Interceptor() : hooks_(std::make_shared<Hooks>()) {}
Interceptor::~Interceptor() = default;

rest::Config Interceptor::Around(rest::Config config) const {
  config.wrap_round_tripper =
      [hooks = hooks_, outer = std::move(config.wrap_round_tripper)](
          std::shared_ptr<rest::RoundTripper> inner) -> std::shared_ptr<rest::RoundTripper> {
    auto intercepted = std::make_shared<InterceptedTripper<Hooks>>(hooks, std::move(inner));
    return outer ? outer(std::move(intercepted)) : intercepted;
  };
  return config;
}

void Interceptor::Before(RequestMatch which, Hook hook) {
  hooks_->Before(std::move(which), std::move(hook));
}

void Interceptor::After(RequestMatch which, AnswerHook hook) {
  hooks_->After(std::move(which), std::move(hook));
}

void Interceptor::FailRequests(RequestMatch which, apimachinery::Status status, int times) {
  auto left = std::make_shared<std::atomic<int>>(times);
  Before(std::move(which),
         [left = std::move(left),
          status = std::move(status)](const InterceptedRequest&) -> Result<void> {
           if (left->load() <= 0 || left->fetch_sub(1) <= 0) {
             return {};
           }
           return apimachinery::Fail(status);
         });
}

void Interceptor::Clear() { hooks_->Clear(); }

int Interceptor::Count(const RequestMatch& which) const { return hooks_->Count(which); }

}  // namespace kubexx::testing
