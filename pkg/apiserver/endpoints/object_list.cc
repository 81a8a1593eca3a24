#include "kubexx/apiserver/endpoints/object_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/continue_token.h"
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

/// The state that was asked for is forgotten: 410. To who has got there by pages, with a token that
/// can do without it.
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
Result<ListHead> ListFromStorage(const Call& call, const ListOptions& options,
                                 const Selection& selection, TakeListed take_listed) {
  const ResourceType& type = *call.type;
  const std::string prefix =
      type.prefix + (selection.namespace_.empty() ? "" : selection.namespace_ + "/");
  storage::ListOptions part;
  KX_ASSIGN_OR_RETURN(part.revision, RevisionParam(options.resource_version));
  std::optional<ContinueToken> token;
  if (!options.continue_.empty()) {
    if (part.revision != 0) {
      return Fail(Reason::kBadRequest,
                  "specifying resource version is not allowed when using continue");
    }
    KX_ASSIGN_OR_RETURN(token, ContinueToken::Decode(options.continue_));
    part.revision = std::max<std::int64_t>(token->revision, 0);
    part.continue_after = prefix + token->key;
  }
  const auto limit = static_cast<std::size_t>(options.limit);
  part.limit = selection.all() ? limit : 0;
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
    return take_listed(type.KeyOf(kv.key), json);
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
  auto result = call.objects.storage().GetList(prefix, part, take, call.request.stop);
  if (result) {
    if (auto converted = TakeConverted(call, values, take_json); !converted) {
      result = Fail(converted.error());
    }
  }
  if (!result && !cut) {
    return Fail(result.error());
  }
  ListHead head;
  head.revision = result ? result->revision : revision;
  if (cut || result->more) {
    head.continue_ =
        ContinueToken{.revision = head.revision, .key = last_key.substr(prefix.size())}.Encode();
    head.remaining = cut ? 0 : result->remaining;
  }
  return head;
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

/// A list of whatever the cache has that is not older than the version.
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
  return from_storage ? ListFromStorage(call, options, selection, take)
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
