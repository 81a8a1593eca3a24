// Any bytes as the body of a create: JSON, YAML or protobuf of any built-in type. An object that is
// taken must come back from the storage as it was, in both forms of storing.

#include <string>

#include "fuzz.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/codec/yaml.h"

namespace kubexx {
namespace {

using apimachinery::Result;
using codec::JsonTree;

Result<JsonTree> Read(const apiserver::ResourceType& type, unsigned form, std::string_view body) {
  if (form == 0) {
    return apiserver::CanonicalOfProtobuf(type, body);
  }
  std::string text(body);
  if (form == 1) {
    KX_ASSIGN_OR_RETURN(const auto documents, codec::YamlToJson(body));
    text = documents.empty() ? "" : documents.front();
  }
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(text));
  return apiserver::Canonical(type, object);
}

void ComesBack(const apiserver::ResourceType& type, const JsonTree& object,
               apiserver::StoredForm form) {
  const auto stored = apiserver::StoredOf(type, object, form);
  fuzz::Require(stored.has_value());
  const auto json = apiserver::JsonOfStored(type, *stored, 7);
  fuzz::Require(json.has_value());
  auto again = JsonTree::Parse(*json);
  fuzz::Require(again.has_value());
  fuzz::Require((*again)["metadata"].TextAt("resourceVersion") == "7");
  fuzz::Require(
      (*again)["metadata"].TextAt("name") ==
      (object.Find("metadata") == nullptr ? "" : object.Find("metadata")->TextAt("name")));
  const auto canonical = apiserver::Canonical(type, *again);
  fuzz::Require(canonical.has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kTypes = apiserver::BuiltinTypes();
  fuzz::Input input(data, size);
  const unsigned form = input.TakeByte() % 3;
  const apiserver::ResourceType& type = *kTypes[input.TakeByte() % kTypes.size()];
  auto object = Read(type, form, input.rest());
  if (!object) {
    return 0;
  }
  if (!apiserver::PrepareCreate(type, "default", base::Clock::Real(), *object, {})) {
    return 0;
  }
  ComesBack(type, *object, apiserver::StoredForm::kJson);
  ComesBack(type, *object, apiserver::StoredForm::kProtobuf);
  apiserver::SetMeta(*object, "resourceVersion", "7");  // Some types ask for it.
  JsonTree changed = *object;
  fuzz::Require(apiserver::PrepareUpdate(type, apiserver::WritePart::kObject, *object, changed, {})
                    .has_value());
  return 0;
}

}  // namespace kubexx
