/// @file
/// What a request is about, from its method, path and query.
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

/// The parameters of a query; of those given twice the first counts.
using Query = std::map<std::string, std::string, std::less<>>;

/// "a=1&b=%20" decoded. What is no valid escape stays as it is.
Query ParseQuery(std::string_view query);
/// Percent-decoded; nothing for a bad escape.
std::optional<std::string> DecodePath(std::string_view path);
/// The parameter's value; "" when it is not given.
std::string_view Param(const Query& query, std::string_view name);
/// All values of a parameter that may be given several times, in their order.
std::vector<std::string> ParamValues(std::string_view query, std::string_view name);
/// Whether it is given and neither "0" nor "false", in any case; also without a value, as for
/// kube-apiserver.
bool BoolParam(const Query& query, std::string_view name);
/// An integer in Go's decimal form, 0 for a parameter that is not given. kBadRequest for one that
/// is empty or no integer.
apimachinery::Result<std::int64_t> NumberParam(const Query& query, std::string_view name);

/// A request for a resource, as apiserver's RequestInfo.
struct RequestInfo {
  std::string group{};
  std::string version{};
  std::string resource{};     ///< the plural; "" for discovery of the group version
  std::string namespace_{};   ///< "" for cluster-scoped ones and across all namespaces
  std::string name{};         ///< "" for collections
  std::string subresource{};  ///< may have slashes, for proxies
  /// get, list, watch, create, update, patch, delete, deletecollection.
  std::string verb{};
  /// The namespace is what the request is about, "namespaces/a", and not where that is.
  bool is_namespace = false;
};

/// Nothing when `path` is not below /api/v1 or /apis/GROUP/VERSION. `path` as sent.
std::optional<RequestInfo> ParseResourcePath(std::string_view method, std::string_view path,
                                             const Query& query);

/// The options of a list or watch; kBadRequest for what is none.
apimachinery::Result<apimachinery::ListOptions> ListOptionsOf(const Query& query);

/// A resourceVersion: 0 when it is "" or "0". kBadRequest for what is no number.
apimachinery::Result<std::int64_t> RevisionParam(std::string_view text);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_REQUEST_REQUEST_INFO_H_
