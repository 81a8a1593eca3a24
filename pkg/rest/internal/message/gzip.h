/// @file
/// GzipDecoder: decompresses responses of the server.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_

#include <memory>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::rest::internal {

/// Decompresses a gzip stream as it arrives. The stream may have several members, as from servers
/// that flush one member at a time. Memory is constant, however large the content is. Not
/// thread-safe.
class GzipDecoder {
 public:
  using Sink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  /// Decompresses `bytes` and passes the output to `sink` in non-empty pieces of at most 64 KiB.
  /// kMalformed when the input is not gzip, otherwise the error of `sink`.
  apimachinery::Result<void> Feed(std::string_view bytes, Sink sink);

  /// kMalformed when the stream ended within a member.
  apimachinery::Result<void> Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_
