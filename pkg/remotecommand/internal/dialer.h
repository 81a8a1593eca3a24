/// @file
/// Dialer: connects a ByteStream to a server.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_DIALER_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_DIALER_H_

#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/remotecommand/internal/byte_stream.h"
#include "kubexx/remotecommand/internal/name_lookup.h"
#include "kubexx/rest/stream_access.h"

namespace kubexx::remotecommand::internal {

/// Everything happens on the thread that runs the io_context. `context` must outlive it.
class Dialer {
 public:
  explicit Dialer(boost::asio::io_context& context) : context_(context), lookup_(context) {}

  /// Resolves the server's name, or that of its proxy, tries its addresses one after the other,
  /// opens the proxy's tunnel, and does the TLS handshake. Runs the io_context meanwhile. One
  /// address has its share of the time until `by`; who calls this ends all of it in time by Cancel,
  /// and by closing the socket. Returns kUnavailable, with the server's name and what has failed.
  apimachinery::Result<void> Dial(ByteStream& bytes, const rest::StreamAccess& access,
                                  base::TimePoint by, const std::stop_token& stop);

  /// Ends a lookup, and keeps Dial from going on to the next step.
  void Cancel();

 private:
  apimachinery::Error Failed(const rest::StreamAccess& access, const std::string& why) const;
  boost::system::error_code ConnectToHost(ByteStream& bytes, const rest::ServerUrl& host,
                                          base::TimePoint by, const std::stop_token& stop);
  /// Both return "", or why it failed.
  std::string Handshake(ByteStream& bytes);
  std::string PassProxy(ByteStream& bytes, const rest::StreamAccess& access);
  boost::system::error_code TryAddress(ByteStream& bytes,
                                       const boost::asio::ip::tcp::endpoint& address,
                                       std::size_t left, base::TimePoint by);

  boost::asio::io_context& context_;
  NameLookup lookup_;
  bool cancelled_ = false;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_DIALER_H_
