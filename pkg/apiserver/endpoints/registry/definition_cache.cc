#include "kubexx/apiserver/endpoints/registry/definition_cache.h"

#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Result;
using codec::JsonTree;

Result<storage::Revision> ForEachStoredDefinition(storage::Storage& storage,
                                                  storage::Storage::ItemSink sink,
                                                  const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(const storage::ListResult listed,
                      storage.GetList(DefinitionType()->prefix, {.keys_only = true}, sink, stop));
  return listed.revision;
}

std::optional<JsonTree> ParseStoredDefinition(const storage::KeyValue& kv) {
  const auto json = JsonOfStored(*DefinitionType(), *kv.value, kv.mod_revision);
  auto definition = json ? JsonTree::Parse(*json) : Fail(json.error());
  if (!definition) {
    logging::Error("Cannot read a CustomResourceDefinition",
                   {{"key", kv.key}, {"error", definition.error()}});
    return std::nullopt;
  }
  return std::move(*definition);
}

}  // namespace kubexx::apiserver
