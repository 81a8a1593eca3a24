/// @file
/// An end for tests whose own waits have none.
#ifndef KUBEXX_BASE_TESTING_TEST_LIMIT_H_
#define KUBEXX_BASE_TESTING_TEST_LIMIT_H_

#include <stop_token>
#include <thread>

#include "kubexx/base/testing/await.h"

namespace kubexx::base::testing {

/// Ends the process, as Patience does and with the line of the test, when it is not destroyed
/// within the patience of tests. For tests of what waits itself, which have to wait without a
/// deadline since that is what they test; all others have waits that end, see await.h. Make it
/// first in the test, `const TestLimit limit;`, so that the test's threads have been joined when it
/// is destroyed. Its thread uses neither a CondVar nor a Clock, which may be at fault.
class TestLimit {
 public:
  explicit TestLimit(const Where& where = Where::current())
      : thread_([where](const std::stop_token& stop) {
          Patience patience("the end of the test", where);
          while (!stop.stop_requested()) {
            patience.Pause();
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace kubexx::base::testing

#endif  // KUBEXX_BASE_TESTING_TEST_LIMIT_H_
