// get, list and watch.
#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/call.h"
#include "kubexx/apiserver/endpoints/formats.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// As kube-apiserver: a watch without a timeout lasts from 30 to 60 minutes.
constexpr std::chrono::minutes kMinWatchTime{30};

http::Response Body(const AnswerForm& form, std::string body, int code = 200) {
  http::Response response;
  response.status = code;
  response.content_type = form.ContentType();
  response.body = std::move(body);
  return response;
}

/// The rules of resourceVersion and resourceVersionMatch; see the API concepts' tables.
Result<void> CheckVersions(const ListOptions& options, bool watch) {
  const std::string& match = options.resource_version_match;
  const auto forbidden = [](const char* what) -> Result<void> {
    return Fail(Reason::kInvalid, what, 422);
  };
  if (watch && options.send_initial_events) {
    return match == "NotOlderThan"
               ? Result<void>()
               : forbidden("sendInitialEvents needs resourceVersionMatch=NotOlderThan");
  }
  if (match.empty()) {
    return {};
  }
  if (watch) {
    return forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is set");
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return forbidden("resourceVersionMatch must be Exact or NotOlderThan");
  }
  if (options.resource_version.empty() || !options.continue_.empty()) {
    return forbidden("resourceVersionMatch is forbidden without resourceVersion or with continue");
  }
  return match == "Exact" && options.resource_version == "0"
             ? forbidden("resourceVersionMatch=Exact is forbidden for resourceVersion 0")
             : Result<void>();
}

/// Where a page of a list begins: "REVISION:KEY", the key without the prefix of the type. Revision
/// 0 goes on in the present state, when that of the first page is not known any more.
struct ContinueToken {
  std::int64_t revision = 0;
  std::string key{};
};

Result<ContinueToken> ReadToken(std::string_view text) {
  ContinueToken token;
  const std::size_t colon = text.find(':');
  const auto revision = RevisionParam(text.substr(0, colon));
  if (colon == std::string_view::npos || !revision) {
    return Fail(Reason::kBadRequest, "continue key is not valid");
  }
  token.revision = *revision;
  token.key = text.substr(colon + 1);
  return token;
}

/// The state of the first page is forgotten: 410, with a token for who can do without it.
http::Response ExpiredToken(std::string_view token) {
  apimachinery::Status status(
      Reason::kExpired,
      "the state that the continue token is of is not known any more; begin the list anew, or go "
      "on "
      "with the token in this answer's metadata: what has changed since the first page may then be "
      "in the list or not",
      410);
  http::Response response = ErrorResponse(status);
  if (auto tree = JsonTree::Parse(response.body)) {
    (*tree)["metadata"]["continue"] = "0" + std::string(token.substr(token.find(':')));
    response.body = tree->ToJson();
  }
  return response;
}

/// Hands objects of another version to `take`, in that of the request.
Result<void> TakeConverted(
    const Call& call, const std::vector<storage::KeyValue>& values,
    base::FunctionRef<Result<void>(const storage::KeyValue&, const std::string& json)> take) {
  std::vector<StoredValue> stored;
  stored.reserve(values.size());
  for (const storage::KeyValue& kv : values) {
    stored.push_back({.value = *kv.value, .revision = kv.mod_revision});
  }
  KX_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                      JsonOfStoredValues(*call.type, stored, call.request.stop));
  for (std::size_t i = 0; i < values.size(); ++i) {
    KX_RETURN_IF_ERROR(take(values[i], texts[i]));
  }
  return {};
}

/// A list of a state that the storage has.
Answer ListFromStorage(const Call& call, const ListOptions& options, const Selection& selection) {
  const ResourceType& type = *call.type;
  storage::ListOptions part;
  KX_ASSIGN_OR_RETURN(part.revision, RevisionParam(options.resource_version));
  if (!options.continue_.empty()) {
    KX_ASSIGN_OR_RETURN(const ContinueToken token, ReadToken(options.continue_));
    part.revision = token.revision;
    part.continue_after = type.prefix + token.key;
  }
  const auto limit = static_cast<std::size_t>(options.limit);
  part.limit = selection.all() ? limit : 0;
  ListBody body(call.form, type);
  std::size_t taken = 0;
  std::string last_key;
  std::int64_t revision = part.revision;
  bool cut = false;
  const auto take_json = [&](const storage::KeyValue& kv, const std::string& json) -> Result<void> {
    if (!selection.all()) {
      KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
      if (!selection.Matches(type.KeyOf(kv.key), AttributesOf(type, object))) {
        return {};
      }
      if (limit > 0 && taken == limit) {
        cut = true;
        return Fail(Reason::kCancelled, "the page is full");
      }
    }
    ++taken;
    last_key = kv.key;
    return body.Add(json);
  };
  std::vector<storage::KeyValue> values;  // of a type that a webhook converts, many at once
  const auto take = [&](storage::KeyValue&& kv) -> Result<void> {
    if (IsConverted(type)) {
      values.push_back(std::move(kv));
      return {};
    }
    KX_ASSIGN_OR_RETURN(const std::string json, JsonOfStored(type, *kv.value, kv.mod_revision));
    return take_json(kv, json);
  };
  if (part.revision == 0 && limit > 0 && !selection.all()) {
    // The page may be cut off before the storage says which state it is of.
    KX_ASSIGN_OR_RETURN(part.revision, call.objects.storage().CurrentRevision(call.request.stop));
    revision = part.revision;
  }
  const std::string prefix =
      type.prefix + (selection.namespace_.empty() ? "" : selection.namespace_ + "/");
  auto result = call.objects.storage().GetList(prefix, part, take, call.request.stop);
  if (result) {
    if (auto converted = TakeConverted(call, values, take_json); !converted) {
      result = Fail(converted.error());
    }
  }
  if (!result && !cut) {
    const bool expired = result.error().reason == Reason::kExpired && !options.continue_.empty();
    return expired ? Answer(ExpiredToken(options.continue_)) : Fail(result.error());
  }
  ListHead head;
  head.revision = result ? result->revision : revision;
  if (cut || result->more) {
    head.continue_ = std::to_string(head.revision) + ":" + last_key.substr(type.prefix.size());
    head.remaining = cut ? 0 : result->remaining;
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish(head));
  return Body(call.form, std::move(text));
}

/// A list of whatever the cache has that is not older than the version.
Answer ListFromCache(const Call& call, const ListOptions& options, const Selection& selection) {
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(call.type);
  KX_ASSIGN_OR_RETURN(const std::int64_t revision, RevisionParam(options.resource_version));
  KX_RETURN_IF_ERROR(cacher->WaitFor(revision, call.request.stop));
  const CachedList list = cacher->cache().List(selection);
  ListBody body(call.form, *call.type);
  for (const CachedObjectRef& object : list.items) {
    KX_RETURN_IF_ERROR(body.Add(object->Json()));
  }
  KX_ASSIGN_OR_RETURN(std::string text, body.Finish({.revision = list.revision}));
  return Body(call.form, std::move(text));
}

base::TimePoint DeadlineOf(const Call& call, const ListOptions& options) {
  base::Duration time = options.timeout;
  if (time <= base::Duration::zero()) {
    thread_local std::minstd_rand random(std::random_device{}());
    time = kMinWatchTime +
           std::chrono::milliseconds(
               random() % static_cast<unsigned>(std::chrono::milliseconds(kMinWatchTime).count()));
  }
  return call.objects.clock().Now() + time;
}

/// Where the watch begins, after waiting for a cache that is as fresh as that needs.
Result<WatchStart> StartOf(const Call& call, const ListOptions& options, Cacher& cacher) {
  WatchStart start;
  KX_ASSIGN_OR_RETURN(start.revision, RevisionParam(options.resource_version));
  const bool any = options.resource_version == "0";
  start.initial_events = options.send_initial_events.value_or(start.revision == 0);
  start.mark_end = start.initial_events && options.send_initial_events.has_value() &&
                   options.allow_watch_bookmarks;
  if (options.resource_version.empty()) {
    KX_RETURN_IF_ERROR(cacher.WaitForLatest(call.request.stop));
  } else {
    KX_RETURN_IF_ERROR(
        cacher.WaitFor(start.initial_events && !any ? start.revision : 0, call.request.stop));
  }
  if (!start.initial_events) {
    KX_RETURN_IF_ERROR(cacher.ReachBack(start.revision, call.request.stop));
  }
  if (!start.initial_events && start.revision == 0) {
    start.revision = cacher.cache().List({.namespace_ = "-"}).revision;
  }
  return start;
}

}  // namespace

Result<Selection> SelectionOf(const Call& call, const ListOptions& options) {
  Selection selection;
  selection.namespace_ = call.type->namespaced ? call.info.namespace_ : "";
  KX_ASSIGN_OR_RETURN(selection.labels, apimachinery::LabelSelector::Parse(options.label_selector));
  std::string fields = options.field_selector;
  if (!call.info.name.empty()) {  // A watch of one object by its path.
    fields = "metadata.name=" + call.info.name + (fields.empty() ? "" : "," + fields);
  }
  KX_ASSIGN_OR_RETURN(selection.fields, FieldSelector::Parse(fields, *call.type));
  return selection;
}

Answer ObjectResponse(const Call& call, const JsonTree& object, int code) {
  KX_ASSIGN_OR_RETURN(std::string body, ObjectBody(call.form, *call.type, object.ToJson()));
  return Body(call.form, std::move(body), code);
}

http::Response ErrorResponse(const apimachinery::Status& status) {
  http::Response response;
  response.status = status.code != 0 ? status.code : HttpCode(status.reason);
  response.content_type = kJsonType;
  response.body = StatusJson(status);
  if (status.details.retry_after.count() > 0) {
    response.headers.emplace_back("Retry-After",
                                  std::to_string(status.details.retry_after.count()));
  }
  return response;
}

Answer HandleGet(const Call& call) {
  KX_ASSIGN_OR_RETURN(const JsonTree object,
                      call.objects.Get(*call.type, call.key(), call.request.stop));
  return ObjectResponse(call, object);
}

Answer HandleList(const Call& call) {
  KX_ASSIGN_OR_RETURN(const ListOptions options, ListOptionsOf(call.query));
  KX_RETURN_IF_ERROR(CheckVersions(options, false));
  KX_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(call, options));
  const std::string& version = options.resource_version;
  const bool exact = options.resource_version_match == "Exact" ||
                     (options.resource_version_match.empty() && options.limit > 0);
  const bool from_storage =
      version.empty() || !options.continue_.empty() || (exact && version != "0");
  return from_storage ? ListFromStorage(call, options, selection)
                      : ListFromCache(call, options, selection);
}

Answer HandleWatch(const Call& call) {
  KX_ASSIGN_OR_RETURN(const ListOptions options, ListOptionsOf(call.query));
  KX_RETURN_IF_ERROR(CheckVersions(options, true));
  KX_RETURN_IF_ERROR(RevisionParam(options.resource_version));
  WatcherOptions watcher;
  KX_ASSIGN_OR_RETURN(watcher.selection, SelectionOf(call, options));
  watcher.format = FrameFormatOf(call.form);
  watcher.bookmarks = options.allow_watch_bookmarks;
  watcher.deadline = DeadlineOf(call, options);
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(call.type);
  auto stream = std::make_shared<CacheWatcher>(call.type, std::move(watcher));
  // What goes wrong from here on is an event: the client has a stream.
  if (const auto start = StartOf(call, options, *cacher)) {
    cacher->cache().Add(stream, *start);
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
