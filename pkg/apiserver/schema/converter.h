/// @file
/// Makes objects of one version of a custom resource those of another.
#ifndef KUBEXX_APISERVER_SCHEMA_CONVERTER_H_
#define KUBEXX_APISERVER_SCHEMA_CONVERTER_H_

#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// What a definition says of conversion, where changing the apiVersion is not enough. Thread-safe;
/// blocks.
class Converter {
 public:
  virtual ~Converter() = default;
  /// The same objects in the version "GROUP/VERSION", in their order. The error names the kind.
  virtual apimachinery::Result<std::vector<codec::JsonTree>> Convert(
      const std::string& api_version, const std::vector<codec::JsonTree>& objects,
      const std::stop_token& stop) = 0;
};

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_CONVERTER_H_
