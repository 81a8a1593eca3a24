#include "kubexx/crdgen/lost_fields.h"

namespace kubexx::crdgen {
namespace {

using api::apiextensions::v1::JSONSchemaProps;

const JSONSchemaProps* ValuesOf(const JSONSchemaProps& schema) {
  return schema.additional_properties && schema.additional_properties->schema
             ? &*schema.additional_properties->schema
             : nullptr;
}
const JSONSchemaProps* ElementsOf(const JSONSchemaProps& schema) {
  return schema.items && schema.items->schema ? &*schema.items->schema : nullptr;
}
bool DropsNothing(const JSONSchemaProps& schema) {
  return schema.x_kubernetes_preserve_unknown_fields.value_or(false);
}

void CompareFields(const JSONSchemaProps& version, const JSONSchemaProps& stored,
                   const std::string& path, std::vector<std::string>& lost) {
  const JSONSchemaProps* const stored_values = ValuesOf(stored);
  const bool keeps_any = DropsNothing(stored);
  for (const auto& [name, property] : version.properties) {
    const std::string inner = path.empty() ? name : path + "." + name;
    const auto found = stored.properties.find(name);
    if (found != stored.properties.end()) {
      CompareFields(property, found->second, inner, lost);
    } else if (stored_values != nullptr) {
      CompareFields(property, *stored_values, inner, lost);
    } else if (!keeps_any) {
      lost.push_back(inner);
    }
  }
  if (const JSONSchemaProps* const values = ValuesOf(version)) {
    if (stored_values != nullptr) {
      CompareFields(*values, *stored_values, path + "[*]", lost);
    } else if (!keeps_any) {
      lost.push_back(path + "[*]");
    }
  } else if (DropsNothing(version) && !keeps_any && stored_values == nullptr) {
    lost.push_back(path + ".*");
  }
  const JSONSchemaProps* const elements = ElementsOf(version);
  const JSONSchemaProps* const stored_elements = ElementsOf(stored);
  if (elements != nullptr && stored_elements != nullptr) {
    CompareFields(*elements, *stored_elements, path + "[*]", lost);
  }
}

}  // namespace

std::vector<std::string> LostFields(const JSONSchemaProps& version, const JSONSchemaProps& stored) {
  std::vector<std::string> lost;
  CompareFields(version, stored, "", lost);
  return lost;
}

}  // namespace kubexx::crdgen
