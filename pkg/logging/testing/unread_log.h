/// @file
/// UnreadLog: a log that nobody reads.
#ifndef KUBEXX_LOGGING_TESTING_UNREAD_LOG_H_
#define KUBEXX_LOGGING_TESTING_UNREAD_LOG_H_

#include <atomic>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/testing/await.h"
#include "kubexx/logging/internal/sink.h"

namespace kubexx::logging::testing {

/// The thread that logs the first line with a given text blocks until Read is called, and so do all
/// threads that log later.
class UnreadLog {
 public:
  explicit UnreadLog(std::string text) {
    before_ =
        internal::ReplaceOutputForTest([this, wanted = std::move(text)](std::string_view line) {
          if (!read_ && line.find(wanted) != std::string_view::npos) {
            waits_.release();
            KX_AWAIT(read_);
          }
        });
  }
  UnreadLog(const UnreadLog&) = delete;
  UnreadLog& operator=(const UnreadLog&) = delete;
  ~UnreadLog() {
    Read();
    internal::ReplaceOutputForTest(std::move(before_));
  }
  /// Waits until a thread blocks on that line.
  void AwaitLine(const base::testing::Where& where = base::testing::Where::current()) {
    base::testing::Patience patience("a line in the log", where);
    while (!waits_.try_acquire()) {
      patience.Pause();
    }
  }
  void Read() { read_ = true; }

 private:
  std::atomic<bool> read_ = false;
  std::counting_semaphore<> waits_{0};
  internal::Output before_;
};

}  // namespace kubexx::logging::testing

#endif  // KUBEXX_LOGGING_TESTING_UNREAD_LOG_H_
