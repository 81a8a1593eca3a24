#include "kubexx/apiserver/endpoints/request/request_body.h"

#include <utility>

#include "kubexx/codec/yaml.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Result<std::string> TextOfBody(const std::string& body, BodyForm form,
                               std::vector<std::string>* duplicates) {
  if (form == BodyForm::kJson) {
    return body;
  }
  KX_ASSIGN_OR_RETURN(std::vector<std::string> documents, codec::YamlToJson(body, duplicates));
  return documents.empty() ? std::string() : std::move(documents.front());
}

Result<JsonTree> ObjectOfJson(std::string_view text) {
  auto tree = JsonTree::Parse(text);
  if (tree && tree->IsNull()) {
    return JsonTree::Object();
  }
  if (!tree || !tree->IsObject()) {
    return Fail(Reason::kBadRequest, "the object provided is unrecognized: it is no JSON object" +
                                         (tree ? "" : ": " + tree.error().message));
  }
  return tree;
}

}  // namespace kubexx::apiserver
