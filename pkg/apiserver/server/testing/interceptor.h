/// @file
/// Interceptor: hooks around the requests of a client, by verb and kind.
#ifndef KUBEXX_APISERVER_SERVER_TESTING_INTERCEPTOR_H_
#define KUBEXX_APISERVER_SERVER_TESTING_INTERCEPTOR_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/server/testing/request_match.h"
#include "kubexx/codec/answer_type.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/config.h"

namespace kubexx::testing {

/// One request that a hook sees; valid during the hook's call.
struct InterceptedRequest {
  /// Verb, resource, namespace and name.
  const RequestMatch& parts;
  std::string_view method{};
  /// The path and query, percent-encoded.
  std::string_view target{};
  codec::Encoding encoding = codec::Encoding::kJson;
  /// What is sent: the object of a create or update (of protobuf without its envelope), the patch
  /// of a patch, and empty for reads.
  std::string_view body{};
  /// The type that the body names, if it does.
  codec::TypeMeta type{};

  /// The decoded body of a create or update. kMalformed when it is not a T.
  template <class T>
  apimachinery::Result<T> ObjectAs() const {
    const codec::TypeSchema& schema = codec::SchemaOf<T>();
    if (!type.kind.empty()) {
      KX_RETURN_IF_ERROR(codec::CheckObjectType(
          {.api_version = codec::ApiVersionOf(schema), .kind = std::string(schema.kind)}, type));
    }
    return codec::Decode<T>(encoding, body);
  }
  /// The decoded parameter of the query; "" when it is not given: "fieldManager", "dryRun",
  /// "labelSelector" and so on.
  std::string Parameter(std::string_view name) const;
};

/// Runs hooks around the requests of the clients that are made with it. What no hook answers goes
/// to the server as it is, so that the rest of a test is real. A FailRequests of the test's
/// ApiServer concerns every client; an Interceptor concerns only its own, which may be the
/// controller's while the test writes with another one. As controller-runtime's interceptor.Client,
/// but below the client: it sees informers, Events and leader election, too, and every try of a
/// request that the client repeats.
///
///     kubexx::testing::ApiServer server;
///     kubexx::testing::Interceptor interceptor;
///     auto client = rest::RESTClient::New(interceptor.Around({.host = server.url(), .qps = -1}));
///     interceptor.Before(kubexx::testing::RequestsFor<ConfigMap>("update"),
///                        [](const kubexx::testing::InterceptedRequest& request) -> Result<void> {
///                          KX_ASSIGN_OR_RETURN(const auto map, request.ObjectAs<ConfigMap>());
///                          if (map.data.contains("bad")) {
///                            return apimachinery::Fail(apimachinery::Reason::kConflict, "no");
///                          }
///                          return {};
///                        });
///
/// Hooks run on the threads that send, several at once, without a lock; they may use other clients.
/// Thread-safe. Its clients may outlive it.
class Interceptor {
 public:
  /// A success lets the request pass; an error is answered instead.
  using Hook = std::function<apimachinery::Result<void>(const InterceptedRequest&)>;
  /// The same, after the server has answered with the HTTP status `code`.
  using AnswerHook = std::function<apimachinery::Result<void>(const InterceptedRequest&, int code)>;

  Interceptor();
  ~Interceptor();
  Interceptor(const Interceptor&) = delete;
  Interceptor& operator=(const Interceptor&) = delete;

  /// Returns `config` with this interceptor around what carries the requests.
  rest::Config Around(rest::Config config) const;

  /// Calls `hook` before a matching request is sent. When it returns an error, the client gets that
  /// as the server's answer, and the request is not sent. An error with code 0 gets the code of its
  /// reason; but kUnavailable with code 0 is a connection that broke, and kCancelled a request that
  /// was cancelled: no server answers so. A client repeats a GET whose connection broke, as on the
  /// network. Several hooks are called in the order in which they were added, until one fails.
  void Before(RequestMatch which, Hook hook);
  /// Calls `hook` when the server has executed a matching request. When it returns an error, the
  /// client gets that instead of the server's answer, as if the answer had been lost on its way.
  void After(RequestMatch which, AnswerHook hook);
  /// The next `times` matching requests fail with `status` and are not sent.
  void FailRequests(RequestMatch which, apimachinery::Status status, int times = 1);
  /// Removes all hooks.
  void Clear();

  /// How many matching requests the clients have begun to send, including those that a hook
  /// answered.
  int Count(const RequestMatch& which) const;

 private:
  class Hooks;
  const std::shared_ptr<Hooks> hooks_;
};

}  // namespace kubexx::testing

#endif  // KUBEXX_APISERVER_SERVER_TESTING_INTERCEPTOR_H_
