/// @file
/// The requests and responses of admission webhooks.
#ifndef KUBEXX_WEBHOOK_ADMISSION_H_
#define KUBEXX_WEBHOOK_ADMISSION_H_

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/api/admission/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/codec/codec.h"

namespace kubexx::webhook {

/// The request of the API server, as in admission.k8s.io/v1.
using AdmissionRequest = api::admission::v1::AdmissionRequest;

/// One call of the API server. Only valid while the handler runs.
struct Call {
  const AdmissionRequest& request;
  /// Whether this is a dry run: the API server stores nothing, so the handler must have no side
  /// effects outside of the object.
  bool dry_run = false;
  /// Requested when the answer is not needed any more.
  std::stop_token stop{};
  /// When the API server stops waiting, according to its `timeout` parameter.
  base::TimePoint deadline = base::TimePoint::max();
};

/// The answer to the API server. A value type.
struct Response {
  bool allowed = false;
  /// Why the request is denied; the user sees it. An allowed request may have a message, too.
  apimachinery::Status status{};
  /// Warnings for the user; each should have less than 120 characters.
  std::vector<std::string> warnings{};
  /// Annotations for the API server's audit log, with keys that have no prefix.
  std::map<std::string, std::string> audit_annotations{};
  /// A JSON patch for the object. If a typed handler leaves it empty, it is computed from the
  /// changes of the object.
  std::string patch{};

  static Response Allowed() { return {.allowed = true}; }
  /// Denies the request, by default with 403 Forbidden.
  static Response Denied(std::string message,
                         apimachinery::Reason reason = apimachinery::Reason::kForbidden,
                         int code = 403) {
    return {.status = apimachinery::Status(reason, std::move(message), code)};
  }
  /// Denies the request because of an error.
  static Response Errored(apimachinery::Status status) { return {.status = std::move(status)}; }
};

/// A call about an object of type T. A mutating handler changes `object`, and its changes are sent
/// as a patch; fields that T does not have stay as they are. Only valid while the handler runs.
template <class T>
struct Review {
  const Call& call;
  /// The object that would be stored; value-initialised if the operation is DELETE.
  T object{};
  /// The object that is stored now; set for UPDATE and DELETE.
  std::optional<T> old_object{};
};

namespace internal {

/// Decodes `raw` into `object`; errors call the object `what`. Returns kBadRequest with the reason
/// if that fails.
apimachinery::Result<void> DecodeObject(const codec::TypeSchema& schema, std::string_view what,
                                        std::string_view raw, void* object);

/// Adds the patch to a response that allows the request and has no patch yet.
void AddPatch(const Call& call, std::string_view before, std::string_view after,
              Response& response);

/// Calls `handler(Review<T>&)`.
template <class T, class F>
Response Admit(const Call& call, const F& handler) {
  Review<T> review{.call = call};
  const codec::TypeSchema& schema = codec::SchemaOf<T>();
  const bool has_object = !call.request.object.raw.empty();
  if (has_object) {
    if (auto decoded = DecodeObject(schema, "object", call.request.object.raw, &review.object);
        !decoded) {
      return Response::Errored(decoded.error());
    }
  }
  if (!call.request.old_object.raw.empty()) {
    if (auto decoded = DecodeObject(schema, "oldObject", call.request.old_object.raw,
                                    &review.old_object.emplace());
        !decoded) {
      return Response::Errored(decoded.error());
    }
  }
  const std::string before = has_object ? codec::EncodeJson(review.object) : std::string();
  Response response = handler(review);
  if (has_object) {
    AddPatch(call, before, codec::EncodeJson(review.object), response);
  }
  return response;
}

}  // namespace internal
}  // namespace kubexx::webhook

#endif  // KUBEXX_WEBHOOK_ADMISSION_H_
