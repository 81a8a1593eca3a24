/// @file
/// The request and response with which a webhook converts custom resources.
#ifndef KUBEXX_APISERVER_ADMISSION_CONVERSION_H_
#define KUBEXX_APISERVER_ADMISSION_CONVERSION_H_

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// The body of a call to a conversion webhook, an apiextensions.k8s.io/v1 ConversionReview.
std::string ConversionRequest(const std::string& uid, const std::string& api_version,
                              const std::vector<codec::JsonTree>& objects);

/// Reads the converted objects from the webhook's response. It must have as many objects as
/// `objects`, in the same order, in the wanted version, and with the same kinds, names, namespaces
/// and uids. Of the metadata the webhook may change only labels and annotations; the other fields
/// are restored. The error says what is wrong with the response, without naming the webhook.
apimachinery::Result<std::vector<codec::JsonTree>> ReadConversionResponse(
    std::string_view body, const std::string& uid, const std::string& api_version,
    const std::vector<codec::JsonTree>& objects);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_CONVERSION_H_
