#include "kubexx/apiserver/endpoints/admission/default_class.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

/// What has classes, where it names its class, and what makes a class the default.
struct Classified {
  std::string_view group;
  std::string_view plural;
  const char* field;  // of its spec
  const char* annotation;
  std::string_view class_group;
  std::string_view classes;
  const char* marks[2];
};

constexpr Classified kClassified[] = {
    {"",
     "persistentvolumeclaims",
     "storageClassName",
     "volume.beta.kubernetes.io/storage-class",
     "storage.k8s.io",
     "storageclasses",
     {"storageclass.kubernetes.io/is-default-class",
      "storageclass.beta.kubernetes.io/is-default-class"}},
    {"networking.k8s.io",
     "ingresses",
     "ingressClassName",
     "kubernetes.io/ingress.class",
     "networking.k8s.io",
     "ingressclasses",
     {"ingressclass.kubernetes.io/is-default-class", nullptr}},
};

bool IsDefault(const Classified& of, const JsonTree& class_) {
  const JsonTree* const annotations = class_.At({"metadata", "annotations"});
  return annotations != nullptr && std::ranges::any_of(of.marks, [&](const char* mark) {
           return mark != nullptr && annotations->TextAt(mark) == "true";
         });
}

/// The name of the default class; empty when there is none.
Result<std::string> NameOfDefault(const Call& call, const Classified& of) {
  const ResourceTypeRef type = call.types.Find(of.class_group, "v1", of.classes);
  std::string name;
  std::string made;
  KX_RETURN_IF_ERROR(call.objects.storage().GetList(
      type->prefix, {},
      [&](storage::KeyValue&& kv) -> Result<void> {
        const auto json = JsonOfStored(*type, *kv.value, kv.mod_revision);
        const auto tree = json ? JsonTree::Parse(*json) : Fail(json.error());
        if (!tree || !IsDefault(of, *tree)) {
          return {};
        }
        // The names come in their order.
        std::string since = MetaString(*tree, "creationTimestamp");
        if (name.empty() || since > made) {
          name = MetaString(*tree, "name");
          made = std::move(since);
        }
        return {};
      },
      call.request.stop));
  return name;
}

}  // namespace

Result<void> GiveDefaultClass(const Call& call, JsonTree& object) {
  const auto* const of = std::ranges::find_if(
      kClassified, [&](const Classified& one) { return call.type->Is(one.group, one.plural); });
  if (of == std::end(kClassified) || !call.info.subresource.empty()) {
    return {};
  }
  const JsonTree* const annotations = object.At({"metadata", "annotations"});
  if (object.At({"spec", of->field}) != nullptr ||
      (annotations != nullptr && annotations->Find(of->annotation) != nullptr)) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const std::string name, NameOfDefault(call, *of));
  if (!name.empty()) {
    object["spec"][of->field] = name;
  }
  return {};
}

}  // namespace kubexx::apiserver
