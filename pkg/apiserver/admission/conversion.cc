#include "kubexx/apiserver/admission/conversion.h"

#include <utility>

#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver::admission {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

Error BadAnswer(std::string what) { return Fail(Reason::kMalformed, std::move(what)); }

/// Whether the value is labels or annotations, whose values have to be strings.
bool IsMapOfStrings(const JsonTree& map) {
  if (!map.IsNull() && !map.IsObject()) {
    return false;
  }
  for (const JsonTree::Member& member : map.members()) {
    if (member.value.AsString() == nullptr) {
      return false;
    }
  }
  return true;
}

/// Returns `converted` with the metadata of `original`, except for labels and annotations.
Result<JsonTree> Restored(const JsonTree& original, JsonTree converted,
                          const std::string& api_version) {
  const std::string version(converted.TextAt("apiVersion"));
  if (version != api_version) {
    return BadAnswer("invalid groupVersion (expected " + api_version + ", received " + version +
                     ")");
  }
  if (converted.TextAt("kind") != original.TextAt("kind")) {
    return BadAnswer("invalid kind (expected " + std::string(original.TextAt("kind")) +
                     ", received " + std::string(converted.TextAt("kind")) + ")");
  }
  const JsonTree* const given = converted.Find("metadata");
  if (given == nullptr || !given->IsObject()) {
    return BadAnswer("missing metadata in converted object");
  }
  for (const char* const field : {"name", "namespace", "uid"}) {
    if (MetaString(converted, field) != MetaString(original, field)) {
      return BadAnswer(std::string("must have the same ") + field + ": " +
                       MetaString(original, field) + " != " + MetaString(converted, field));
    }
  }
  const JsonTree* const before = original.Find("metadata");
  JsonTree metadata = before == nullptr ? JsonTree::Object() : *before;
  for (const char* const field : {"labels", "annotations"}) {
    const JsonTree* const map = given->Find(field);
    if (map == nullptr || map->IsNull()) {
      metadata.Erase(field);
    } else if (!IsMapOfStrings(*map)) {
      return BadAnswer(std::string("invalid metadata.") + field + " in converted object");
    } else {
      metadata[field] = *map;
    }
  }
  converted["metadata"] = std::move(metadata);
  return converted;
}

}  // namespace

std::string ConversionRequest(const std::string& uid, const std::string& api_version,
                              const std::vector<JsonTree>& objects) {
  JsonTree review = JsonTree::Object();
  review["kind"] = "ConversionReview";
  review["apiVersion"] = "apiextensions.k8s.io/v1";
  review["request"]["uid"] = uid;
  review["request"]["desiredAPIVersion"] = api_version;
  review["request"]["objects"] = JsonTree::Array(objects);
  return review.ToJson();
}

Result<std::vector<JsonTree>> ReadConversionResponse(std::string_view body, const std::string& uid,
                                                     const std::string& api_version,
                                                     const std::vector<JsonTree>& objects) {
  auto review = JsonTree::Parse(body);
  if (!review || !review->IsObject()) {
    return BadAnswer("the answer is no JSON object" +
                     (review ? "" : ": " + review.error().message));
  }
  if (review->TextAt("apiVersion") != "apiextensions.k8s.io/v1" ||
      review->TextAt("kind") != "ConversionReview") {
    return BadAnswer(
        "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got " +
        std::string(review->TextAt("apiVersion")) +
        ", Kind=" + std::string(review->TextAt("kind")));
  }
  const JsonTree* const response = review->Find("response");
  if (response == nullptr || !response->IsObject()) {
    return BadAnswer("no response provided");
  }
  if (const std::string_view answered = response->TextAt("uid"); answered != uid) {
    return BadAnswer("expected response.uid=\"" + uid + "\", got \"" + std::string(answered) +
                     "\"");
  }
  if (const std::string status = StringAt(*response, {"result", "status"}); status != "Success") {
    const std::string message = StringAt(*response, {"result", "message"});
    return BadAnswer(message.empty() ? "response.result.status was '" + status + "', not 'Success'"
                                     : message);
  }
  const JsonTree* const list = response->Find("convertedObjects");
  const std::size_t count = list == nullptr ? 0 : list->elements().size();
  if (count != objects.size()) {
    return BadAnswer("returned " + std::to_string(count) + " objects, expected " +
                     std::to_string(objects.size()));
  }
  std::vector<JsonTree> converted;
  converted.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto one = Restored(objects[i], list->elements()[i], api_version);
    if (!one) {
      return BadAnswer("returned invalid converted object at index " + std::to_string(i) + ": " +
                       one.error().message);
    }
    converted.push_back(std::move(*one));
  }
  return converted;
}

}  // namespace kubexx::apiserver::admission
