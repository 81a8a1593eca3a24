#include "kubexx/webhook/internal/conversion_review.h"

#include <string>
#include <utility>

#include "kubexx/api/apiextensions/v1/types.gen.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/webhook/internal/review.h"

namespace kubexx::webhook::internal {
namespace {

using api::apiextensions::v1::ConversionRequest;
using api::apiextensions::v1::ConversionResponse;
using api::apiextensions::v1::ConversionReview;
using apimachinery::Reason;
using apimachinery::Status;

http::Response NoConversionReview(const std::string& why) {
  return {.status = 400, .body = why + "\n"};
}

/// "namespace/name" of the object, or its place when it has no name.
std::string NameOfObject(std::string_view object, std::size_t number) {
  const auto meta = codec::ScanObjectMeta(codec::Encoding::kJson, object);
  if (!meta || meta->name.empty()) {
    return "object " + std::to_string(number);
  }
  return meta->namespace_.empty() ? meta->name : meta->namespace_ + "/" + meta->name;
}

ConversionResponse ConvertAll(const ConversionRequest& asked, const http::Request& request,
                              const RawConversion& convert) {
  ConversionResponse response;
  response.uid = asked.uid;
  response.result = ToWire({}, true);
  for (std::size_t i = 0; i < asked.objects.size(); ++i) {
    const std::string& object = asked.objects[i].raw;
    auto converted = request.stop.stop_requested()
                         ? apimachinery::Result<std::string>(apimachinery::Fail(
                               Reason::kCancelled, "nobody waits for the answer"))
                         : convert(object, asked.desired_api_version);
    if (!converted) {
      response.converted_objects.clear();
      response.result = ToWire(converted.error().WithContext("convert " + NameOfObject(object, i) +
                                                             " to " + asked.desired_api_version),
                               false);
      return response;
    }
    response.converted_objects.push_back({.raw = *std::move(converted)});
  }
  return response;
}

}  // namespace

http::Response RespondConverted(const http::Request& request, const RawConversion& convert) {
  if (auto refused = RefuseUnlessJson(request)) {
    return *std::move(refused);
  }
  const auto review = codec::DecodeJson<ConversionReview>(request.body);
  if (!review) {
    return NoConversionReview("The body is no ConversionReview of apiextensions.k8s.io/v1: " +
                              review.error().message);
  }
  if (!review->request.has_value() || review->request->uid.empty()) {
    return NoConversionReview("The ConversionReview has no request with a uid.");
  }
  ConversionReview answer;
  answer.response.emplace() = ConvertAll(*review->request, request, convert);
  return {.content_type = "application/json", .body = codec::EncodeJson(answer)};
}

}  // namespace kubexx::webhook::internal
