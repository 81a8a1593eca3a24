#include "kubexx/apiserver/admission/caller.h"

#include <map>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/base/utf8.h"
#include "kubexx/rest/url_client.h"

namespace kubexx::apiserver::admission {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using rest::UrlClient;

constexpr std::size_t kMaxAnswerBytes = 16 << 20;
/// The number of bytes that an error shows of an answer that is not a valid one.
constexpr std::size_t kMaxShownBytes = 256;
/// A cluster has fewer endpoints than this. If there are more, most of them have probably been
/// renamed.
constexpr std::size_t kMaxClients = 256;

class RestCaller final : public Caller {
 public:
  explicit RestCaller(base::Clock& clock) : clock_(clock) {}

  Result<std::string> Post(const Endpoint& endpoint, std::string_view body,
                           const std::stop_token& stop) override {
    const auto named = [&endpoint](const std::string& what) {
      return "Post \"" + endpoint.url + "\": " + what;
    };
    const auto client = ClientOf(endpoint);
    if (!client) {
      return Fail(client.error().reason, named(client.error().message));
    }
    const auto answer = (*client)->PostWhole("application/json", body, kMaxAnswerBytes, stop);
    if (!answer) {
      const bool late = answer.error().reason == Reason::kTimeout;
      return Fail(answer.error().reason,
                  named(late ? "context deadline exceeded" : answer.error().message));
    }
    if (answer->status < 200 || answer->status > 299) {
      return Fail(Reason::kUnavailable,
                  named("the webhook answered with status " + std::to_string(answer->status) +
                        ": " + base::ToValidUtf8(answer->body.substr(0, kMaxShownBytes))));
    }
    return answer->body;
  }

 private:
  Result<std::shared_ptr<UrlClient>> ClientOf(const Endpoint& endpoint) {
    base::MutexLock lock(mu_);
    if (const auto found = clients_.find(endpoint); found != clients_.end()) {
      return found->second;
    }
    UrlClient::Options options{.url = endpoint.url, .timeout = endpoint.timeout, .clock = clock_};
    options.tls.server_name = endpoint.server_name;
    options.tls.ca_data = endpoint.authority;
    KX_ASSIGN_OR_RETURN(std::shared_ptr<UrlClient> client, UrlClient::New(std::move(options)));
    if (clients_.size() >= kMaxClients) {
      clients_.clear();  // Clients that are in use live on until their calls end.
    }
    clients_.emplace(endpoint, client);
    return client;
  }

  base::Clock& clock_;
  base::Mutex mu_;
  std::map<Endpoint, std::shared_ptr<UrlClient>> clients_ KX_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<Caller> NewCaller(base::Clock& clock) {
  return std::make_shared<RestCaller>(clock);
}

}  // namespace kubexx::apiserver::admission
