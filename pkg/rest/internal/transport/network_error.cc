#include "kubexx/rest/internal/transport/network_error.h"

#include <cpprest/http_msg.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace kubexx::rest::internal {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

// cpprestsdk tells where a connection failed only by a text, and loses the category of the error
// number, so that an end of file reads "No such file or directory". These are its texts (2.10.18)
// with their meanings.
struct Known {
  std::string_view text;
  std::string_view meaning;
  bool lost_connection = false;
  bool show_errno = false;
  bool no_connection = false;
};

constexpr std::array kKnown = {
    Known{.text = "Error resolving address",
          .meaning = "cannot resolve the host name",
          .no_connection = true},
    Known{.text = "Failed to resolve address",
          .meaning = "cannot resolve the host name",
          .no_connection = true},
    Known{.text = "Failed to connect to any resolved endpoint",
          .meaning = "cannot connect",
          .show_errno = true,
          .no_connection = true},
    Known{"Failed to write request headers", "the connection was closed while the request was sent",
          true},
    Known{"Failed to write request body", "the connection was closed while the request was sent",
          true},
    Known{"Failed to read HTTP status line", "the connection was closed before a response came",
          true},
    Known{"cannot rewind input stream for connection re-establishment",
          "the connection was closed before a response; the server may have executed the request",
          true},
    Known{"Invalid HTTP status line", "the response is not HTTP"},
    Known{"Invalid chunked response header", "the response has a malformed chunk"},
    Known{"Retrieving message chunk header",
          "the connection was closed in the middle of the response"},
    Known{"Failed to read chunked response part",
          "the connection was closed in the middle of the response"},
    Known{"Failed to read response body",
          "the connection was closed in the middle of the response"},
};

// OpenSSL's packed error numbers have the library's number in their upper bits. The numbers of
// system errors are small.
bool IsTlsError(int code) { return ERR_GET_LIB(static_cast<unsigned>(code)) == ERR_LIB_SSL; }

std::string TlsReason(int code, const std::string& verify_error) {
  if (!verify_error.empty()) {
    return "TLS handshake: " + verify_error;
  }
  const char* reason = ERR_reason_error_string(static_cast<unsigned>(code));
  return IsTlsError(code) && reason != nullptr ? "TLS handshake: " + std::string(reason)
                                               : "TLS handshake: the connection was closed";
}

// When cpprestsdk cannot repeat a write, it puts a new connection into its pool that it has not
// opened. The request that takes it next finds no socket, or TLS that has not begun. When only a
// part of a head was sent before the socket was closed, the server has not got a request either.
bool IsNeverOpened(std::string_view what, int code) {
  return what.starts_with("Failed to write request headers") &&
         (code == EBADF ||
          (IsTlsError(code) && ERR_GET_REASON(static_cast<unsigned>(code)) == SSL_R_UNINITIALIZED));
}

Failure Describe(const web::http::http_exception& error, const std::string& verify_error) {
  const std::string_view what = error.what();
  const int code = error.error_code().value();
  if (IsNeverOpened(what, code)) {
    return {.status = Status(Reason::kUnavailable, "the connection was never opened"),
            .lost_connection = true,
            .never_opened = true};
  }
  // With TLS 1.3 the client learns that its certificate was refused only after the handshake, at
  // its first read.
  if (what.starts_with("Error in SSL handshake") || IsTlsError(code)) {
    return {.status = Status(Reason::kUnavailable, TlsReason(code, verify_error)),
            .no_connection = true};
  }
  for (const Known& known : kKnown) {
    if (what.starts_with(known.text)) {
      std::string message(known.meaning);
      if (known.show_errno) {
        // cpprestsdk reports a refused connection as an unreachable host.
        message += code == EHOSTUNREACH ? ": connection refused or host unreachable"
                                        : std::string(": ") + strerror(code);
      }
      if (!known.show_errno && code == ETIMEDOUT) {
        message += " by a timeout: the peer is gone";
      }
      return {.status = Status(Reason::kUnavailable, std::move(message)),
              .lost_connection = known.lost_connection,
              .no_connection = known.no_connection};
    }
  }
  return {.status = Status(Reason::kUnavailable, std::string(what))};
}

}  // namespace

Failure DescribeFailure(const std::exception_ptr& error, const std::string& verify_error) {
  try {
    std::rethrow_exception(error);
  } catch (const web::http::http_exception& e) {
    return Describe(e, verify_error);
  } catch (const web::uri_exception& e) {
    return {.status = Status(Reason::kBadRequest, e.what())};
  } catch (const std::exception& e) {
    return {.status = Status(Reason::kUnavailable, e.what())};
  } catch (...) {
    return {.status = Status(Reason::kUnavailable, "unknown failure of the HTTP client")};
  }
}

}  // namespace kubexx::rest::internal
