#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubexx/apiserver/storage/etcd3/internal/etcd_store.h"
#include "kubexx/apiserver/storage/etcd3/internal/translate.h"
#include "kubexx/apiserver/storage/internal/errors.h"

namespace kubexx::apiserver::storage::etcd3::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

using Stream = grpc::ClientReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>;

std::shared_ptr<const Event> Progress(Revision revision) {
  auto event = std::make_shared<Event>();
  event->type = Event::Type::kProgress;
  event->kv.mod_revision = revision;
  return event;
}

/// Translates the end of a watch by etcd into an error.
apimachinery::Status Ended(const etcdserverpb::WatchResponse& response, std::string_view what) {
  if (response.compact_revision() != 0) {
    return storage::internal::Expired(what, response.compact_revision()).error();
  }
  return {Reason::kUnavailable,
          std::string(what) + " was ended by etcd: " + response.cancel_reason() + "; watch again"};
}

/// Whether the next event of a response, or of the response of which this is a fragment, may have
/// the same revision as the one at `at`.
bool HasMore(const etcdserverpb::WatchResponse& response, int at) {
  return at + 1 == response.events_size() ? response.fragment()
                                          : response.events(at + 1).kv().mod_revision() ==
                                                response.events(at).kv().mod_revision();
}

/// Passes the events of one response to the sink.
Result<void> Give(etcdserverpb::WatchResponse& response, const WatchOptions& options,
                  Storage::EventSink sink, const std::stop_token& stop) {
  const Revision revision = response.header().revision();
  if (response.events_size() == 0) {
    // A watch that waits for a future revision has no progress to report yet.
    return !response.created() && !response.fragment() && revision >= options.from_revision
               ? sink(Progress(revision))
               : Result<void>();
  }
  for (int at = 0; at < response.events_size(); ++at) {
    if (stop.stop_requested()) {
      return storage::internal::Cancelled("watch");
    }
    const bool more = HasMore(response, at);  // before the event is taken out
    KX_RETURN_IF_ERROR(sink(TakeEvent(*response.mutable_events(at), more)));
  }
  return {};
}

}  // namespace

/// Writes the requests of a stream. Only one thread at a time may do that: first the one that opens
/// the watch, and then those that ask for its progress.
class EtcdStore::Asker {
 public:
  Asker(Stream& stream, std::string_view prefix, base::Duration interval)
      : stream_(stream),
        prefix_(prefix),
        interval_(interval),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  /// The prefix of the watch.
  const std::string& prefix() const { return prefix_; }
  void Ask() {
    base::MutexLock lock(mu_);
    asked_ = true;
    changed_.notify_all();
  }

 private:
  void Run(const std::stop_token& stop) {
    etcdserverpb::WatchRequest request;
    request.mutable_progress_request();
    while (Wait(stop) && stream_.Write(request)) {
    }
  }

  bool Wait(const std::stop_token& stop) {
    base::Clock& clock = base::Clock::Real();
    const base::TimePoint due =
        interval_.count() > 0 ? clock.Now() + interval_ : base::TimePoint::max();
    base::MutexLock lock(mu_);
    while (!asked_ && clock.Now() < due && !stop.stop_requested()) {
      clock.WaitUntil(mu_, changed_, stop, due);
    }
    asked_ = false;
    return !stop.stop_requested();
  }

  Stream& stream_;
  const std::string prefix_;
  const base::Duration interval_;
  base::Mutex mu_;
  base::CondVar changed_;
  bool asked_ KX_GUARDED_BY(mu_) = false;
  std::jthread thread_;
};

/// Registers a watch's Asker with RequestProgress during its lifetime.
class EtcdStore::Registered {
 public:
  Registered(EtcdStore& store, Asker& asker) : store_(store) {
    const base::MutexLock lock(store_.mu_);
    place_ = store_.askers_.insert(store_.askers_.end(), &asker);
  }
  ~Registered() {
    const base::MutexLock lock(store_.mu_);
    store_.askers_.erase(place_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  EtcdStore& store_;
  std::list<Asker*>::iterator place_;
};

Result<void> EtcdStore::CheckHistory(Revision seen, const WatchOptions& options,
                                     std::string_view what, const std::stop_token& stop) {
  if (!options.was_given_out || seen >= options.from_revision) {
    return {};
  }
  // A member that is behind the others answers like this for a short time, too. The quorum knows
  // the latest revision.
  KX_ASSIGN_OR_RETURN(const Revision latest, CurrentRevision(stop));
  return latest < options.from_revision
             ? storage::internal::OtherHistory(what, options.from_revision, latest)
             : Result<void>();
}

Result<void> EtcdStore::Watch(std::string_view prefix, const WatchOptions& options, EventSink sink,
                              std::stop_token stop) {
  const std::string what = "watch of " + std::string(prefix);
  KX_ASSIGN_OR_RETURN(const Endpoint* endpoint, endpoints_->Connected(DeadlineFromNow(), stop));
  grpc::ClientContext context;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  // With this, a member without a leader ends the watch. Otherwise it would send no events and not
  // tell why.
  context.AddMetadata("hasleader", "true");
  const std::unique_ptr<Stream> stream = endpoint->watch->Watch(&context);

  etcdserverpb::WatchRequest request;
  etcdserverpb::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(std::string(prefix));
  create.set_range_end(EndOf(prefix));
  create.set_start_revision(options.from_revision != 0 ? options.from_revision + 1 : 0);
  create.set_prev_kv(true);
  create.set_fragment(true);
  stream->Write(request);

  Result<void> result;
  {
    Asker asker(*stream, prefix, options.progress_interval);
    const Registered registered(*this, asker);
    etcdserverpb::WatchResponse response;
    while (result && stream->Read(&response)) {
      result = response.canceled()
                   ? Fail(Ended(response, what))
                   : CheckHistory(response.header().revision(), options, what, stop);
      if (result) {
        result = Give(response, options, sink, stop);
      }
    }
    context.TryCancel();
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !stop.stop_requested()) {
    endpoints_->Leave(endpoint);  // it may be without a leader for a long time
  }
  if (stop.stop_requested()) {
    return storage::internal::Cancelled(what);
  }
  if (!result) {
    return result;
  }
  return Fail(Translate(status, what, stop));
}

void EtcdStore::RequestProgress(std::string_view prefix) {
  base::MutexLock lock(mu_);
  for (Asker* asker : askers_) {
    if (prefix.empty() || asker->prefix() == prefix) {
      asker->Ask();
    }
  }
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
