#include "kubexx/apiserver/endpoints/handlers/api.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/admission/priority_admission.h"
#include "kubexx/apiserver/endpoints/authn/issuer_pages.h"
#include "kubexx/apiserver/endpoints/authz/impersonation.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/call/field_validation.h"
#include "kubexx/apiserver/endpoints/discovery/discovery.h"
#include "kubexx/apiserver/endpoints/discovery/openapi.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/handlers/scale.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/apiserver/endpoints/request/origin.h"
#include "kubexx/apiserver/endpoints/response/error_response.h"
#include "kubexx/apiserver/endpoints/upkeep/default_role_upkeep.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/base/after.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

/// The Kubernetes version whose behaviour this server has. kubectl compares it with its own.
constexpr std::string_view kVersion =
    R"({"major":"1","minor":"36","emulationMajor":"1","emulationMinor":"36","gitVersion":"v1.36.0+kubexx","gitCommit":"","gitTreeState":"clean","buildDate":"1970-01-01T00:00:00Z","goVersion":"","compiler":"","platform":"linux/amd64"})";

http::Response Json(std::string_view json) {
  http::Response response;
  response.content_type = kJsonType;
  response.body = json;
  return response;
}

bool Reads(const http::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

/// Returns what Go's time.ParseDuration says about `text`, which is not a duration.
std::string DurationProblem(std::string_view text) {
  const std::string quoted = JsonTree(text).ToJson();
  std::string_view rest = text;
  rest.remove_prefix(rest.starts_with('-') || rest.starts_with('+') ? 1 : 0);
  while (!rest.empty()) {
    const std::size_t number = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view digits = rest.substr(0, number);
    if (digits.empty() || std::ranges::count(digits, '.') > 1 || digits == ".") {
      break;
    }
    rest.remove_prefix(number);
    const std::string_view unit = rest.substr(0, rest.find_first_of(".0123456789"));
    if (unit.empty()) {
      return "missing unit in duration " + quoted;
    }
    if (!apimachinery::Duration::Parse("1" + std::string(unit))) {
      return "unknown unit " + JsonTree(unit).ToJson() + " in duration " + quoted;
    }
    rest.remove_prefix(unit.size());
  }
  return "invalid duration " + quoted;
}

Status NoSuchPath() {
  return {Reason::kNotFound, "the server could not find the requested resource", 404};
}

Status NotAllowed() {
  return {Reason::kMethodNotAllowed,
          "the server does not allow this method on the requested resource", 405};
}

/// Routes a request for an object, a part of it, or a collection.
Answer RouteVerb(const Call& call, Verb verb) {
  const bool named = !call.info.name.empty();
  switch (verb) {
    case Verb::kGet:
      return HandleGet(call);
    case Verb::kList:
      return HandleList(call);
    case Verb::kWatch:
      return HandleWatch(call);
    case Verb::kCreate:
      return named ? Fail(NotAllowed()) : HandleCreate(call);
    case Verb::kUpdate:
      return named ? HandleUpdate(call) : Fail(NotAllowed());
    case Verb::kPatch:
      return named ? HandlePatch(call) : Fail(NotAllowed());
    case Verb::kDelete:
      return HandleDelete(call);
    case Verb::kDeleteCollection:
      // As in kube-apiserver, a collection is deleted in one namespace only.
      return call.type->namespaced && call.info.namespace_.empty() ? Fail(NotAllowed())
                                                                   : HandleDeleteCollection(call);
  }
  return Fail(NotAllowed());
}

Answer RouteSubresource(const Call& call, Verb verb) {
  switch (call.subresource->is) {
    case Subresource::Is::kBinding:
      return HandleBinding(call);
    case Subresource::Is::kEviction:
      return HandleEviction(call);
    case Subresource::Is::kToken:
      return HandleTokenRequest(call);
    case Subresource::Is::kScale:
      return verb == Verb::kGet ? GetScale(call) : RouteVerb(call, verb);
    default:
      return RouteVerb(call, verb);
  }
}

Answer Route(const Call& call) {
  if (call.request.method == "HEAD") {
    return Fail(NotAllowed());
  }
  KX_RETURN_IF_ERROR(CheckDryRun(call));
  const ResourceType& type = *call.type;
  const bool of_subresource = !call.info.subresource.empty();
  if (of_subresource && (call.subresource == nullptr || call.info.name.empty())) {
    return Fail(NoSuchPath());
  }
  const std::optional<Verb> verb = VerbOf(call.info.verb);
  if (!verb || !(of_subresource ? call.subresource->verbs : type.verbs).Has(*verb)) {
    return Fail(NotAllowed());
  }
  if (of_subresource) {
    return RouteSubresource(call, *verb);
  }
  if (type.is_review) {
    return call.info.name.empty() ? HandleReview(call) : Fail(NotAllowed());
  }
  return type.is_made_up ? HandleComponentStatus(call) : RouteVerb(call, *verb);
}

/// Returns the form of the answer. The errors are kNotAcceptable and kBadRequest.
Result<AnswerForm> FormOf(const http::Request& request, const ResourceType& type,
                          const Subresource* subresource, const RequestInfo& info,
                          const Query& query) {
  auto form = Negotiate(request.Header("Accept"), OfferOf(type, subresource));
  if (!form) {
    return Fail(Reason::kNotAcceptable,
                "only the following media types are accepted: application/json, "
                "application/vnd.kubernetes.protobuf");
  }
  const bool list = info.verb == "list";
  if (form->view == (list ? View::kPartialMetadata : View::kPartialMetadataList) &&
      info.verb != "watch" && info.verb != "deletecollection") {
    return Fail(Reason::kNotAcceptable,
                list ? "you requested PartialObjectMetadata, but the requested object is a list"
                     : "you requested PartialObjectMetadataList, but the requested object is not a "
                       "list");
  }
  if (form->view == View::kTable) {
    KX_ASSIGN_OR_RETURN(form->row_object, RowObjectOf(Param(query, "includeObject")));
  }
  return *form;
}

Result<void> CheckTimeout(std::string_view timeout) {
  if (timeout.empty() || apimachinery::Duration::Parse(timeout)) {
    return {};
  }
  return Fail(Reason::kBadRequest,
              "invalid timeout specified in the request URL - time: " + DurationProblem(timeout));
}

/// Returns when a request with this valid parameter ends. The HTTP server ends those that ask for
/// more than its own limit.
base::TimePoint DeadlineAfter(std::string_view timeout) {
  const auto time = apimachinery::Duration::Parse(timeout);
  return time && time->nanos > 0
             ? base::After(base::Clock::Real().Now(), base::Duration(time->nanos))
             : base::TimePoint::max();
}

}  // namespace

Api::Api(storage::Storage& storage, ApiOptions options)
    : waiting_(options.shared_storage ? std::make_unique<WaitingStorage>(storage) : nullptr),
      types_(StorageFor(storage), options.cacher),
      objects_(StorageFor(storage), options.form, options.clock, std::move(options.service_ranges),
               options.shared_storage),
      webhooks_(types_, objects_,
                options.webhook_caller ? std::move(options.webhook_caller)
                                       : admission::NewCaller(options.clock),
                options.shared_storage),
      custom_(types_, objects_, webhooks_, options.shared_storage),
      reaper_(types_, objects_),
      events_(types_, objects_, options.event_ttl),
      system_(types_, objects_),
      health_(storage),
      tokens_(types_, objects_),
      authenticator_(std::move(options.token), std::move(options.tokens), tokens_),
      authorizer_(types_, options.rbac),
      open_watches_(options.watches_per_user),
      managed_fields_(options.managed_fields),
      service_accounts_(options.service_accounts),
      hosts_(std::move(options.hosts)),
      origins_(std::move(options.origins)),
      metrics_(std::move(options.metrics)) {}

Result<void> Api::Bootstrap(const std::stop_token& stop) {
  KX_RETURN_IF_ERROR(tokens_.Load(stop));
  KX_RETURN_IF_ERROR(system_.MakeNamespaces(stop));
  KX_RETURN_IF_ERROR(KeepDefaultRoles(types_, objects_, stop));
  KX_RETURN_IF_ERROR(MakePriorityClasses(types_, objects_, stop));
  KX_RETURN_IF_ERROR(custom_.Sync(stop));
  KX_RETURN_IF_ERROR(webhooks_.Sync(stop));
  return reaper_.Load(stop);
}

Result<void> Api::Publish(const KubernetesService& service, const std::stop_token& stop) {
  url_ = UrlOf(service);
  return system_.Publish(service, stop);
}

void Api::Tick(const std::stop_token& stop) {
  types_.Tick();
  custom_.Tick(stop);
  webhooks_.Tick(stop);
  authorizer_.KeepUp(stop);
}

bool Api::Reap(const std::stop_token& stop) {
  const bool definitions = custom_.Reap(stop);
  const bool namespaces = reaper_.Tick(stop);
  const bool events = events_.Tick(stop);
  system_.Tick(stop);
  tokens_.Tick(stop);
  return definitions || namespaces || events;
}

void Api::AfterWrite(const Call& call) {
  switch (call.type->rules.duty) {
    case ServerDuty::kNone:
      break;
    case ServerDuty::kServeCustomTypes:
      if (const auto synced = custom_.Sync(call.request.stop); !synced) {
        logging::Warning(
            "Cannot read the CustomResourceDefinitions after a write to one; the server tries "
            "again",
            {{"error", synced.error()}});
      } else if (call.info.verb.starts_with("delete")) {
        custom_.ReapFew(call.request.stop);
      }
      break;
    case ServerDuty::kCallWebhooks:
      if (const auto synced = webhooks_.Sync(call.request.stop); !synced) {
        logging::Warning(
            "Cannot read the webhook configurations after a write to one; the server tries again",
            {{"error", synced.error()}});
      }
      break;
    case ServerDuty::kEmptyNamespaces:
      if (call.info.verb == "delete") {
        reaper_.Add(call.info.name, call.request.stop);
      }
      break;
  }
}

Result<void> Api::CheckSender(const http::Request& header) const {
  const bool by_certificate = !header.peer.common_name.empty();
  if (!by_certificate && !header.Header("Authorization").empty()) {
    return {};  // A page in a browser could not have sent this user's credentials.
  }
  KX_RETURN_IF_ERROR(CheckOrigin(header, origins_));
  return by_certificate ? Result<void>() : CheckHost(header, hosts_);
}

Result<void> Api::CheckIntent(const http::Request& request) const {
  KX_RETURN_IF_ERROR(CheckSender(request));
  const bool shows_nothing =
      request.peer.common_name.empty() && request.Header("Authorization").empty();
  return shows_nothing ? CheckBody(request) : Result<void>();
}

http::Response Api::Handle(const http::Request& request) {
  // The user is not known yet, so the work must not grow with the request. The network's thread
  // answers the requests for health pages.
  if (HealthPages::IsPage(request.path)) {
    return health_.Page(request);
  }
  if (request.path == "/version" || request.path == "/version/") {
    if (!Reads(request)) {
      return ErrorResponse(NotAllowed());
    }
    const std::vector<std::string> timeouts = ParamValues(request.query, "timeout");
    const auto timeout = CheckTimeout(timeouts.empty() ? "" : timeouts.front());
    return timeout ? Json(kVersion) : ErrorResponse(timeout.error());
  }
  const CurrentRequest current(request);
  // The body was dropped because the user was not authenticated when the header came. Without its
  // body the request would mean something else, so it is too late to authenticate the user now.
  const Result<std::optional<User>> found =
      request.is_body_dropped ? std::optional<User>() : authenticator_.Authenticate(request);
  if (!found) {
    return ErrorResponse(found.error());
  }
  const std::optional<User>& authenticated = *found;
  if (!authenticated) {
    return ErrorResponse({Reason::kUnauthorized, "Unauthorized", 401});
  }
  if (const auto meant = CheckIntent(request); !meant) {
    return ErrorResponse(meant.error());
  }
  return HandleKnown(request, *authenticated);
}

http::Response Api::HandleKnown(const http::Request& request, const User& authenticated) {
  const Query query = ParseQuery(request.query);
  const auto info = ParseResourcePath(request.method, request.path, query);
  // A watch uses timeoutSeconds, and kube-apiserver ignores this parameter for it.
  const bool lasts = info && info->verb == "watch";
  const std::string_view timeout = lasts ? std::string_view() : Param(query, "timeout");
  if (const auto checked = CheckTimeout(timeout); !checked) {
    return ErrorResponse(checked.error());
  }
  const CurrentRequest current(request, DeadlineAfter(timeout));
  const auto user = Impersonate(authorizer_, request, authenticated);
  if (!user) {
    return ErrorResponse(user.error());
  }
  if (const auto allowed =
          authorizer_.Check(*user, AttributesOf(request, info, query), request.stop);
      !allowed) {
    return ErrorResponse(allowed.error());
  }
  if (auto check = health_.Check(request.path)) {
    return std::move(*check);
  }
  if (request.path == "/metrics" && metrics_) {
    return {.content_type = "text/plain; version=0.0.4", .body = metrics_()};
  }
  if (Reads(request)) {
    if (auto response = ServeIssuer(request.path, url_, tokens_)) {
      return std::move(*response);
    }
    if (request.path.starts_with("/openapi/")) {
      const std::vector<ResourceTypeRef> types = types_.All();
      auto response = openapi_v2_.Serve(request, types);
      if (!response) {
        response = ServeOpenApi(request, types);
      }
      if (response) {
        return std::move(*response);
      }
    }
    // Most requests are of resources, and the list of all types is long.
    if (!info || info->resource.empty()) {
      if (auto response = Discover(request, types_.All())) {
        return std::move(*response);
      }
    }
  }
  return info ? HandleResource(request, *info, query, *user) : ErrorResponse(NoSuchPath());
}

http::Response Api::HandleResource(const http::Request& request, const RequestInfo& info,
                                   const Query& query, const User& user) {
  const ResourceTypeRef type = types_.Find(info.group, info.version, info.resource);
  const bool named = !info.name.empty() || info.verb == "create";
  // A resource of the cluster is not in a namespace. With another namespace in the path, the user's
  // rights in that namespace would have been checked.
  if (type == nullptr || (!type->namespaced && !info.namespace_.empty() &&
                          !(type->rules.holds_objects && info.is_namespace))) {
    return ErrorResponse(NoSuchPath());
  }
  if (type->namespaced && info.namespace_.empty() && named && info.verb != "watch") {
    return ErrorResponse({Reason::kBadRequest, "the namespace of the object is not in the path"});
  }
  const Subresource* const subresource = type->FindSubresource(info.subresource);
  auto form = FormOf(request, *type, subresource, info, query);
  if (!form) {
    return ErrorResponse(form.error());
  }
  std::vector<std::string> warnings;
  if (!type->deprecation.empty()) {
    warnings.push_back(type->deprecation);
  }
  const Call call{.request = request,
                  .info = info,
                  .query = query,
                  .type = type,
                  .subresource = subresource,
                  .form = *form,
                  .user = user,
                  .authenticator = authenticator_,
                  .tokens = tokens_,
                  .authorizer = authorizer_,
                  .types = types_,
                  .objects = objects_,
                  .webhooks = webhooks_,
                  .open_watches = open_watches_,
                  .warnings = warnings,
                  .managed_fields = managed_fields_,
                  .service_accounts = service_accounts_};
  Answer answer = Route(call);
  const bool wrote = info.verb != "get" && info.verb != "list" && info.verb != "watch";
  // A collection may have been deleted in part, and a deletion may have been made although its
  // answer was an error.
  if (wrote && (answer || info.verb.starts_with("delete")) && !call.dry_run()) {
    AfterWrite(call);
  }
  http::Response response = answer ? std::move(*answer) : ErrorResponse(answer.error());
  AddWarnings(warnings, response);
  return response;
}

}  // namespace kubexx::apiserver
