/// @file
/// Turns: runs steps that take long compared to a request, a few at a time.
#ifndef KUBEXX_HTTP_INTERNAL_TURNS_H_
#define KUBEXX_HTTP_INTERNAL_TURNS_H_

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {

/// Begins the steps in order of arrival. After every two it lets the context do other work. When a
/// step throws, its session is closed. Only for the thread that runs the context.
class Turns {
 public:
  struct Step {
    std::shared_ptr<Session> session{};
    std::function<void()> begin{};
  };

  explicit Turns(boost::asio::io_context& context) : context_(context) {}

  void Add(Step step);
  /// The number of waiting steps.
  std::size_t size() const { return steps_.size(); }
  /// Drops all steps; for when the context has stopped.
  void Clear() { steps_.clear(); }

 private:
  void Arm();
  void Take();

  boost::asio::io_context& context_;
  std::deque<Step> steps_{};
  bool taking_ = false;  // a Take is on its way
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_TURNS_H_
