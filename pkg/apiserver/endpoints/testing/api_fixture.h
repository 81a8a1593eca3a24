/// @file
/// A test fixture with an Api over an empty store, which tests call without HTTP.
#ifndef KUBEXX_APISERVER_ENDPOINTS_TESTING_API_FIXTURE_H_
#define KUBEXX_APISERVER_ENDPOINTS_TESTING_API_FIXTURE_H_

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::testing {

/// The paths of collections that several tests use.
inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
inline constexpr const char* kRoles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
inline constexpr const char* kBindings =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

/// Sends a request to `api` and returns its response. "?" in the target begins the query.
inline http::Response Ask(Api& api, std::string method, const std::string& target,
                          std::string body = {}, std::string content_type = "application/json",
                          std::vector<std::pair<std::string, std::string>> headers = {}) {
  http::Request request;
  request.method = std::move(method);
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  request.query = question == std::string::npos ? "" : target.substr(question + 1);
  request.body = std::move(body);
  request.headers = std::move(headers);
  request.headers.emplace_back("Content-Type", std::move(content_type));
  return api.Handle(request);
}

/// The base of test fixtures. Not thread-safe.
class ApiFixture : public ::testing::Test {
 protected:
  explicit ApiFixture(ApiOptions options = {})
      : storage_(*storage::NewMemoryStorage({})), api_(*storage_, Patient(std::move(options))) {
    EXPECT_TRUE(api_.Bootstrap({}));
  }
  /// Waits longer for caches, because the first list of a type's cache may take long on a slow
  /// machine.
  static ApiOptions Patient(ApiOptions options) {
    options.cacher.patience = std::chrono::minutes(1);
    return options;
  }

  static constexpr const char* kMergePatch = "application/merge-patch+json";

  /// Sends a request with `headers_`. "?" in the target begins the query.
  http::Response Do(std::string method, const std::string& target, std::string body = {},
                    std::string content_type = "application/json") {
    return Ask(api_, std::move(method), target, std::move(body), std::move(content_type), headers_);
  }

  /// Does what the server's own threads do in about a second.
  void Tick(const std::stop_token& stop = {}) {
    api_.Tick(stop);
    while (api_.Reap(stop)) {
    }
  }

  static codec::JsonTree Json(const http::Response& response) {
    auto tree = codec::JsonTree::Parse(response.body);
    EXPECT_TRUE(tree) << response.body;
    return tree ? std::move(*tree) : codec::JsonTree();
  }
  /// The string at the path, or the JSON of another value there; "" when there is none.
  static std::string At(const codec::JsonTree& tree, std::initializer_list<std::string_view> path) {
    const codec::JsonTree* const found = tree.At(path);
    return found == nullptr               ? ""
           : found->AsString() != nullptr ? *found->AsString()
                                          : found->ToJson();
  }
  static std::string Message(const http::Response& response) {
    return At(Json(response), {"message"});
  }

  /// The names of the objects in a list, each followed by a space.
  std::string NamesListed(const std::string& target) {
    const http::Response found = Do("GET", target);
    EXPECT_EQ(found.status, 200) << found.body;
    const codec::JsonTree list = Json(found);
    const codec::JsonTree* const items = list.Find("items");
    if (items == nullptr) {
      return "no list";
    }
    std::string names;
    for (const codec::JsonTree& item : items->elements()) {
      names += At(item, {"metadata", "name"}) + " ";
    }
    return names;
  }
  /// Opens a watch, returns the events that it has at once, and closes it.
  std::vector<http::BodyStream::Chunk> Watched(const std::string& target) {
    std::vector<http::BodyStream::Chunk> chunks;
    const http::Response response = Do("GET", target);
    EXPECT_NE(response.stream, nullptr) << response.body;
    if (response.stream != nullptr) {
      response.stream->Take(chunks);
      response.stream->Closed();
    }
    return chunks;
  }

  /// The headers of every request of Do.
  std::vector<std::pair<std::string, std::string>> headers_{};
  std::unique_ptr<storage::MemoryStorage> storage_;
  Api api_;
};

}  // namespace kubexx::apiserver::testing

#endif  // KUBEXX_APISERVER_ENDPOINTS_TESTING_API_FIXTURE_H_
