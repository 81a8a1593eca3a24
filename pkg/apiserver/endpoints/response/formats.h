/// @file
/// Writes objects, lists and watch events in the form that a client has asked for.
#ifndef KUBEXX_APISERVER_ENDPOINTS_RESPONSE_FORMATS_H_
#define KUBEXX_APISERVER_ENDPOINTS_RESPONSE_FORMATS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"

namespace kubexx::apiserver {

/// The metadata of a list.
struct ListHead {
  std::int64_t revision = 0;
  std::string continue_{};
  std::int64_t remaining = 0;
};

/// Writes one object as the body of a response. `json` is in the server's form.
apimachinery::Result<std::string> ObjectBody(const AnswerForm& form, const ResourceType& type,
                                             std::string_view json);

/// Writes a list as the body of a response: call Add for each item, then Finish.
class ListBody {
 public:
  /// `form` and `type` must outlive it.
  ListBody(const AnswerForm& form, const ResourceType& type) : form_(form), type_(type) {}
  apimachinery::Result<void> Add(std::string_view json);
  apimachinery::Result<std::string> Finish(const ListHead& head);

 private:
  const AnswerForm& form_;
  const ResourceType& type_;
  std::string items_{};
  std::size_t count_ = 0;
};

/// The format of the events of a watch. All watches of the same form share it, so that an event is
/// encoded only once.
std::shared_ptr<const FrameFormat> FrameFormatOf(const AnswerForm& form);

/// The format of a watch's first event. For tables, only the first event has the definitions of the
/// columns.
std::shared_ptr<const FrameFormat> FirstFrameFormatOf(const AnswerForm& form);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_FORMATS_H_
