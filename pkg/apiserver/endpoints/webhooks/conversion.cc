#include "kubexx/apiserver/endpoints/webhooks/conversion.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/admission/conversion.h"
#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/apiserver/endpoints/checks/label_problems.h"
#include "kubexx/apiserver/endpoints/request/current_request.h"
#include "kubexx/apiserver/object/cause_list.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/identity.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// The timeout is that of kube-apiserver.
constexpr std::chrono::seconds kTimeout{30};

/// Returns "x.io/v1, Kind=K" for the object that had to be converted.
std::string KindOf(const JsonTree& object) {
  return std::string(object.TextAt("apiVersion")) + ", Kind=" + std::string(object.TextAt("kind"));
}

/// Refuses labels and annotations that the webhook has changed and that no request may write. Those
/// that it has not changed are as in the storage.
Result<void> CheckChanged(const JsonTree& original, const JsonTree& converted, std::size_t index) {
  const auto changed = [&](const char* field) -> const JsonTree* {
    const JsonTree* const before = original.At({"metadata", field});
    const JsonTree* const after = converted.At({"metadata", field});
    return after == nullptr || (before != nullptr && *before == *after) ? nullptr : after;
  };
  FieldCauses causes;
  CheckLabelMap(changed("labels"), "metadata.labels", causes);
  // Kube-apiserver writes it like this.
  CheckAnnotationMap(changed("annotations"), "metadata.annotation", causes);
  if (causes.empty()) {
    return {};
  }
  return Fail(Reason::kMalformed, "returned invalid converted object at index " +
                                      std::to_string(index) + ": " +
                                      ListOf(std::move(causes).Take()));
}

class WebhookConverter final : public schema::Converter {
 public:
  WebhookConverter(admission::ClientConfig client, bool takes_v1, Webhooks& webhooks)
      : client_(std::move(client)), takes_v1_(takes_v1), webhooks_(webhooks) {}

  Result<std::vector<JsonTree>> Convert(const std::string& api_version,
                                        const std::vector<JsonTree>& objects,
                                        const std::stop_token& stop) override {
    if (objects.empty()) {
      return objects;
    }
    auto converted = Ask(api_version, objects, stop);
    if (!converted) {
      // As in kube-apiserver, the error has none of Kubernetes' reasons.
      return Fail(Reason::kUnknown,
                  "conversion webhook for " + KindOf(objects.front()) +
                      " failed: " + converted.error().message,
                  500);
    }
    return converted;
  }

 private:
  Result<std::vector<JsonTree>> Ask(const std::string& api_version,
                                    const std::vector<JsonTree>& objects,
                                    const std::stop_token& stop) {
    if (!takes_v1_) {
      return Fail(Reason::kInvalidConfig,
                  "it does not accept known ConversionReview versions (v1)");
    }
    KX_ASSIGN_OR_RETURN(const admission::Endpoint endpoint,
                        admission::EndpointOf(client_, kTimeout, webhooks_, stop));
    const std::string uid = base::RandomUuid();
    const std::string body = admission::ConversionRequest(uid, api_version, objects);
    std::optional<http::Waiting> waiting;
    if (const CurrentRequest* const current = CurrentRequest::Get()) {
      waiting.emplace(current->request());
      KX_RETURN_IF_ERROR(waiting->Check());
    }
    KX_ASSIGN_OR_RETURN(const std::string answer, webhooks_.caller().Post(endpoint, body, stop));
    KX_ASSIGN_OR_RETURN(std::vector<JsonTree> converted,
                        admission::ReadConversionResponse(answer, uid, api_version, objects));
    for (std::size_t i = 0; i < converted.size(); ++i) {
      KX_RETURN_IF_ERROR(CheckChanged(objects[i], converted[i], i));
    }
    return converted;
  }

  const admission::ClientConfig client_;
  const bool takes_v1_;
  Webhooks& webhooks_;
};

}  // namespace

std::shared_ptr<schema::Converter> ConverterOf(const JsonTree& definition, Webhooks& webhooks) {
  if (StringAt(definition, {"spec", "conversion", "strategy"}) != "Webhook") {
    return nullptr;
  }
  const JsonTree* const webhook = definition.At({"spec", "conversion", "webhook"});
  const JsonTree* const client = webhook == nullptr ? nullptr : webhook->Find("clientConfig");
  const std::vector<std::string> versions = webhook == nullptr
                                                ? std::vector<std::string>()
                                                : StringsAt(*webhook, "conversionReviewVersions");
  return std::make_shared<WebhookConverter>(
      admission::ReadClientConfig(client == nullptr ? JsonTree::Object() : *client),
      std::ranges::find(versions, "v1") != versions.end(), webhooks);
}

}  // namespace kubexx::apiserver
