#include "kubexx/apiserver/object/status_json.h"

#include <utility>

#include "kubexx/apiserver/object/cause_list.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Reason;
using apimachinery::Status;
using apimachinery::StatusCause;
using codec::JsonTree;

Status About(Reason reason, const ResourceType& type, std::string_view name, std::string what) {
  Status status(reason, std::move(what), HttpCode(reason));
  status.details.name = std::string(name);
  status.details.group = type.group;
  status.details.kind = type.plural;
  return status;
}

std::string Quoted(const ResourceType& type, std::string_view name) {
  return type.QualifiedPlural() + " \"" + std::string(name) + "\"";
}

JsonTree Details(const Status& status) {
  JsonTree details = JsonTree::Object();
  const auto set = [&details](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      details[key] = JsonTree(value);
    }
  };
  set("name", status.details.name);
  set("group", status.details.group);
  set("kind", status.details.kind);
  set("uid", status.details.uid);
  for (const StatusCause& cause : status.details.causes) {
    JsonTree one = JsonTree::Object();
    for (const auto& [key, value] :
         {std::pair<const char*, const std::string&>("reason", cause.reason),
          {"message", cause.message},
          {"field", cause.field}}) {
      if (!value.empty()) {
        one[key] = JsonTree(value);
      }
    }
    details["causes"].Append(std::move(one));
  }
  if (status.details.retry_after.count() > 0) {
    details["retryAfterSeconds"] = JsonTree(status.details.retry_after.count());
  }
  return details;
}

}  // namespace

int HttpCode(Reason reason) {
  switch (reason) {
    case Reason::kUnauthorized:
      return 401;
    case Reason::kForbidden:
      return 403;
    case Reason::kNotFound:
      return 404;
    case Reason::kMethodNotAllowed:
      return 405;
    case Reason::kNotAcceptable:
      return 406;
    case Reason::kAlreadyExists:
    case Reason::kConflict:
      return 409;
    case Reason::kGone:
    case Reason::kExpired:
      return 410;
    case Reason::kRequestEntityTooLarge:
      return 413;
    case Reason::kUnsupportedMediaType:
      return 415;
    case Reason::kInvalid:
      return 422;
    case Reason::kTooManyRequests:
      return 429;
    case Reason::kBadRequest:
    case Reason::kMalformed:
      return 400;
    case Reason::kServiceUnavailable:
    case Reason::kUnavailable:
      return 503;
    case Reason::kTimeout:
    case Reason::kServerTimeout:
      return 504;
    default:
      return 500;
  }
}

std::string StatusJson(const Status& status) {
  Reason reason = status.reason;
  if (reason == Reason::kMalformed) {
    reason = Reason::kBadRequest;
  } else if (reason == Reason::kUnavailable) {
    reason = Reason::kServiceUnavailable;
  } else if (reason > Reason::kServiceUnavailable) {
    reason = Reason::kInternalError;
  }
  JsonTree tree = JsonTree::Object();
  tree["kind"] = "Status";
  tree["apiVersion"] = "v1";
  tree["metadata"] = JsonTree::Object();
  tree["status"] = "Failure";
  tree["message"] = JsonTree(status.message);
  if (!status.other_reason.empty()) {
    tree["reason"] = JsonTree(status.other_reason);
  } else if (reason != Reason::kUnknown) {
    tree["reason"] = JsonTree(apimachinery::ToString(reason));
  }
  if (JsonTree details = Details(status); details.size() > 0) {
    tree["details"] = std::move(details);
  }
  tree["code"] = JsonTree(status.code != 0 ? status.code : HttpCode(reason));
  return tree.ToJson();
}

Status NotFound(const ResourceType& type, std::string_view name) {
  return About(Reason::kNotFound, type, name, Quoted(type, name) + " not found");
}

Status AlreadyExists(const ResourceType& type, std::string_view name) {
  return About(Reason::kAlreadyExists, type, name, Quoted(type, name) + " already exists");
}

Status Conflict(const ResourceType& type, std::string_view name, std::string_view why) {
  return About(Reason::kConflict, type, name,
               "Operation cannot be fulfilled on " + Quoted(type, name) + ": " + std::string(why));
}

Status Forbidden(const ResourceType& type, std::string_view name, std::string_view why) {
  return About(Reason::kForbidden, type, name,
               Quoted(type, name) + " is forbidden: " + std::string(why));
}

Status Invalid(const ResourceType& type, std::string_view name, std::vector<StatusCause> causes) {
  const std::string list = ListOf(causes);
  const std::string kind = type.group.empty() ? type.kind : type.kind + "." + type.group;
  Status status = About(Reason::kInvalid, type, name,
                        kind + " \"" + std::string(name) + "\" is invalid: " + list);
  status.details.kind = type.kind;
  status.details.causes = std::move(causes);
  return status;
}

Status TooLargeResourceVersion(std::int64_t wanted, std::int64_t current) {
  Status status(Reason::kTimeout,
                "Too large resource version: " + std::to_string(wanted) +
                    ", current: " + std::to_string(current),
                504);
  status.details.retry_after = std::chrono::seconds(1);
  status.details.causes.push_back(
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version"});
  return status;
}

Status TooOldResourceVersion(std::int64_t wanted, std::int64_t oldest) {
  return {
      Reason::kExpired,
      "too old resource version: " + std::to_string(wanted) + " (" + std::to_string(oldest) + ")",
      410};
}

}  // namespace kubexx::apiserver
