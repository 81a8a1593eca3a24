#include "kubexx/apiserver/endpoints/admission/admit.h"

#include <utility>

#include "kubexx/apiserver/admission/dispatcher.h"
#include "kubexx/apiserver/endpoints/admission/claim_resize_admission.h"
#include "kubexx/apiserver/endpoints/admission/default_class.h"
#include "kubexx/apiserver/endpoints/admission/default_tolerations.h"
#include "kubexx/apiserver/endpoints/admission/priority_admission.h"
#include "kubexx/apiserver/endpoints/admission/runtime_class_admission.h"
#include "kubexx/apiserver/endpoints/admission/service_account_admission.h"
#include "kubexx/apiserver/endpoints/patch/patch.h"
#include "kubexx/apiserver/endpoints/preparation/duplicate_owners.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/registry/scale_object.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using admission::Dispatch;
using admission::Dispatcher;
using admission::Target;
using apimachinery::Result;
using codec::JsonTree;

Target TargetOf(const ResourceType& type, const ResourceType& written) {
  return {.resource = {.group = type.group, .version = type.version, .resource = type.plural},
          .kind = {.group = written.group, .version = written.version, .kind = written.kind}};
}

/// Returns the other versions of a resource that have the subresource, too.
std::vector<Target> EquivalentsOf(const Call& call, const ResourceType* posted) {
  std::vector<Target> equivalents;
  if (!call.type->custom && call.type->convert == nullptr) {
    return equivalents;  // Most built-in types are served in only one version.
  }
  const std::string& sub = call.info.subresource;
  for (const ResourceTypeRef& type : call.types.All()) {
    if (type->group == call.type->group && type->plural == call.type->plural &&
        type->version != call.type->version &&
        (sub.empty() || type->FindSubresource(sub) != nullptr)) {
      equivalents.push_back(TargetOf(*type, posted == nullptr ? *type : *posted));
    }
  }
  return equivalents;
}

/// Returns meta.k8s.io/v1 CreateOptions or UpdateOptions from the query. A patch has UpdateOptions,
/// too.
JsonTree OptionsOf(const Call& call, const std::string& operation) {
  JsonTree options = JsonTree::Object();
  options["kind"] = operation == "CREATE" ? "CreateOptions" : "UpdateOptions";
  options["apiVersion"] = "meta.k8s.io/v1";
  if (call.dry_run()) {
    options["dryRun"].Append("All");
  }
  for (const char* const field : {"fieldManager", "fieldValidation"}) {
    if (const std::string_view value = Param(call.query, field); !value.empty()) {
      options[field] = value;
    }
  }
  return options;
}

JsonTree TakeManagers(JsonTree& object) {
  JsonTree* const metadata = object.Find("metadata");
  JsonTree* const found = metadata == nullptr ? nullptr : metadata->Find("managedFields");
  if (found == nullptr) {
    return {};
  }
  JsonTree managers = std::move(*found);
  metadata->Erase("managedFields");
  return managers;
}

}  // namespace

Admission::Admission(const Call& call, AdmitOptions options)
    : call_(call),
      options_(std::move(options)),
      mutating_(call.webhooks.mutating()),
      validating_(call.webhooks.validating()) {}

const ResourceType& Admission::written() const {
  return options_.posted == nullptr ? *call_.type : *options_.posted;
}

const admission::Attributes& Admission::AttributesFor(const JsonTree& object) {
  if (attributes_) {
    const bool generated = call_.info.name.empty() && options_.name.empty() &&
                           !MetaString(object, "generateName").empty();
    // It may have been created meanwhile, perhaps once more.
    if (attributes_->name.empty() || generated) {
      attributes_->name = MetaString(object, "name");
    }
    return *attributes_;
  }
  admission::Attributes& made = attributes_.emplace();
  made.operation = options_.operation;
  made.target = TargetOf(*call_.type, written());
  made.equivalents = EquivalentsOf(call_, options_.posted);
  made.subresource = call_.info.subresource;
  made.name = call_.info.name.empty() ? options_.name : call_.info.name;
  if (made.name.empty()) {
    made.name = MetaString(object, "name");
  }
  made.namespace_ = call_.type->rules.holds_objects ? made.name : call_.key().namespace_;
  made.user = call_.user;
  made.dry_run = options_.dry_run || call_.dry_run();
  if (options_.operation == "DELETE") {
    made.options = options_.options;
    made.options["kind"] = "DeleteOptions";
    made.options["apiVersion"] = "meta.k8s.io/v1";
  } else {
    made.options = OptionsOf(call_, options_.operation);
  }
  made.convert = [this](const JsonTree& from, const Target& wanted) -> Result<JsonTree> {
    // A Scale is the same in all versions.
    return options_.posted == nullptr
               ? InVersion(*call_.type, from, wanted.kind.ApiVersion(), call_.request.stop)
               : Result<JsonTree>(from);
  };
  return made;
}

Result<void> Admission::Mutate(JsonTree& object, const JsonTree* old) {
  const bool has_owners = options_.posted == nullptr;
  if (has_owners && call_.info.verb != "patch") {
    DropDuplicateOwners(OwnersSeen::kAsSent, object, call_.warnings);
  }
  KX_RETURN_IF_ERROR(AskToMutate(object, old));
  if (has_owners) {
    DropDuplicateOwners(OwnersSeen::kAfterAdmission, object, call_.warnings);
  }
  return {};
}

Result<void> Admission::AskToMutate(JsonTree& object, const JsonTree* old) {
  const auto own = [&]() -> Result<void> {
    if (options_.posted == nullptr && old == nullptr && HasServiceAccount(call_)) {
      KX_RETURN_IF_ERROR(GiveServiceAccount(call_, object));
    }
    if (options_.posted == nullptr) {
      KX_RETURN_IF_ERROR(GivePriority(call_, object, old));
    }
    if (options_.posted == nullptr && IsPodWrite(call_)) {
      GiveTolerations(object);
    }
    if (options_.posted == nullptr && old == nullptr) {
      KX_RETURN_IF_ERROR(GiveDefaultClass(call_, object));
      KX_RETURN_IF_ERROR(GiveRuntimeClass(call_, object));
    }
    return {};
  };
  KX_RETURN_IF_ERROR(own());
  if (mutating_->empty()) {
    return {};
  }
  const admission::Attributes& attributes = AttributesFor(object);
  const auto patch = [&](const JsonTree& shown, const JsonTree& operations,
                         const Target& target) -> Result<JsonTree> {
    KX_ASSIGN_OR_RETURN(JsonTree patched, ApplyJsonPatch(shown, operations));
    if (&target != &attributes.target) {
      KX_ASSIGN_OR_RETURN(patched, attributes.convert(patched, attributes.target));
    }
    TakeManagers(patched);  // A webhook must not change them.
    JsonTree before = object;
    JsonTree managers = TakeManagers(before);
    KX_ASSIGN_OR_RETURN(patched, Canonical(written(), patched));
    if (options_.posted == nullptr) {
      SetDefaults(*call_.type, patched);
    }
    if (!managers.IsNull()) {
      patched["metadata"]["managedFields"] = std::move(managers);
    }
    return patched;
  };
  const Dispatch dispatch{
      .attributes = attributes, .request = call_.request, .warnings = call_.warnings};
  return Dispatcher(call_.webhooks.caller(), call_.webhooks, call_.webhooks.threads())
      .Mutate(*mutating_, dispatch, &object, old, patch, own);
}

Result<void> Admission::MutateNew(JsonTree& object) {
  const bool has_account = HasServiceAccount(call_);
  // Create checks this, too, but webhooks would have been called by then.
  if (any() || has_account || call_.type->group == "rbac.authorization.k8s.io") {
    KX_RETURN_IF_ERROR(call_.objects.CheckNamespace(*call_.type, MetaString(object, "name"),
                                                    call_.info.namespace_, call_.request.stop));
  }
  if (mutates() && call_.type->namespaced) {
    SetMeta(object, "namespace", call_.info.namespace_);
  }
  KX_RETURN_IF_ERROR(Mutate(object, nullptr));
  return has_account ? CheckServiceAccount(call_, object) : Result<void>();
}

ObjectStore::Check Admission::check() {
  const bool checks = options_.posted == nullptr && (IsClaimWrite(call_) || IsPodWrite(call_));
  if (!any() && !checks) {
    return {};
  }
  return [this](const JsonTree* object, const JsonTree* old) -> Result<void> {
    if (options_.posted != &ScaleType()) {
      return Validate(object, old);
    }
    const JsonTree scale = ScaleOf(*call_.type, *object);
    const JsonTree before = ScaleOf(*call_.type, *old);
    return Validate(&scale, &before);
  };
}

Result<void> Admission::Validate(const JsonTree* object, const JsonTree* old) {
  if (options_.posted == nullptr && object != nullptr) {
    KX_RETURN_IF_ERROR(old == nullptr ? CheckOverhead(call_, *object)
                                      : CheckClaimGrowth(call_, *object, *old));
  }
  if (!any()) {
    return {};
  }
  const admission::Attributes& attributes = AttributesFor(object == nullptr ? *old : *object);
  const Dispatch dispatch{
      .attributes = attributes, .request = call_.request, .warnings = call_.warnings};
  Dispatcher dispatcher(call_.webhooks.caller(), call_.webhooks, call_.webhooks.threads());
  if (object == nullptr) {
    const auto patch = [](const JsonTree& shown, const JsonTree&, const Target&) {
      return Result<JsonTree>(shown);
    };
    const auto nothing = []() -> Result<void> { return {}; };
    KX_RETURN_IF_ERROR(dispatcher.Mutate(*mutating_, dispatch, nullptr, old, patch, nothing));
  }
  return dispatcher.Validate(*validating_, dispatch, {.object = object, .old_object = old});
}

Result<void> AdmitPosted(const Call& call, const ResourceType& posted, JsonTree& object) {
  // A review of rights in a namespace is answered whether or not the namespace exists.
  if (!call.type->is_review) {
    KX_RETURN_IF_ERROR(call.objects.CheckNamespace(*call.type, call.info.name, call.info.namespace_,
                                                   call.request.stop));
  }
  Admission admission(call, {.operation = "CREATE", .posted = &posted});
  KX_RETURN_IF_ERROR(admission.Mutate(object, nullptr));
  return admission.Validate(&object, nullptr);
}

}  // namespace kubexx::apiserver
