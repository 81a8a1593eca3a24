/// @file
/// RunUntilDone: waits for one asynchronous operation of Asio.
#ifndef KUBEXX_REMOTECOMMAND_INTERNAL_RUN_UNTIL_DONE_H_
#define KUBEXX_REMOTECOMMAND_INTERNAL_RUN_UNTIL_DONE_H_

#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <optional>

namespace kubexx::remotecommand::internal {

/// Calls `start` with a handler, and runs `context` on this thread until the operation that it has
/// begun calls the handler. Returns the error that the handler was given.
template <class Start>
boost::system::error_code RunUntilDone(boost::asio::io_context& context, Start start) {
  std::optional<boost::system::error_code> result;
  start([&result](boost::system::error_code error) { result = error; });
  context.restart();
  while (!result) {
    context.run_one();
  }
  return *result;
}

}  // namespace kubexx::remotecommand::internal

#endif  // KUBEXX_REMOTECOMMAND_INTERNAL_RUN_UNTIL_DONE_H_
