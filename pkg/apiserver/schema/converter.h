/// @file
/// Converts objects between versions of a custom resource.
#ifndef KUBEXX_APISERVER_SCHEMA_CONVERTER_H_
#define KUBEXX_APISERVER_SCHEMA_CONVERTER_H_

#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// The conversion between versions of one definition, when it takes more than changing the
/// apiVersion. Thread-safe; blocks.
class Converter {
 public:
  virtual ~Converter() = default;
  /// Returns the objects in the version "GROUP/VERSION", in the same order. An error names the
  /// kind.
  virtual apimachinery::Result<std::vector<codec::JsonTree>> Convert(
      const std::string& api_version, const std::vector<codec::JsonTree>& objects,
      const std::stop_token& stop) = 0;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CONVERTER_H_
