#include "kubexx/rest/internal/transport/guarded_tripper.h"

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/rest/internal/transport/refused_trip.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// Call it in a catch block.
apimachinery::Status Thrown(const char* function) {
  return {Reason::kInternalError,
          std::string("the round tripper or middleware of this program threw in ") + function +
              ": " + base::ThrownText()};
}

/// A sink that keeps what it throws from the RoundTrip that calls it.
class OwnSink {
 public:
  explicit OwnSink(RoundTrip::Sink sink) : sink_(sink) {}

  Result<void> operator()(std::string_view piece) {
    try {
      return sink_(piece);
    } catch (...) {
      thrown_ = std::current_exception();
      return Fail(Reason::kInternalError, "the sink threw: " + base::ThrownText());
    }
  }
  void Rethrow() const {
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
  }

 private:
  RoundTrip::Sink sink_;
  std::exception_ptr thrown_;
};

class GuardedTrip final : public RoundTrip {
 public:
  explicit GuardedTrip(std::unique_ptr<RoundTrip> inner) : inner_(std::move(inner)) {}

  Result<HttpHead> AwaitHead(const std::stop_token& stop, const Limits& limits) override {
    try {
      return inner_->AwaitHead(stop, limits);
    } catch (...) {
      has_thrown_ = true;
      return Fail(Thrown("AwaitHead"));
    }
  }
  Result<bool> Read(Sink sink, const std::stop_token& stop, base::TimePoint deadline) override {
    OwnSink own(sink);
    Result<bool> more = ReadInto(own, stop, deadline);
    own.Rethrow();
    return more;
  }
  Result<StreamRead> TryRead(Sink sink) override {
    OwnSink own(sink);
    Result<StreamRead> found = TryReadInto(own);
    own.Rethrow();
    return found;
  }
  void Notify(std::function<void()> tell) override {
    try {
      inner_->Notify(std::move(tell));
    } catch (...) {
      FailNextRead(Thrown("Notify"));
    }
  }
  base::TimePoint Arm() override {
    try {
      if (!failure_) {
        return inner_->Arm();
      }
    } catch (...) {
      FailNextRead(Thrown("Arm"));
    }
    return base::TimePoint();  // TryRead has something to say
  }
  bool lost_connection() const override {
    try {
      return !has_thrown_ && inner_->lost_connection();
    } catch (...) {
      return false;  // so nothing is tried again
    }
  }
  bool failed() const override {
    try {
      return has_thrown_ || inner_->failed();
    } catch (...) {
      return true;
    }
  }

 private:
  Result<bool> ReadInto(OwnSink& sink, const std::stop_token& stop, base::TimePoint deadline) {
    try {
      return inner_->Read(sink, stop, deadline);
    } catch (...) {
      has_thrown_ = true;
      return Fail(Thrown("Read"));
    }
  }
  Result<StreamRead> TryReadInto(OwnSink& sink) {
    if (failure_) {
      return Fail(*failure_);
    }
    try {
      return inner_->TryRead(sink);
    } catch (...) {
      has_thrown_ = true;
      return Fail(Thrown("TryRead"));
    }
  }
  void FailNextRead(apimachinery::Status why) {
    has_thrown_ = true;
    failure_ = std::move(why);
  }

  const std::unique_ptr<RoundTrip> inner_;
  bool has_thrown_ = false;
  std::optional<apimachinery::Status> failure_;  ///< what TryRead says from now on
};

class GuardedTripper final : public RoundTripper {
 public:
  explicit GuardedTripper(std::shared_ptr<RoundTripper> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<RoundTrip> Start(const HttpRequest& request) override {
    try {
      if (std::unique_ptr<RoundTrip> trip = inner_->Start(request)) {
        return std::make_unique<GuardedTrip>(std::move(trip));
      }
    } catch (...) {
      return std::make_unique<RefusedTrip>(Thrown("Start"));
    }
    return std::make_unique<RefusedTrip>(apimachinery::Status(
        Reason::kInternalError, "RoundTripper::Start has returned null for " + request.method +
                                    " " + request.target +
                                    ": return a RoundTrip, which may fail in AwaitHead"));
  }
  bool CanNotify() const override {
    try {
      return inner_->CanNotify();
    } catch (...) {
      return false;
    }
  }

 private:
  const std::shared_ptr<RoundTripper> inner_;
};

}  // namespace

std::shared_ptr<RoundTripper> Guarded(std::shared_ptr<RoundTripper> tripper) {
  return std::make_shared<GuardedTripper>(std::move(tripper));
}

}  // namespace kubexx::rest::internal
