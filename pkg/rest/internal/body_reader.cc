#include "kubexx/rest/internal/body_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kubexx/rest/internal/message/in_seconds.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

base::TimePoint LimitFrom(base::TimePoint begin, base::Duration time, bool limited) {
  return limited ? begin + time : base::TimePoint::max();
}

}  // namespace

namespace internal {

base::TimePoint BodyReader::WholeFrom(base::TimePoint begin) const {
  return LimitFrom(begin, limits_.whole - waited_, limits_.whole.count() > 0);
}

base::TimePoint BodyReader::IdleFrom(base::TimePoint begin) const {
  return LimitFrom(begin, limits_.idle, limits_.idle.count() > 0);
}

base::TimePoint BodyReader::NextLook(base::TimePoint now) const {
  return LimitFrom(now, look_, look_.count() > 0);
}

Result<bool> BodyReader::Next(HttpCall::Sink sink, const std::stop_token& stop) {
  base::Clock& clock = sender_.clock();
  const base::TimePoint begin = clock.Now();
  const base::TimePoint whole = WholeFrom(begin);
  if (Result<void> in_time = InTime(begin, whole); !in_time) {
    return Fail(in_time.error());  // the deadline holds even while bytes keep coming
  }
  const base::TimePoint until = std::min({whole, IdleFrom(begin), limits_.deadline});
  std::optional<base::TimePoint> came;  // taken when bytes come, because the sink may take long
  const auto take = [&came, &clock, &sink](std::string_view piece) -> Result<void> {
    came = came.value_or(clock.Now());
    return sink(piece);
  };
  for (;;) {
    auto read = opened_.Read(take, stop, std::min(until, NextLook(clock.Now())));
    const base::TimePoint now = clock.Now();
    const bool quiet =
        !read && !came && read.error().reason == Reason::kUnavailable && !opened_.call.failed();
    const bool goes_on = quiet ? now < until : read && *read;
    if (goes_on) {
      KX_RETURN_IF_ERROR(HasPresentCertificate());
    }
    if (quiet && now < until) {
      continue;
    }
    waited_ += came.value_or(now) - begin;
    if (quiet) {
      KX_RETURN_IF_ERROR(InTime(now, whole));
      return NothingArrived();
    }
    return read;
  }
}

Result<StreamRead> BodyReader::TryNext(HttpCall::Sink sink) {
  base::Clock& clock = sender_.clock();
  if (!wait_began_) {
    wait_began_ = clock.Now();
    look_at_ = NextLook(*wait_began_);
    KX_RETURN_IF_ERROR(InTime(*wait_began_, WholeFrom(*wait_began_)));
  }
  if (const base::Duration told_at = told_at_.exchange(kNotTold); told_at != kNotTold) {
    *wait_began_ += std::max<base::Duration>(clock.Now() - base::TimePoint(told_at), {});
  }
  const base::TimePoint begin = *wait_began_;
  const base::TimePoint whole = WholeFrom(begin);
  std::optional<base::TimePoint> came;
  const auto take = [&came, &clock, &sink](std::string_view piece) -> Result<void> {
    came = came.value_or(clock.Now());
    return sink(piece);
  };
  auto found = opened_.TryRead(take);
  const base::TimePoint now = came.value_or(clock.Now());
  const bool is_quiet = found && *found == StreamRead::kNothing;
  if (found && *found != StreamRead::kEnd && (!is_quiet || now >= look_at_)) {
    look_at_ = NextLook(now);
    KX_RETURN_IF_ERROR(HasPresentCertificate());
  }
  if (!is_quiet) {
    waited_ += now - begin;
    wait_began_.reset();
    return found;
  }
  KX_RETURN_IF_ERROR(InTime(now, whole));
  if (now >= IdleFrom(begin)) {
    return NothingArrived();
  }
  return found;
}

void BodyReader::Notify(std::function<void()> tell) {
  opened_.call.Notify([this, tell = std::move(tell)] {
    base::Duration not_told = kNotTold;
    told_at_.compare_exchange_strong(not_told, sender_.clock().Now().time_since_epoch());
    tell();
  });
}

base::TimePoint BodyReader::Arm() {
  told_at_ = kNotTold;
  const base::TimePoint begin = wait_began_.value_or(sender_.clock().Now());
  return std::min(
      {opened_.call.Arm(), WholeFrom(begin), IdleFrom(begin), limits_.deadline, look_at_});
}

Result<void> BodyReader::InTime(base::TimePoint now, base::TimePoint whole) const {
  if (now >= limits_.deadline) {
    return Fail(Reason::kTimeout, "the response did not end within the request's timeout");
  }
  if (now >= whole) {
    return Fail(Reason::kTimeout, "the response did not end within " + InSeconds(limits_.whole));
  }
  return {};
}

Result<void> BodyReader::HasPresentCertificate() const {
  if (look_.count() > 0 && sender_.HasOldCertificate(opened_)) {
    return Fail(Reason::kUnavailable,
                "the client certificate has changed, so the watch has to begin again");
  }
  return {};
}

apimachinery::Error BodyReader::NothingArrived() const {
  return Fail(Reason::kUnavailable,
              "nothing arrived within the idle timeout of " + InSeconds(limits_.idle));
}

}  // namespace internal

class ResponseStream::Impl {
 public:
  Impl(internal::Sender& sender, internal::OpenedStream opened, std::string request)
      : stream_(std::move(opened)),
        request_(std::move(request)),
        reader_(sender, stream_.opened, stream_.limits, stream_.look) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() = default;

  const Request::StreamHead& head() const { return stream_.head; }

  Result<StreamRead> TryRead(Request::ChunkSink sink) {
    Result<void> sink_result;
    const auto deliver = [&sink_result, &sink](std::string_view chunk) {
      return sink_result = sink(chunk);
    };
    auto found = reader_.TryNext(deliver);
    if (!sink_result) {
      return Fail(sink_result.error());
    }
    if (!found) {
      apimachinery::Status status = std::move(found).error();
      return Fail(status.code == 0 ? status.WithContext(request_) : std::move(status));
    }
    return found;
  }

  void Notify(std::function<void()> tell) { reader_.Notify(std::move(tell)); }
  base::TimePoint Arm() { return reader_.Arm(); }

 private:
  internal::OpenedStream stream_;
  const std::string request_;
  internal::BodyReader reader_;
};

ResponseStream::ResponseStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResponseStream::~ResponseStream() = default;
const Request::StreamHead& ResponseStream::head() const { return impl_->head(); }
Result<StreamRead> ResponseStream::TryRead(Request::ChunkSink sink) { return impl_->TryRead(sink); }
void ResponseStream::Notify(std::function<void()> tell) { impl_->Notify(std::move(tell)); }
base::TimePoint ResponseStream::Arm() { return impl_->Arm(); }

std::unique_ptr<ResponseStream> internal::NewResponseStream(Sender& sender, OpenedStream opened,
                                                            std::string request) {
  return std::make_unique<ResponseStream>(
      std::make_unique<ResponseStream::Impl>(sender, std::move(opened), std::move(request)));
}

}  // namespace kubexx::rest
