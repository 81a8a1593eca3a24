/// @file
/// NameLookup: resolves the addresses of a host without waiting for a resolver that does not
/// answer.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_NAME_LOOKUP_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_NAME_LOOKUP_H_

#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kubexx::remotecommand::internal {

/// One lookup, for the thread that runs the io_context. getaddrinfo(3) cannot be interrupted, and
/// an io_context would join the thread that calls it. This class calls it on a thread that nobody
/// joins, as base::LookUpHost says: equal lookups share one, and where there are too many of
/// different names a further one fails.
class NameLookup {
 public:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  using Done = std::move_only_function<void(boost::system::error_code, Endpoints)>;

  explicit NameLookup(boost::asio::io_context& context);
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;
  ~NameLookup();

  /// Starts the lookup. `port` is a number. The io_context calls `done` with the addresses, in the
  /// order in which the system's resolver prefers them. Call it only once.
  void Start(const std::string& host, const std::string& port, Done done);
  /// Ends the lookup with operation_aborted, unless it has ended.
  void Cancel();

 private:
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_NAME_LOOKUP_H_
