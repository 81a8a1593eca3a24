/// @file
/// Objects, lists and watch events in the form that a client has asked for.
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

/// One object as the body of an answer. `json` is in the server's form.
apimachinery::Result<std::string> ObjectBody(const AnswerForm& form, const ResourceType& type,
                                             std::string_view json);

/// A list as the body of an answer, written item by item: Add for each, then Finish.
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

/// How the events of a watch are written; shared by all watches of this form, so that events are
/// encoded once.
std::shared_ptr<const FrameFormat> FrameFormatOf(const AnswerForm& form);

/// How a watch's first event is written: it tells the columns of tables, the others do not.
std::shared_ptr<const FrameFormat> FirstFrameFormatOf(const AnswerForm& form);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_RESPONSE_FORMATS_H_
