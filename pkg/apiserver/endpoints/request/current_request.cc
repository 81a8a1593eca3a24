#include "kubexx/apiserver/endpoints/request/current_request.h"

namespace kubexx::apiserver {
namespace {

thread_local const CurrentRequest* current_request = nullptr;

}  // namespace

CurrentRequest::CurrentRequest(const http::Request& request, base::TimePoint deadline)
    : request_(request), deadline_(deadline), outer_(current_request) {
  current_request = this;
}

CurrentRequest::~CurrentRequest() { current_request = outer_; }

const CurrentRequest* CurrentRequest::Get() { return current_request; }

}  // namespace kubexx::apiserver
