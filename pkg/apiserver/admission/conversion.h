/// @file
/// Conversion of custom resources by a webhook.
#ifndef KUBEXX_APISERVER_ADMISSION_CONVERSION_H_
#define KUBEXX_APISERVER_ADMISSION_CONVERSION_H_

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// The body of a call, an apiextensions.k8s.io/v1 ConversionReview.
std::string ConversionRequest(const std::string& uid, const std::string& api_version,
                              const std::vector<codec::JsonTree>& objects);

/// What the webhook has made of `objects`: as many, in their order, of the wanted version, the same
/// kind, name, namespace and uid. Of their metadata only labels and annotations are the webhook's;
/// the rest is put back. The error says what is wrong with the answer, without naming the webhook.
apimachinery::Result<std::vector<codec::JsonTree>> ReadConversionResponse(
    std::string_view body, const std::string& uid, const std::string& api_version,
    const std::vector<codec::JsonTree>& objects);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_CONVERSION_H_
