/// @file
/// Request: one API request, built step by step.
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

class ResponseStream;
class RESTClient;
namespace internal {
struct Opened;
struct OpenedStream;
struct Prepared;
}  // namespace internal

/// The content types of PATCH.
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategicMerge, kApply };

/// The result of a request. Only responses with status 2xx become a Response; others become a
/// Status.
struct Response {
  int code = 0;
  codec::Encoding encoding = codec::Encoding::kJson;
  std::string body{};  ///< protobuf with its envelope, or JSON
};

/// Like client-go's rest.Request. Builder methods change and return *this. Do or Stream returns the
/// first error in their arguments. Not thread-safe; use one per call. Refers to its RESTClient.
class Request {
 public:
  /// Sets group, version and plural at once: `/api/v1/...` or `/apis/GROUP/VERSION/...`
  Request& Resource(const apimachinery::ResourceInfo& resource);
  /// Sets the namespace; empty for cluster-scoped resources and for all namespaces.
  Request& Namespace(std::string_view namespace_);
  Request& Name(std::string_view name);
  Request& SubResource(std::string_view subresource);
  /// Replaces the whole path, for example "/version".
  Request& AbsPath(std::string_view path);
  /// Adds path segments in front of "/api" and "/apis" and after the path of the server's URL. The
  /// segments must be unencoded and must not contain "..".
  Request& Prefix(std::string_view segments);
  /// Adds path segments at the end of the path, for example after SubResource("proxy").
  Request& Suffix(std::string_view segments);
  Request& Param(std::string_view name, std::string_view value);
  Request& Options(const apimachinery::ListOptions& options);
  /// Adds the set fields of an options object of the API (api::core::v1::PodLogOptions,
  /// api::meta::v1::CreateOptions, ...) as parameters.
  template <class T>
  Request& VersionedParams(const T& options) {
    return VersionedParams(codec::SchemaOf<T>(), &options);
  }
  Request& VersionedParams(const codec::TypeSchema& schema, const void* options);
  /// Makes the request a watch: "watch=true", not throttled, streaming media types.
  Request& Watch();
  Request& Header(std::string_view name, std::string_view value);
  /// Sets the body in the given encoding; protobuf needs its envelope.
  Request& Body(codec::Encoding encoding, std::string body);
  /// Returns the body in the given encoding; called when the request is sent.
  using Encoder = std::function<apimachinery::Result<std::string>(codec::Encoding)>;
  /// Sets a body that is sent in protobuf if the server accepts that. When the server answers 415,
  /// the client sends the request again in JSON, and then uses only JSON for this resource, in
  /// requests and responses. Everything that `encode` refers to must live until Do or Stream has
  /// returned.
  Request& Body(Encoder encode);
  /// Sets the encodings to accept, in order of preference; the default is only JSON. After a 406
  /// the client sends the request again with JSON only, and uses only JSON for this resource from
  /// then on.
  Request& Accept(std::vector<codec::Encoding> encodings);
  /// Sets parameters of every accepted media type, for example
  /// "as=PartialObjectMetadata;g=meta.k8s.io;v=v1", which asks for another representation of the
  /// resource. A server that does not have it answers with the resource itself.
  Request& AcceptParameters(std::string_view parameters);
  /// Limits the time of the whole request, or of a Stream until its response head. By default the
  /// limits of RESTClient::Options apply. For logs and the subresource "proxy", whose responses may
  /// begin late, only the connect timeout and the limits that the caller sets apply.
  Request& Timeout(std::chrono::milliseconds timeout);
  /// Limits the total time that a Stream waits for its body, instead of Config::timeout and
  /// RESTClient::Options::body_timeout; zero: no limit. For lists that may be very large. Has no
  /// effect on watches.
  Request& BodyTimeout(std::chrono::milliseconds timeout);
  Request& MaxRetries(int retries);
  /// These three replace the client's; null means none.
  Request& Throttle(std::shared_ptr<RateLimiter> limiter);
  Request& BackOff(std::shared_ptr<BackoffManager> manager);
  Request& Warnings(std::shared_ptr<WarningHandler> handler);

  /// Sends the request and reads the whole response (at most 256 MiB, uncompressed). Waits for the
  /// rate limiter, obeys Retry-After, and after a 401 tries once more if there are new credentials.
  /// kCancelled as soon as `stop` is requested, kUnavailable when there is no connection, otherwise
  /// the server's Status.
  apimachinery::Result<Response> Do(std::stop_token stop = {});

  /// A 2xx response head, which Stream passes to its caller before the body.
  struct StreamHead {
    int code = 0;
    codec::Encoding encoding = codec::Encoding::kJson;
    /// Whether the body has Secrets, so that its bytes have to be overwritten after they were read.
    bool secret = false;
  };
  using HeadSink = base::FunctionRef<apimachinery::Result<void>(const StreamHead&)>;
  using ChunkSink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  /// Sends the request and passes the body to `on_chunk` in pieces as they arrive, on the calling
  /// thread. Its memory does not grow with the body; a slow sink slows down the server. Returns
  /// when the body has ended. kUnavailable when the body broke off, or when nothing came for
  /// `idle_timeout` (zero: no limit; unset: that of RESTClient::Options unless Config has a
  /// timeout). kTimeout when waiting for the body took longer than its limit, or for head and body
  /// longer than Config::timeout; the time that sinks take does not count. An error of a sink is
  /// returned as it is.
  ///
  /// A watch is limited to its timeoutSeconds, or without these to the hour for which an API server
  /// keeps a watch, plus half a minute. The server ends a healthy watch before that, however quiet
  /// it is. A longer `idle_timeout` raises this limit.
  ///
  /// The calling thread reads the socket itself. The pieces are decrypted and parsed there, and lie
  /// where they were read; each is valid until `on_chunk` returns. A response head of more than
  /// 1 MiB, and a body with more framing than data, are refused.
  apimachinery::Result<void> Stream(
      HeadSink on_head, ChunkSink on_chunk, std::stop_token stop,
      std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt);

  /// Sends the request and returns when the head of the response has come, as Stream does, and with
  /// its limits. The body is read without waiting, see ResponseStream. Needs a client whose
  /// CanOpenStreams is true.
  apimachinery::Result<std::unique_ptr<ResponseStream>> OpenStream(
      const std::stop_token& stop,
      std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt);

  /// Method and path with query, for logs and errors.
  std::string ToString() const;

 private:
  friend class RESTClient;
  Request(RESTClient& client, std::string method);

  void KeepError(apimachinery::Result<void> result);
  apimachinery::Result<void> Check() const;
  std::string Target() const;
  /// Whether the answer is read at once or in pieces.
  enum class Reading : std::uint8_t { kWhole, kStream };
  apimachinery::Result<internal::Prepared> Prepare(Reading reading) const;
  apimachinery::Result<internal::Opened> Open(const std::stop_token& stop, Reading reading) const;
  apimachinery::Result<internal::OpenedStream> BeginStream(
      const std::stop_token& stop, std::optional<std::chrono::milliseconds> idle_timeout);
  bool ReadsSecrets() const;
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
