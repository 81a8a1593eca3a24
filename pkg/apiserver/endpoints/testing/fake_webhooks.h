/// @file
/// Webhooks in the test's process, called without a network.
#ifndef KUBEXX_APISERVER_ENDPOINTS_TESTING_FAKE_WEBHOOKS_H_
#define KUBEXX_APISERVER_ENDPOINTS_TESTING_FAKE_WEBHOOKS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/admission/caller.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/base64.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::testing {

/// Answers AdmissionReviews and ConversionReviews depending on the URL, and records the requests.
/// Thread-safe.
class FakeWebhooks final : public admission::Caller {
 public:
  using JsonTree = codec::JsonTree;
  /// Makes the response to a request; both are the members of a review.
  using Handler = std::function<apimachinery::Result<JsonTree>(const JsonTree& request)>;

  /// The response to the request of a ConversionReview: its objects in the wanted version, each
  /// after `change`, which gets the object with its new apiVersion.
  static JsonTree Converted(
      const JsonTree& request, base::FunctionRef<void(JsonTree&)> change = [](JsonTree&) {}) {
    JsonTree response = JsonTree::Object();
    response["result"]["status"] = "Success";
    for (JsonTree object : request.Find("objects")->elements()) {
      object["apiVersion"] = request.TextAt("desiredAPIVersion");
      change(object);
      response["convertedObjects"].Append(std::move(object));
    }
    return response;
  }

  /// Sets the handler of a URL, which has no parameters.
  void Handle(const std::string& url, Handler handler) {
    base::MutexLock lock(mu_);
    handlers_[url] = std::move(handler);
  }

  apimachinery::Result<std::string> Post(const admission::Endpoint& endpoint, std::string_view body,
                                         const std::stop_token& /*stop*/) override {
    auto review = JsonTree::Parse(body);
    const std::string url = endpoint.url.substr(0, endpoint.url.find('?'));
    Handler handler;
    {
      base::MutexLock lock(mu_);
      endpoints_.push_back(endpoint);
      asked_.emplace_back(url, (*review)["request"]);
      if (const auto found = handlers_.find(url); found != handlers_.end()) {
        handler = found->second;
      }
    }
    if (!handler) {
      return apimachinery::Fail(apimachinery::Reason::kUnavailable, "connection refused");
    }
    JsonTree request = (*review)["request"];
    KX_ASSIGN_OR_RETURN(JsonTree response, handler(request));
    if (response.Find("uid") == nullptr) {
      response["uid"] = request["uid"];
    }
    review->Erase("request");
    (*review)["response"] = std::move(response);
    return review->ToJson();
  }

  /// The recorded requests to a URL in their order.
  std::vector<JsonTree> Asked(const std::string& url) const {
    std::vector<JsonTree> requests;
    base::MutexLock lock(mu_);
    for (const auto& [asked, request] : asked_) {
      if (asked == url) {
        requests.push_back(request);
      }
    }
    return requests;
  }
  /// The called URLs in the order of the calls.
  std::vector<std::string> Urls() const {
    std::vector<std::string> urls;
    base::MutexLock lock(mu_);
    for (const auto& [asked, request] : asked_) {
      urls.push_back(asked);
    }
    return urls;
  }
  std::vector<admission::Endpoint> Endpoints() const {
    base::MutexLock lock(mu_);
    return endpoints_;
  }
  void Forget() {
    base::MutexLock lock(mu_);
    asked_.clear();
    endpoints_.clear();
  }

  static JsonTree Allowed() { return *JsonTree::Parse(R"({"allowed":true})"); }
  static JsonTree Denied(const std::string& message, int code = 403) {
    JsonTree response = *JsonTree::Parse(R"({"allowed":false})");
    response["status"]["message"] = message;
    response["status"]["code"] = code;
    response["status"]["reason"] = "Forbidden";
    return response;
  }
  /// A response with a JSON patch (RFC 6902).
  static JsonTree Patch(const std::string& patch) {
    JsonTree response = Allowed();
    std::string encoded;
    codec::AppendBase64(patch, encoded);
    response["patch"] = encoded;
    response["patchType"] = "JSONPatch";
    return response;
  }

 private:
  mutable base::Mutex mu_;
  std::map<std::string, Handler> handlers_ KX_GUARDED_BY(mu_);
  std::vector<std::pair<std::string, JsonTree>> asked_ KX_GUARDED_BY(mu_);
  std::vector<admission::Endpoint> endpoints_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::testing

#endif  // KUBEXX_APISERVER_ENDPOINTS_TESTING_FAKE_WEBHOOKS_H_
