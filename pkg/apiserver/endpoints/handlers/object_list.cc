#include "kubexx/apiserver/endpoints/handlers/object_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/handlers/continue_token.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/response/error_response.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The error 410 for a state that has been compacted. A client that reads pages gets a token with
/// which it can continue without that state.
http::Response ExpiredState(const std::optional<ContinueToken>& token) {
  apimachinery::Status status(Reason::kExpired,
                              "The resourceVersion for the provided list is too old.", 410);
  if (!token) {
    return ErrorResponse(status);
  }
  status.message =
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.";
  http::Response response = ErrorResponse(status);
  if (auto tree = JsonTree::Parse(response.body)) {
    (*tree)["metadata"]["continue"] = ContinueToken{.revision = -1, .key = token->key}.Encode();
    response.body = tree->ToJson();
  }
  return response;
}

/// Passes objects of another version to `take`, converted to that of the request.
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

/// The part of a list that the client wants.
struct Part {
  std::string prefix{};  ///< of the keys in the storage
  storage::ListOptions options{};
  std::size_t limit = 0;
};

Result<Part> PartOf(const Call& call, const ListOptions& options, const Selection& selection) {
  Part part;
  part.prefix =
      call.type->prefix + (selection.namespace_.empty() ? "" : selection.namespace_ + "/");
  part.limit = static_cast<std::size_t>(options.limit);
  KX_ASSIGN_OR_RETURN(part.options.revision, RevisionParam(options.resource_version));
  if (!options.continue_.empty()) {
    if (part.options.revision != 0) {
      return Fail(Reason::kBadRequest,
                  "specifying resource version is not allowed when using continue");
    }
    KX_ASSIGN_OR_RETURN(const ContinueToken token, ContinueToken::Decode(options.continue_));
    part.options.revision = std::max<std::int64_t>(token.revision, 0);
    part.options.continue_after = part.prefix + token.key;
  }
  return part;
}

/// Returns the name of the only object that may be selected, if the selectors tell it, and
/// otherwise "".
std::string OnlyName(const Call& call, const Selection& selection) {
  std::string name = selection.fields.Exactly("metadata.name");
  const bool in_one_place = call.type->namespaced == !selection.namespace_.empty();
  return in_one_place && name.find('/') == std::string::npos ? name : std::string();
}

/// Reads the objects of a list from the storage.
class StoredList {
 public:
  StoredList(const Call& call, const Selection& selection, Part part, TakeListed take_listed)
      : call_(call), selection_(selection), part_(std::move(part)), take_listed_(take_listed) {}

  Result<ListHead> Read() {
    const std::string name = OnlyName(call_, selection_);
    const bool may_be_cut = part_.limit > 0 && !selection_.all();
    if (part_.options.revision == 0 && (may_be_cut || !name.empty())) {
      // The page may end before the storage tells which state it is of.
      KX_ASSIGN_OR_RETURN(part_.options.revision, storage().CurrentRevision(stop()));
    }
    part_.options.limit = selection_.all() ? part_.limit : 0;
    auto result = name.empty() ? ReadAll() : ReadOne(part_.prefix + name);
    if (result) {
      if (auto converted = TakeConverted(
              call_, values_, [this](const auto& kv, const auto& json) { return Take(kv, json); });
          !converted) {
        result = Fail(converted.error());
      }
    }
    if (!selection_.all()) {
      call_.types.NoteReadInVain(call_.type, looked_at_ - taken_);
    }
    if (!result && !cut_) {
      return Fail(result.error());
    }
    ListHead head;
    head.revision = result ? result->revision : part_.options.revision;
    if (cut_ || result->more) {
      head.continue_ =
          ContinueToken{.revision = head.revision, .key = last_key_.substr(part_.prefix.size())}
              .Encode();
      head.remaining = cut_ ? 0 : result->remaining;
    }
    return head;
  }

 private:
  storage::Storage& storage() const { return call_.objects.storage(); }
  const std::stop_token& stop() const { return call_.request.stop; }

  Result<storage::ListResult> ReadAll() {
    return storage().GetList(
        part_.prefix, part_.options,
        [this](storage::KeyValue&& kv) { return TakeStored(std::move(kv)); }, stop());
  }
  Result<storage::ListResult> ReadOne(const std::string& key) {
    auto kv = storage().Get(key, part_.options.revision, stop());
    if (!kv && kv.error().reason != Reason::kNotFound) {
      return Fail(kv.error());
    }
    if (kv && key > part_.options.continue_after) {
      KX_RETURN_IF_ERROR(TakeStored(std::move(*kv)));
    }
    return storage::ListResult{.revision = part_.options.revision};
  }

  Result<void> TakeStored(storage::KeyValue&& kv) {
    if (IsConverted(*call_.type)) {
      values_.push_back(std::move(kv));
      return {};
    }
    KX_ASSIGN_OR_RETURN(const std::string json,
                        JsonOfStored(*call_.type, *kv.value, kv.mod_revision));
    return Take(kv, json);
  }
  Result<void> Take(const storage::KeyValue& kv, const std::string& json) {
    const ResourceType& type = *call_.type;
    ++looked_at_;
    if (!selection_.all()) {
      KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
      if (!selection_.Matches(type.KeyOf(kv.key), AttributesOf(type, object))) {
        return {};
      }
      if (part_.limit > 0 && taken_ == part_.limit) {
        cut_ = true;
        return Fail(Reason::kCancelled, "the page is full");
      }
    }
    ++taken_;
    last_key_ = kv.key;
    return take_listed_(type.KeyOf(kv.key), json);
  }

  const Call& call_;
  const Selection& selection_;
  Part part_;
  TakeListed take_listed_;
  std::size_t looked_at_ = 0;
  std::size_t taken_ = 0;
  std::string last_key_{};
  bool cut_ = false;
  std::vector<storage::KeyValue> values_{};  // a webhook converts many of them at once
};

/// Returns the cache when it has the latest state or will have it soon. Null when there is no
/// cache, or it cannot have that state.
std::shared_ptr<Cacher> CurrentCache(const Call& call) {
  std::shared_ptr<Cacher> cacher = call.types.CacherIfAny(call.type);
  if (cacher == nullptr || !cacher->cache().Has(0)) {
    return nullptr;
  }
  const std::int64_t had = cacher->cache().revision();
  const auto latest = call.objects.storage().CurrentRevision(call.request.stop);
  if (!latest || had > *latest) {
    // A cache that is ahead of the store has a state from before the store was emptied or restored.
    return nullptr;
  }
  if (!cacher->cache().Has(*latest)) {
    const http::Waiting waiting(call.request);
    if (!waiting.Check() || !cacher->CatchUp(*latest, call.request.stop)) {
      return nullptr;
    }
  }
  return cacher;
}

/// Returns the part of the cache that the storage would return. Returns nothing when the cache has
/// another state, and when it does not help: the storage reads pages of all objects as quickly.
std::optional<Result<ListHead>> ListAsStored(const Call& call, const Selection& selection,
                                             const Part& part, TakeListed take) {
  const bool continued = !part.options.continue_after.empty();
  if (selection.all() && (part.limit > 0 || continued)) {
    return std::nullopt;
  }
  const std::int64_t wanted = part.options.revision;  // the token's
  const std::shared_ptr<Cacher> cacher =
      wanted > 0 ? call.types.CacherIfAny(call.type) : CurrentCache(call);
  if (cacher == nullptr || !cacher->cache().Has(wanted)) {
    return std::nullopt;
  }
  const CachedList list = cacher->cache().List(selection);
  if (wanted > 0 && (wanted < list.since || wanted > list.revision)) {
    return std::nullopt;
  }
  ListHead head{.revision = wanted > 0 ? wanted : list.revision};
  std::size_t taken = 0;
  std::string last_key;
  for (const CachedObjectRef& object : list.items) {
    std::string key = part.limit > 0 || continued ? call.type->StorageKey(object->key) : "";
    if (continued && key <= part.options.continue_after) {
      continue;
    }
    if (part.limit > 0 && taken == part.limit) {
      head.continue_ =
          ContinueToken{.revision = head.revision, .key = last_key.substr(part.prefix.size())}
              .Encode();
      break;
    }
    if (const auto added = take(object->key, object->Json()); !added) {
      return Fail(added.error());
    }
    ++taken;
    last_key = std::move(key);
  }
  return head;
}

/// Lists a state that the storage has.
Result<ListHead> ListOfState(const Call& call, const ListOptions& options,
                             const Selection& selection, TakeListed take) {
  KX_ASSIGN_OR_RETURN(Part part, PartOf(call, options, selection));
  if (options.resource_version.empty()) {
    if (auto listed = ListAsStored(call, selection, part, take)) {
      return *std::move(listed);
    }
  }
  return StoredList(call, selection, std::move(part), take).Read();
}

}  // namespace

Result<void> AwaitCache(const http::Request& request, Cacher& cacher, std::int64_t revision) {
  if (cacher.cache().Has(revision)) {
    return {};
  }
  const http::Waiting waiting(request);
  KX_RETURN_IF_ERROR(waiting.Check());
  return cacher.WaitFor(revision, request.stop);
}

namespace {

/// Lists the state of the cache, which is not older than the version in the request.
Result<ListHead> ListFromCache(const Call& call, const ListOptions& options,
                               const Selection& selection, TakeListed take) {
  const std::shared_ptr<Cacher> cacher = call.types.CacherOf(call.type);
  KX_ASSIGN_OR_RETURN(const std::int64_t revision, RevisionParam(options.resource_version));
  KX_RETURN_IF_ERROR(AwaitCache(call.request, *cacher, revision));
  const CachedList list = cacher->cache().List(selection);
  for (const CachedObjectRef& object : list.items) {
    KX_RETURN_IF_ERROR(take(object->key, object->Json()));
  }
  return ListHead{.revision = list.revision};
}

}  // namespace

Result<void> CheckListVersions(const ListOptions& options, bool watch) {
  const std::string& match = options.resource_version_match;
  const auto forbidden = [](const char* what) -> Result<void> {
    return Fail(Reason::kInvalid, what, 422);
  };
  if (watch && options.send_initial_events) {
    return match == "NotOlderThan"
               ? Result<void>()
               : forbidden("sendInitialEvents needs resourceVersionMatch=NotOlderThan");
  }
  if (!watch && options.send_initial_events) {
    return forbidden("sendInitialEvents is forbidden for list");
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

Result<ListHead> ReadList(const Call& call, const ListOptions& options, TakeListed take) {
  KX_RETURN_IF_ERROR(CheckListVersions(options, false));
  KX_ASSIGN_OR_RETURN(const Selection selection, SelectionOf(call, options));
  const std::string& version = options.resource_version;
  const bool exact = options.resource_version_match == "Exact" ||
                     (options.resource_version_match.empty() && options.limit > 0);
  const bool from_storage =
      version.empty() || !options.continue_.empty() || (exact && version != "0");
  return from_storage ? ListOfState(call, options, selection, take)
                      : ListFromCache(call, options, selection, take);
}

Answer ListError(const ListOptions& options, const apimachinery::Status& error) {
  if (error.reason != Reason::kExpired) {
    return Fail(error);
  }
  const auto token = ContinueToken::Decode(options.continue_);
  return ExpiredState(options.continue_.empty() || !token ? std::nullopt : std::optional(*token));
}

}  // namespace kubexx::apiserver
