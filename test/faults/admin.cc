#include "faults/admin.h"

#include <chrono>

#include "kubexx/base/clock.h"
#include "kubexx/codec/codec.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/request.h"

namespace kubexx::faults {

bool Admin::Try(const Change& change, const std::stop_token& stop) const {
  rest::Request request =
      change.method == "PATCH" ? client_->Patch(change.patch) : client_->Verb(change.method);
  request.AbsPath(change.path);
  if (!change.body.empty()) {
    request.Param("fieldManager", change.manager);
    request.Body(codec::Encoding::kJson, change.body);
  }
  const auto answer = request.Do(stop);
  const int code = answer ? answer->code : answer.error().code;
  const bool is_answer = answer || (code >= 400 && code < 500 && code != 429);
  if (is_answer && !answer && code != 404 && code != 409) {
    logging::Warning("The server refuses a change",
                     {{"method", change.method}, {"path", change.path}, {"error", answer.error()}});
  }
  return is_answer;
}

void Admin::Insist(const Change& change, const std::stop_token& stop) const {
  while (!Try(change, stop) && base::Clock::Real().SleepFor(std::chrono::milliseconds(200), stop)) {
  }
}

std::string Admin::Get(const std::string& path, const std::stop_token& stop) const {
  const auto answer = client_->Get().AbsPath(path).Do(stop);
  return answer ? answer->body : std::string();
}

}  // namespace kubexx::faults
