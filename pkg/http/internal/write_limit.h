/// @file
/// WriteLimit: how long a client may take to receive what a server writes to it.
#ifndef KUBEXX_HTTP_INTERNAL_WRITE_LIMIT_H_
#define KUBEXX_HTTP_INTERNAL_WRITE_LIMIT_H_

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace kubexx::http::internal {

/// A client has to receive something within each `patience`, and `min_rate` bytes a second after
/// the first `patience`. So a large answer may take long on a slow line, and a client that receives
/// a byte now and then keeps it for a bounded time: `patience` and its size by the rate. A value
/// type.
class WriteLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Something is written from now on. With a `min_rate` of 0, all of it has to be received within
  /// `patience`.
  void Begin(TimePoint now, std::chrono::milliseconds patience, std::size_t min_rate) {
    begin_ = last_ = now;
    patience_ = patience;
    min_rate_ = min_rate;
    taken_ = 0;
  }
  /// The client has received `bytes` more; 0: it gets the next ones only now.
  void OnTaken(TimePoint now, std::size_t bytes) {
    last_ = now;
    taken_ += bytes;
  }
  /// When the client is given up, unless it receives something before.
  TimePoint deadline() const {
    if (min_rate_ == 0) {
      return begin_ + patience_;
    }
    // In milliseconds: nanoseconds of large answers are more than there are.
    const std::chrono::milliseconds earned(1000 * taken_ / min_rate_);
    return std::min(last_, begin_ + earned) + patience_;
  }

 private:
  TimePoint begin_{};
  TimePoint last_{};
  std::chrono::milliseconds patience_{};
  std::size_t min_rate_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_WRITE_LIMIT_H_
