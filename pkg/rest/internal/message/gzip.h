/// @file
/// Responses that the server has packed.
#ifndef KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_
#define KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_

#include <memory>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"

namespace kubexx::rest::internal {

/// Unpacks a gzip stream as it comes, one or more members after another, as servers send that flush
/// a member at a time. Memory is constant, whatever the stream unpacks to. Not thread-safe.
class GzipDecoder {
 public:
  using Sink = base::FunctionRef<apimachinery::Result<void>(std::string_view)>;

  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  /// Hands what `bytes` complete to `sink` in pieces of at most 64 KiB, none of them empty.
  /// kMalformed for what is not gzip, otherwise the error of `sink`.
  apimachinery::Result<void> Feed(std::string_view bytes, Sink sink);

  /// kMalformed when the stream ended within a member.
  apimachinery::Result<void> Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_MESSAGE_GZIP_H_
