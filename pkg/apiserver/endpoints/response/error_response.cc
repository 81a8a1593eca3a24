#include "kubexx/apiserver/endpoints/response/error_response.h"

#include <string>

#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {

http::Response ErrorResponse(const apimachinery::Status& status) {
  http::Response response;
  response.status = status.code != 0 ? status.code : HttpCode(status.reason);
  response.content_type = kJsonType;
  response.body = StatusJson(status);
  if (status.details.retry_after.count() > 0) {
    response.headers.emplace_back("Retry-After",
                                  std::to_string(status.details.retry_after.count()));
  }
  return response;
}

}  // namespace kubexx::apiserver
