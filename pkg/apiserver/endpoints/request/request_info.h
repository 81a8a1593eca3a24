/// @file
/// Finds out from its method, path and query what a request is for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_INFO_H_
#define KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_INFO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The parameters of a query. When one is given twice, the first counts.
using Query = std::map<std::string, std::string, std::less<>>;

/// Decodes a query such as "a=1&b=%20". Invalid escapes stay unchanged.
Query ParseQuery(std::string_view query);
/// Percent-decodes a path; std::nullopt for an invalid escape.
std::optional<std::string> DecodePath(std::string_view path);
/// The parameter's value; "" when it is not given.
std::string_view Param(const Query& query, std::string_view name);
/// All values of a parameter that may be given several times, in their order.
std::vector<std::string> ParamValues(std::string_view query, std::string_view name);
/// Whether the parameter is given and is neither "0" nor "false" (in upper or lower case). As in
/// kube-apiserver, a parameter without a value is true.
bool BoolParam(const Query& query, std::string_view name);
/// The parameter as an integer in Go's decimal form; 0 when it is not given. Returns kBadRequest
/// when it is empty or no integer.
apimachinery::Result<std::int64_t> NumberParam(const Query& query, std::string_view name);

/// What a request for a resource is about, as apiserver's RequestInfo.
struct RequestInfo {
  std::string group{};
  std::string version{};
  std::string resource{};     ///< the plural; "" for discovery of the group version
  std::string namespace_{};   ///< "" for cluster-scoped resources and for all namespaces
  std::string name{};         ///< "" for collections
  std::string subresource{};  ///< may have slashes, for proxy requests
  /// get, list, watch, create, update, patch, delete, deletecollection.
  std::string verb{};
  /// The request is for a Namespace object, as "namespaces/a", and not for an object in a
  /// namespace.
  bool is_namespace = false;
};

/// Parses the path of a request; std::nullopt when it is not below /api/v1 or /apis/GROUP/VERSION.
/// `path` must not be decoded yet.
std::optional<RequestInfo> ParseResourcePath(std::string_view method, std::string_view path,
                                             const Query& query);

/// Reads the options of a list or watch. Returns kBadRequest for invalid ones.
apimachinery::Result<apimachinery::ListOptions> ListOptionsOf(const Query& query);

/// Parses a resourceVersion; 0 when it is "" or "0". Returns kBadRequest when it is not a number.
apimachinery::Result<std::int64_t> RevisionParam(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_INFO_H_
