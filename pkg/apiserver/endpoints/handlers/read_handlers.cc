// Handles get, list and watch.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/handlers/object_list.h"
#include "kubexx/apiserver/endpoints/response/formats.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// As in kube-apiserver, a watch without a timeout lasts from 30 to 60 minutes.
constexpr std::chrono::minutes kMinWatchTime{30};

http::Response Body(const AnswerForm& form, std::string body, int code = 200) {
  http::Response response;
  response.status = code;
  response.content_type = form.ContentType();
  response.body = std::move(body);
  return response;
}

base::TimePoint DeadlineOf(const Call& call, const ListOptions& options) {
  base::Duration time = std::max(options.timeout, std::chrono::seconds(-1));
  if (time == base::Duration::zero()) {
    thread_local std::minstd_rand random(std::random_device{}());
    time = kMinWatchTime +
           std::chrono::milliseconds(
               random() % static_cast<unsigned>(std::chrono::milliseconds(kMinWatchTime).count()));
  }
  return call.objects.clock().Now() + time;
}

/// Returns where the watch begins, after waiting until the cache is as fresh as that requires.
Result<WatchStart> StartOf(const Call& call, const ListOptions& options, Cacher& cacher) {
  WatchStart start;
  KX_ASSIGN_OR_RETURN(start.revision, RevisionParam(options.resource_version));
  const bool any = options.resource_version == "0";
  start.initial_events = options.send_initial_events.value_or(start.revision == 0);
  start.mark_end = start.initial_events && options.send_initial_events.has_value() &&
                   options.allow_watch_bookmarks;
  std::int64_t needed = start.initial_events && !any ? start.revision : 0;
  if (options.resource_version.empty()) {
    KX_ASSIGN_OR_RETURN(needed, call.objects.storage().CurrentRevision(call.request.stop));
  }
  KX_RETURN_IF_ERROR(AwaitCache(call.request, cacher, needed));
  if (!start.initial_events) {
    std::optional<http::Waiting> waiting;  // The past of only one watch is converted at a time.
    if (IsConverted(*call.type)) {
      waiting.emplace(call.request);
      KX_RETURN_IF_ERROR(waiting->Check());
    }
    KX_RETURN_IF_ERROR(cacher.ReachBack(start.revision, call.request.stop));
  }
  if (!start.initial_events && start.revision == 0) {
    start.revision = cacher.cache().revision();
  }
  return start;
}

}  // namespace

Result<Selection> SelectionOf(const Call& call, const ListOptions& options) {
  Selection selection;
  selection.namespace_ = call.type->namespaced ? call.info.namespace_ : "";
  KX_ASSIGN_OR_RETURN(selection.labels, apimachinery::LabelSelector::Parse(options.label_selector));
  std::string fields = options.field_selector;
  if (!call.info.name.empty()) {  // This is a watch of one object by its path.
    fields = "metadata.name=" + call.info.name + (fields.empty() ? "" : "," + fields);
  }
  KX_ASSIGN_OR_RETURN(selection.fields, FieldSelector::Parse(fields, *call.type));
  KX_RETURN_IF_ERROR(selection.CheckSize());
  return selection;
}

Answer ObjectResponse(const Call& call, const JsonTree& object, int code) {
  KX_ASSIGN_OR_RETURN(std::string body, ObjectBody(call.form, *call.type, object.ToJson()));
  return Body(call.form, std::move(body), code);
}

namespace {

/// Returns the object as the cache has it. Null when there is no cache, when its state is older
/// than `revision`, and when it does not have the object, which may be a new one.
Result<CachedObjectRef> CachedObjectOf(const Call& call, std::int64_t revision) {
  const std::shared_ptr<Cacher> cacher = call.types.CacherIfAny(call.type);
  if (cacher == nullptr || !cacher->cache().Has(revision)) {
    return nullptr;
  }
  KX_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(call, {}));  // by its name
  const CachedList list = cacher->cache().List(selection);
  return list.items.empty() ? nullptr : list.items.front();
}

}  // namespace

Answer HandleGet(const Call& call) {
  const std::string_view version = Param(call.query, "resourceVersion");
  KX_ASSIGN_OR_RETURN(const std::int64_t wanted, RevisionParam(version));
  if (!version.empty()) {  // The client takes an older state.
    KX_ASSIGN_OR_RETURN(const CachedObjectRef cached, CachedObjectOf(call, wanted));
    if (cached != nullptr) {
      KX_ASSIGN_OR_RETURN(std::string body, ObjectBody(call.form, *call.type, cached->Json()));
      return Body(call.form, std::move(body));
    }
  }
  if (wanted > 0) {  // The latest state is read, so only a future version cannot be served.
    KX_ASSIGN_OR_RETURN(const std::int64_t latest,
                        call.objects.storage().CurrentRevision(call.request.stop));
    if (wanted > latest) {
      return Fail(TooLargeResourceVersion(wanted, latest));
    }
  }
  KX_ASSIGN_OR_RETURN(const JsonTree object,
                      call.objects.Get(*call.type, call.key(), call.request.stop));
  return ObjectResponse(call, object);
}

Answer HandleList(const Call& call) {
  KX_ASSIGN_OR_RETURN(const ListOptions options, ListOptionsOf(call.query));
  ListBody body(call.form, *call.type);
  const auto head = ReadList(
      call, options,
      [&body](const apimachinery::ObjectKey&, std::string_view json) { return body.Add(json); });
  if (!head) {
    return ListError(options, head.error());
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish(*head));
  return Body(call.form, std::move(text));
}

Answer HandleWatch(const Call& call) {
  KX_ASSIGN_OR_RETURN(const ListOptions options, ListOptionsOf(call.query));
  KX_RETURN_IF_ERROR(CheckListVersions(options, true));
  KX_RETURN_IF_ERROR(RevisionParam(options.resource_version));
  WatcherOptions watcher;
  KX_ASSIGN_OR_RETURN(watcher.selection, SelectionOf(call, options));
  watcher.format = FrameFormatOf(call.form);
  watcher.first_format = FirstFrameFormatOf(call.form);
  watcher.bookmarks = options.allow_watch_bookmarks;
  watcher.deadline = DeadlineOf(call, options);
  KX_ASSIGN_OR_RETURN(watcher.lease, call.open_watches.Begin(call.user));
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(call.type);
  auto stream = std::make_shared<CacheWatcher>(call.type, std::move(watcher));
  // From here on an error is an event, because the client has a stream.
  if (const auto start = StartOf(call, options, *cacher)) {
    cacher->cache().Add(stream, *start);
    if (options.timeout < std::chrono::seconds(0)) {
      stream->End();  // The time of the watch is over, so that it need not wait for the next Tick.
    }
  } else if (start.error().reason == Reason::kTooManyRequests) {
    return Fail(start.error());
  } else {
    stream->PushError(StatusJson(start.error()));
  }
  http::Response response;
  response.content_type = call.form.encoding == codec::Encoding::kProtobuf
                              ? std::string(kProtobufType) + ";stream=watch"
                              : std::string(kJsonType);
  response.stream = std::move(stream);
  return response;
}

}  // namespace kubexx::apiserver
