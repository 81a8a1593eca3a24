/// @file
/// Registry: finds the schema table of a type by its apiVersion and kind.
#ifndef KUBEXX_CODEC_REGISTRY_H_
#define KUBEXX_CODEC_REGISTRY_H_

#include <span>
#include <string_view>

#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// A sorted table of root kinds. The generated one is api::Registry() in pkg/api/registry.gen.h.
class Registry {
 public:
  /// `types` are ascending by (group, version, kind), in static storage.
  constexpr explicit Registry(std::span<const TypeSchema* const> types) : types_(types) {}

  /// Returns the table of a kind, or null if it is unknown. `api_version` is, for example, "v1" or
  /// "apps/v1".
  const TypeSchema* Find(std::string_view api_version, std::string_view kind) const;
  std::span<const TypeSchema* const> types() const { return types_; }

 private:
  std::span<const TypeSchema* const> types_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_REGISTRY_H_
