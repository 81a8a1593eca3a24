#include "kubexx/apiserver/endpoints/authz/authorizer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kubexx/apiserver/endpoints/preparation/written_part.h"
#include "kubexx/apiserver/endpoints/validation/cluster/certificate_requests.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/write_part.h"
#include "kubexx/apiserver/rbac/coverage.h"
#include "kubexx/apiserver/rbac/quote.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;
using rbac::Quoted;

constexpr const char* kGroup = "rbac.authorization.k8s.io";
/// The plurals, in the order of Authorizer::sources_.
constexpr const char* kPlurals[] = {"roles", "clusterroles", "rolebindings", "clusterrolebindings"};
constexpr rbac::PartKind kPartKinds[] = {rbac::PartKind::kRole, rbac::PartKind::kClusterRole,
                                         rbac::PartKind::kRoleBinding,
                                         rbac::PartKind::kClusterRoleBinding};

Status About(const rbac::Request& request, std::string message) {
  Status status(Reason::kForbidden, std::move(message), 403);
  status.details.name = request.name;
  status.details.group = request.group;
  status.details.kind = request.resource;
  return status;
}

/// Returns "pods "a" is forbidden", or the same without a name.
std::string Subject(const rbac::Request& request) {
  return request.resource + (request.group.empty() ? "" : "." + request.group) +
         (request.name.empty() ? "" : " \"" + request.name + "\"") + " is forbidden: ";
}

/// Returns `text` in a form that may be part of a page.
std::string Sanitized(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return safe;
}

/// `reason` is the reason of the decision, or "" when there is none.
Status Forbidden(const User& user, const rbac::Request& request, const std::string& reason,
                 bool sanitize) {
  std::string what = "User " + Quoted(user.name) + " cannot " + request.verb;
  if (!request.is_resource()) {
    what += " path " + Quoted(request.path);
  } else {
    what += " resource " + Quoted(request.FullResource()) + " in API group " +
            Quoted(request.group) +
            (request.namespace_.empty() ? " at the cluster scope"
                                        : " in the namespace " + Quoted(request.namespace_));
  }
  what = (sanitize ? Sanitized(what) : what) + (reason.empty() ? "" : ": " + reason);
  return request.is_resource() ? About(request, Subject(request) + what)
                               : Status(Reason::kForbidden, "forbidden: " + what, 403);
}

std::string GroupList(const User& user) {
  std::string list;
  for (const std::string& group : user.groups) {
    list += (list.empty() ? "" : " ") + Quoted(group);
  }
  return "[" + list + "]";
}

Status Escalation(const User& user, const rbac::Request& request, const rbac::Missing& missing,
                  const std::string& error) {
  std::string list;
  for (const rbac::Rule& rule : missing.rules) {
    list += "\n" + rule.ToString();
  }
  if (!missing.complete) {
    list +=
        missing.rules.empty() ? "\nthe rules have too many combinations to compare" : "\nand more";
  }
  if (!error.empty()) {
    list += "; resolution errors: [" + error + "]";
  }
  return About(request, Subject(request) + "user " + Quoted(user.name) +
                            " (groups=" + GroupList(user) +
                            ") is attempting to grant RBAC permissions not currently held:" + list);
}

/// Whether an update changes only what the garbage collector has to change.
bool IsForCollectionOnly(const JsonTree* current, JsonTree object) {
  if (current == nullptr) {
    return false;
  }
  JsonTree before = *current;
  for (JsonTree* const one : {&before, &object}) {
    for (const char* const field :
         {"ownerReferences", "finalizers", "managedFields", "resourceVersion"}) {
      (*one)["metadata"].Erase(field);
    }
  }
  return before == object;
}

std::vector<rbac::Rule> Everything() {
  rbac::Rule everything;
  everything.verbs = everything.groups = everything.resources = {"*"};
  rbac::Rule everywhere;
  everywhere.verbs = everywhere.paths = {"*"};
  return {std::move(everything), std::move(everywhere)};
}

/// Whether the name can be a part of a path, which every name must be at least.
bool IsPathSegment(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/%") == std::string_view::npos;
}

/// A list that selects the only object of a name counts as a list of that name, if it is a valid
/// name. Only the verbs list and watch have this rule.
std::string SelectedName(std::string_view fields) {
  const auto selector = FieldSelector::ParseAny(fields);
  std::string name = selector ? selector->Exactly("metadata.name") : std::string();
  const bool possible =
      name != "." && name != ".." && name.find_first_of("/%") == std::string::npos;
  return possible ? name : std::string();
}

bool IsMaster(const User& user) {
  return std::ranges::find(user.groups, "system:masters") != user.groups.end();
}

/// Whether a write of the status of a CertificateSigningRequest says something new.
bool ChangesAnswer(const Grant& grant) {
  JsonTree written = grant.object;
  KeepTheRest(grant.type, WritePart::kStatus, *grant.current, written);
  return std::ranges::any_of(
      std::initializer_list<const char*>{"certificate", "conditions"}, [&](const char* field) {
        const JsonTree* const before = grant.current->At({"status", field});
        const JsonTree* const after = written.At({"status", field});
        return before == nullptr || after == nullptr ? before != after : *before != *after;
      });
}

bool Aggregates(const JsonTree* role) {
  return role != nullptr && role->Find("aggregationRule") != nullptr;
}

}  // namespace

Authorizer::Authorizer(TypeRegistry& types, bool rbac) : types_(types), rbac_(rbac) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    sources_[i] = types.Find(kGroup, "v1", kPlurals[i]);
  }
}

Authorizer::Caches Authorizer::SourceCaches() {
  {
    const base::MutexLock lock(mu_);
    if (caches_.front() != nullptr) {
      return caches_;
    }
  }
  Caches caches;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    caches[i] = types_.CacherOf(sources_[i]);  // may start a thread
  }
  const base::MutexLock lock(mu_);
  return caches_ = std::move(caches);
}

Result<Authorizer::PolicyRef> Authorizer::Current(bool latest, const std::stop_token& stop) {
  const Caches cachers = SourceCaches();
  Revisions revisions{};
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (latest) {
      // A user who is refused must not occupy a thread for as long as a cache is behind.
      KX_RETURN_IF_ERROR(cachers[i]->CatchUpWithLatest(stop));
    } else {
      // A cache that is behind or empty never allows something that was not allowed a moment ago.
      (void)cachers[i]->WaitFor(0, stop);
    }
    revisions[i] = cachers[i]->cache().revision();
  }
  std::shared_ptr<const Made> before;
  {
    base::MutexLock lock(mu_);
    before = made_;
  }
  if (before != nullptr && revisions == before->revisions) {
    return before->policy;
  }
  // Otherwise other threads would do the same work at the same time.
  const base::MutexLock making(making_);
  {
    base::MutexLock lock(mu_);
    if (made_ != before && std::ranges::equal(revisions, made_->revisions, std::less_equal())) {
      return made_->policy;
    }
    before = made_;
  }
  auto made = before == nullptr ? std::make_shared<Made>() : std::make_shared<Made>(*before);
  std::shared_ptr<rbac::Policy> policy;
  for (std::size_t i = 0; i < cachers.size(); ++i) {
    if (before != nullptr && revisions[i] == before->revisions[i]) {
      continue;
    }
    CachedList list = cachers[i]->cache().List({});
    made->revisions[i] = list.revision;
    std::shared_ptr<const Source>& source = made->sources[i];
    if (source != nullptr && list.items == source->objects) {
      continue;
    }
    source = Read(std::move(list.items), kPartKinds[i], source.get());
    if (policy == nullptr) {
      policy = made->policy == nullptr ? std::make_shared<rbac::Policy>()
                                       : std::make_shared<rbac::Policy>(*made->policy);
    }
    policy->Take(kPartKinds[i], source->parts);
  }
  if (policy != nullptr) {
    made->policy = std::move(policy);
  }
  PolicyRef current = made->policy;
  base::MutexLock lock(mu_);
  // Another thread may have been faster, and may have newer revisions.
  if (made_ == before || std::ranges::equal(made_->revisions, made->revisions, std::less_equal())) {
    made_ = std::move(made);
  }
  return current;
}

void Authorizer::KeepUp(const std::stop_token& stop) {
  if (!rbac_) {
    return;
  }
  const Caches caches = SourceCaches();
  if (std::ranges::all_of(caches, [](const auto& each) { return each->cache().Has(0); })) {
    (void)Current(false, stop);
  }
}

std::shared_ptr<const Authorizer::Source> Authorizer::Read(Objects objects, rbac::PartKind kind,
                                                           const Source* before) {
  auto parts = std::make_shared<rbac::Parts>();
  parts->reserve(objects.size());
  // Both are in the order of their keys. If they were not, more roles than necessary would be read.
  std::size_t at = 0;
  const std::size_t count = before == nullptr ? 0 : before->objects.size();
  for (const CachedObjectRef& object : objects) {
    while (at < count && before->objects[at] != object && before->objects[at]->key < object->key) {
      ++at;
    }
    if (at < count && before->objects[at] == object) {
      parts->push_back((*before->parts)[at]);
      ++at;
      continue;
    }
    auto tree = JsonTree::Parse(object->Json());
    if (!tree) {  // a role that cannot be read gives no rights
      tree = JsonTree::Object();
      SetMeta(*tree, "namespace", object->key.namespace_);
      SetMeta(*tree, "name", object->key.name);
    }
    ++parts_read_;
    parts->push_back(rbac::ReadPart(kind, *tree));
  }
  auto source = std::make_shared<Source>();
  source->objects = std::move(objects);
  source->parts = std::move(parts);
  return source;
}

Result<rbac::Decision> Authorizer::Decide(const User& user, const rbac::Request& request,
                                          const std::stop_token& stop) {
  if (!rbac_) {
    return rbac::Decision{.allowed = true};
  }
  if (IsMaster(user)) {  // whatever roles there are
    return rbac::Decision{.allowed = true};
  }
  KX_ASSIGN_OR_RETURN(const PolicyRef known, Current(false, stop));
  rbac::Decision decision = known->Decide(user, request);
  if (decision.allowed) {
    return decision;
  }
  KX_ASSIGN_OR_RETURN(const PolicyRef latest, Current(true, stop));
  return latest == known ? decision : latest->Decide(user, request);
}

Result<void> Authorizer::Check(const User& user, const rbac::Request& request,
                               const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const rbac::Decision decision, Decide(user, request, stop));
  return decision.allowed ? Result<void>() : Fail(Forbidden(user, request, decision.reason, true));
}

Result<void> Authorizer::CheckImpersonation(const User& user, const rbac::Request& request,
                                            const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const rbac::Decision decision, Decide(user, request, stop));
  return decision.allowed ? Result<void>() : Fail(Forbidden(user, request, decision.reason, false));
}

Result<rbac::HeldRules> Authorizer::RulesOf(const User& user, std::string_view namespace_,
                                            const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const PolicyRef policy, Current(true, stop));
  return policy->RulesOf(user, namespace_);
}

Result<void> Authorizer::CheckGrant(const User& user, const Grant& grant,
                                    const std::stop_token& stop) {
  if (rbac_ && IsCertificateRequest(grant.type) && grant.current != nullptr) {
    return CheckSigner(user, grant, stop);
  }
  if (!rbac_ || grant.type.group != kGroup || IsForCollectionOnly(grant.current, grant.object)) {
    return {};
  }
  rbac::Request request;
  request.group = kGroup;
  request.resource = grant.type.plural;
  request.namespace_ = grant.type.namespaced ? grant.namespace_ : "";
  request.name = MetaString(grant.object, "name");
  return grant.type.plural.ends_with("bindings") ? CheckBinding(user, grant, request, stop)
                                                 : CheckRole(user, grant, request, stop);
}

Result<void> Authorizer::CheckSigner(const User& user, const Grant& grant,
                                     const std::stop_token& stop) {
  const bool signs = grant.subresource == "status" && ChangesAnswer(grant);
  if (!signs && grant.subresource != "approval") {
    return {};
  }
  const std::string signer = StringAt(*grant.current, {"spec", "signerName"});
  rbac::Request request;
  request.verb = signs ? "sign" : "approve";
  request.group = grant.type.group;
  request.resource = "signers";
  for (const std::string& name : {signer, signer.substr(0, signer.find('/')) + "/*"}) {
    request.name = name;
    KX_ASSIGN_OR_RETURN(const rbac::Decision decision, Decide(user, request, stop));
    if (decision.allowed) {
      return {};
    }
  }
  return Fail(apiserver::Forbidden(grant.type, grant.name,
                                   "user not permitted to " + request.verb +
                                       " requests with signerName " + JsonTree(signer).ToJson()));
}

Result<void> Authorizer::CheckBinding(const User& user, const Grant& grant,
                                      const rbac::Request& request, const std::stop_token& stop) {
  const std::string kind = StringAt(grant.object, {"roleRef", "kind"});
  const std::string group = StringAt(grant.object, {"roleRef", "apiGroup"});
  rbac::Request bind = request;
  bind.verb = "bind";
  bind.group = group.empty() ? kGroup : group;
  bind.resource = kind == "Role" ? "roles" : "clusterroles";
  bind.name = StringAt(grant.object, {"roleRef", "name"});
  const bool known = kind == "Role" || kind == "ClusterRole";
  if (IsMaster(user)) {
    return {};
  }
  if (known) {
    KX_ASSIGN_OR_RETURN(const rbac::Decision decision, Decide(user, bind, stop));
    if (decision.allowed) {
      return {};
    }
  }
  if (!IsPathSegment(bind.name) || (kind == "Role" && request.namespace_.empty())) {
    return Fail(Reason::kBadRequest, "no role can be where the binding looks for it");
  }
  KX_ASSIGN_OR_RETURN(const PolicyRef policy, Current(true, stop));
  const auto wanted = policy->RulesOfReference(grant.object, request.namespace_);
  if (!wanted) {  // The user who creates the role later would decide what the binding gives.
    return Fail(NotFound(grant.type, bind.name));
  }
  const rbac::HeldRules held =
      policy->RulesOf(user, request.namespace_, grant.type.QualifiedPlural());
  const auto missing = rbac::NotCovered(held.rules, *wanted, stop);
  return missing.none() ? Result<void>() : Fail(Escalation(user, request, missing, held.error));
}

Result<void> Authorizer::CheckRole(const User& user, const Grant& grant,
                                   const rbac::Request& request, const std::stop_token& stop) {
  rbac::Request escalate = request;
  escalate.verb = "escalate";
  escalate.name = grant.name;
  KX_ASSIGN_OR_RETURN(const rbac::Decision decision, Decide(user, escalate, stop));
  if (decision.allowed) {
    return {};
  }
  // Rules that were there before count, too, because the labels decide to which other roles they
  // are added.
  KX_ASSIGN_OR_RETURN(const PolicyRef policy, Current(true, stop));
  const rbac::HeldRules held =
      policy->RulesOf(user, request.namespace_, grant.type.QualifiedPlural());
  if (const auto missing = rbac::NotCovered(held.rules, rbac::ReadRules(grant.object), stop);
      !missing.none()) {
    return Fail(Escalation(user, request, missing, held.error));
  }
  // Nobody knows which roles it will select.
  if ((Aggregates(grant.current) || Aggregates(&grant.object)) &&
      !rbac::NotCovered(held.rules, Everything(), stop).none()) {
    return Fail(
        About(request,
              Subject(request) + "must have cluster-admin privileges to use the aggregationRule"));
  }
  return {};
}

rbac::Request AttributesOf(const http::Request& request, const std::optional<RequestInfo>& info,
                           const Query& query) {
  rbac::Request wanted;
  if (!info || info->resource.empty()) {
    wanted.verb = base::ToLower(request.method);
    wanted.path = request.path;
    return wanted;
  }
  wanted.verb = info->verb.empty() ? base::ToLower(request.method) : info->verb;
  wanted.group = info->group;
  wanted.resource = info->resource;
  // The rest of the path belongs to the subresource, for example to a proxy.
  wanted.subresource = info->subresource.substr(0, info->subresource.find('/'));
  wanted.namespace_ = info->namespace_;
  wanted.name = info->name;
  if (wanted.name.empty() && (wanted.verb == "list" || wanted.verb == "watch")) {
    wanted.name = SelectedName(Param(query, "fieldSelector"));
  }
  return wanted;
}

}  // namespace kubexx::apiserver
