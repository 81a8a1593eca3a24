/// @file
/// One API request, built step by step.
#ifndef KUBEXX_REST_REQUEST_H_
#define KUBEXX_REST_REQUEST_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/list_options.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/backoff.h"
#include "kubexx/rest/rate_limiter.h"
#include "kubexx/rest/warning_handler.h"

namespace kubexx::rest {

class RESTClient;
namespace internal {
struct Opened;
struct Prepared;
}  // namespace internal

/// Content types of PATCH.
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategicMerge, kApply };

/// What a finished request gave. Only responses with status 2xx become a Response; others become a
/// Status.
struct Response {
  int code = 0;
  codec::Encoding encoding = codec::Encoding::kJson;
  std::string body{};  ///< protobuf with its envelope, or JSON
};

/// As client-go's rest.Request. Builder methods change and return *this; the first bad argument is
/// kept and returned by Do or Stream. Not thread-safe; use one per call. Refers to its RESTClient.
class Request {
 public:
  /// Sets group, version and plural at once: `/api/v1/...` or `/apis/GROUP/VERSION/...`
  Request& Resource(const apimachinery::ResourceInfo& resource);
  /// Empty for cluster-scoped resources and for all namespaces.
  Request& Namespace(std::string_view namespace_);
  Request& Name(std::string_view name);
  Request& SubResource(std::string_view subresource);
  /// Replaces the whole path, for example "/version".
  Request& AbsPath(std::string_view path);
  /// Segments in front of "/api" and "/apis", behind the path of the server's URL; several calls
  /// add up. Not encoded yet, without "..".
  Request& Prefix(std::string_view segments);
  /// Segments at the end of the path, for example behind SubResource("proxy"); several calls add
  /// up.
  Request& Suffix(std::string_view segments);
  Request& Param(std::string_view name, std::string_view value);
  Request& Options(const apimachinery::ListOptions& options);
  /// The set fields of an options object of the API (api::core::v1::PodLogOptions,
  /// api::meta::v1::CreateOptions, ...) as parameters.
  template <class T>
  Request& VersionedParams(const T& options) {
    return VersionedParams(codec::SchemaOf<T>(), &options);
  }
  Request& VersionedParams(const codec::TypeSchema& schema, const void* options);
  /// Makes it a watch: "watch=true", not throttled, streaming media types.
  Request& Watch();
  Request& Header(std::string_view name, std::string_view value);
  /// Body in the given encoding; protobuf needs its envelope.
  Request& Body(codec::Encoding encoding, std::string body);
  /// Writes the body in the given encoding when it is sent.
  using Encoder = std::function<apimachinery::Result<std::string>(codec::Encoding)>;
  /// A body in protobuf if the server takes it: when it answers 415, the request is sent again in
  /// JSON, and the client asks and sends in JSON only for this resource from then on. What `encode`
  /// refers to must live until Do or Stream has returned.
  Request& Body(Encoder encode);
  /// Encodings to accept, best first. Default JSON only. After a 406 the request is sent again, and
  /// further ones of the client for this resource, with JSON only.
  Request& Accept(std::vector<codec::Encoding> encodings);
  /// Parameters of every media type to accept, for example
  /// "as=PartialObjectMetadata;g=meta.k8s.io;v=v1": asks for another representation of the
  /// resource. A server that has none answers with the resource itself.
  Request& AcceptParameters(std::string_view parameters);
  /// Limits the whole request; a Stream only until its response head. Without one the limits of
  /// RESTClient::Options count, but for logs and the subresource "proxy", whose responses begin
  /// when there is something to say: those have only the connect timeout and what the caller sets.
  Request& Timeout(std::chrono::milliseconds timeout);
  /// How long the body of a Stream may be waited for in all, in place of Config::timeout and
  /// RESTClient::Options::body_timeout; zero: no limit. For lists that may be huge. Not of watches.
  Request& BodyTimeout(std::chrono::milliseconds timeout);
  Request& MaxRetries(int retries);
  /// Instead of the client's; null means none.
  Request& Throttle(std::shared_ptr<RateLimiter> limiter);
  Request& BackOff(std::shared_ptr<BackoffManager> manager);
  Request& Warnings(std::shared_ptr<WarningHandler> handler);

  /// Sends and reads the whole response (at most 256 MiB, unpacked). Waits for the rate limiter,
  /// follows Retry-After, and after a 401 tries once more if there are new credentials. kCancelled
  /// as soon as `stop` is requested, kUnavailable when there is no connection, otherwise the
  /// server's Status.
  apimachinery::Result<Response> Do(std::stop_token stop = {});

  /// A 2xx response head, passed to Stream's caller before its body.
  struct StreamHead {
    int code = 0;
    codec::Encoding encoding = codec::Encoding::kJson;
  };
  using HeadSink = base::FunctionRef<apimachinery::Result<void>(const StreamHead&)>;
  using ChunkSink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  /// Sends and hands the body over in pieces as they arrive, on the calling thread; memory does not
  /// grow with the body, a slow sink slows the server down. Returns when the body has ended;
  /// kUnavailable when it broke off or when nothing came for `idle_timeout` (zero: no limit;
  /// without one, that of RESTClient::Options unless Config has a timeout); kTimeout when the
  /// server had taken the time of the body, or Config::timeout for head and body, in which what
  /// sinks take does not count; an error of a sink is returned as it is.
  ///
  /// A watch's time is the timeoutSeconds that the server was asked for, or the hour that an API
  /// server keeps one without, and half a minute: the server ends a healthy one before, however
  /// quiet it is. A longer `idle_timeout` makes it longer.
  ///
  /// Through a proxy's tunnel kUnavailable also comes after two hours without a byte.
  apimachinery::Result<void> Stream(
      HeadSink on_head, ChunkSink on_chunk, std::stop_token stop,
      std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt);

  /// Method and path with query, for logs and errors.
  std::string ToString() const;

 private:
  friend class RESTClient;
  Request(RESTClient& client, std::string method);

  void KeepError(apimachinery::Result<void> result);
  apimachinery::Result<void> Check() const;
  std::string Target() const;
  apimachinery::Result<internal::Prepared> Prepare() const;
  apimachinery::Result<internal::Opened> Open(const std::stop_token& stop) const;
  std::string ResourceKey() const;
  bool BeginsLate() const;
  bool Follows() const;

  RESTClient* client_;
  std::string method_;
  apimachinery::ResourceInfo resource_{};
  std::string abs_path_{};
  std::string prefix_{};
  std::string suffix_{};
  std::string in_namespace_{};
  std::string name_{};
  std::string subresource_{};
  std::vector<std::pair<std::string, std::string>> params_{};
  std::vector<std::pair<std::string, std::string>> headers_{};
  std::vector<codec::Encoding> accept_{codec::Encoding::kJson};
  std::string accept_parameters_{};
  std::string content_type_{};
  std::string body_{};
  Encoder encode_{};
  bool has_body_ = false;
  std::shared_ptr<RateLimiter> limiter_;
  std::shared_ptr<BackoffManager> backoff_;
  std::shared_ptr<WarningHandler> warnings_;
  bool watch_ = false;
  bool follow_ = false;
  std::chrono::seconds lifetime_{0};  // of a watch, as the server was asked
  std::chrono::milliseconds timeout_{0};
  std::optional<std::chrono::milliseconds> body_timeout_{};
  int max_retries_ = 10;
  apimachinery::Result<void> argument_error_{};
};

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_REQUEST_H_
