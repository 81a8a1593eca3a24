/// @file
/// How people and their tools reach the API server.
#ifndef KUBEXX_TEST_FAULTS_ADMIN_H_
#define KUBEXX_TEST_FAULTS_ADMIN_H_

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/rest/rest_client.h"

namespace kubexx::faults {

/// A request that changes something.
struct Change {
  std::string method{};
  std::string path{};
  std::string body{};
  /// Under which field manager.
  std::string manager = "people";
  /// Of a PATCH.
  rest::PatchType patch = rest::PatchType::kStrategicMerge;
};

/// Sends changes as an administrator, past all proxies. Thread-safe.
class Admin {
 public:
  explicit Admin(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  /// Sends it once. Whether the server has answered, and not with an error of its own; 404 and 409
  /// are such answers.
  bool Try(const Change& change, const std::stop_token& stop) const;
  /// Tries until there is an answer.
  void Insist(const Change& change, const std::stop_token& stop) const;
  /// The object; "" when there is none, or no answer.
  std::string Get(const std::string& path, const std::stop_token& stop) const;

 private:
  const std::shared_ptr<rest::RESTClient> client_;
};

}  // namespace kubexx::faults

#endif  // KUBEXX_TEST_FAULTS_ADMIN_H_
