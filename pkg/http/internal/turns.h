/// @file
/// Steps that take long compared to a request, a few at a time.
#ifndef KUBEXX_HTTP_INTERNAL_TURNS_H_
#define KUBEXX_HTTP_INTERNAL_TURNS_H_

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <utility>

namespace kubexx::http::internal {

/// Begins the steps in the order in which they came, four between two looks at whatever else the
/// context has to do. For the thread that runs the context.
class Turns {
 public:
  /// `on_failure` is called after a step has thrown and is gone.
  Turns(boost::asio::io_context& context, std::function<void()> on_failure)
      : context_(context), on_failure_(std::move(on_failure)) {}

  void Add(std::function<void()> step);
  /// Drops all, once the context has stopped.
  void Clear() { steps_.clear(); }

 private:
  void Take();

  boost::asio::io_context& context_;
  const std::function<void()> on_failure_;
  std::deque<std::function<void()>> steps_{};
  bool taking_ = false;  // a Take is on its way
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_TURNS_H_
