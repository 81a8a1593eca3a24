#include "kubexx/rest/testing/http_threads.h"

#include "kubexx/base/testing/leak_check.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::rest::testing {

void StartHttpThreads() {
  base::testing::FinishLeakCheck();
  {
    const Recorder server([](FakeConnection& connection, const FakeRequest&) {
      connection.Respond(404, "application/json", "{}");
    });
    (void)server.client()->Get().AbsPath("/").Do();
  }
  base::testing::ResetLeakBaseline();
}

}  // namespace kubexx::rest::testing
