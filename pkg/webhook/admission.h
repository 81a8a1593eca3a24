/// @file
/// What an admission webhook gets and answers.
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

/// What the API server asks about, as in admission.k8s.io/v1.
using AdmissionRequest = api::admission::v1::AdmissionRequest;

/// One question of the API server. Valid during the handler's call only.
struct Call {
  const AdmissionRequest& request;
  /// The API server will store nothing: the handler must cause no side effects outside of the
  /// object.
  bool dry_run = false;
  /// Requested when nobody waits for the answer any more.
  std::stop_token stop{};
  /// When the API server gives up, by its `timeout` parameter.
  base::TimePoint deadline = base::TimePoint::max();
};

/// The answer. A value type.
struct Response {
  bool allowed = false;
  /// Why the request is refused; the user sees it. An allowed request may have a message, too.
  apimachinery::Status status{};
  /// Shown to the user; keep each below 120 characters.
  std::vector<std::string> warnings{};
  /// Written into the API server's audit log, by names without a prefix.
  std::map<std::string, std::string> audit_annotations{};
  /// A JSON patch for the object; by default it is computed from what a typed handler has changed.
  std::string patch{};

  static Response Allowed() { return {.allowed = true}; }
  /// 403 Forbidden, by default.
  static Response Denied(std::string message,
                         apimachinery::Reason reason = apimachinery::Reason::kForbidden,
                         int code = 403) {
    return {.status = apimachinery::Status(reason, std::move(message), code)};
  }
  /// Denies because something went wrong.
  static Response Errored(apimachinery::Status status) { return {.status = std::move(status)}; }
};

/// A question about an object of type T. A mutating handler changes `object`; what it changes is
/// sent as a patch, fields that T does not have stay as they are. Valid during the call only.
template <class T>
struct Review {
  const Call& call;
  /// As it is to be stored; value-initialised when the operation is DELETE.
  T object{};
  /// As it is stored; for UPDATE and DELETE.
  std::optional<T> old_object{};
};

namespace internal {

/// Decodes the object `raw` called `what`; kBadRequest says why not.
apimachinery::Result<void> DecodeObject(const codec::TypeSchema& schema, std::string_view what,
                                        std::string_view raw, void* object);

/// Puts the patch into an answer that allows and has none yet.
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
