// The Leadership of a Lease, on an API server that has one.
#include "kubexx/controller/leadership.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/leaderelection/leader_elector.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"
#include "kubexx/tracing/testing/recorded_spans.h"

namespace kubexx::controller {
namespace {

using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tracing::testing::RecordedSpans;

/// Keeps the elector's thread in Record until the test lets it go.
class SlowRecorder final : public leaderelection::TransitionRecorder {
 public:
  void Record(const api::core::v1::ObjectReference&, std::string_view, std::string_view) override {
    recording.release();
    KX_AWAIT(go_on.try_acquire());
    go_on.release();  // for the next time
  }

  std::binary_semaphore recording{0};
  std::counting_semaphore<3> go_on{0};
};

void LeadUntilStop(const std::stop_token& stop) {
  (void)base::Clock::Real().SleepFor(std::chrono::hours(1), stop);
}

class LeaseLeadershipTest : public ::testing::Test {
 protected:
  static void Answer(FakeConnection& connection, const FakeRequest& request) {
    if (request.target.find("watch=true") != std::string::npos) {
      connection.RespondChunked(200, "application/json;stream=watch");
      connection.AwaitPeer();
    } else if (request.method == "GET") {
      connection.Respond(404, "application/json",
                         R"({"kind":"Status","reason":"NotFound","code":404})");
    } else {
      connection.Respond(
          200, "application/json",
          R"({"kind":"Lease","metadata":{"namespace":"ns","name":"l","resourceVersion":"7"},)"
          R"("spec":{"holderIdentity":"me","leaseDurationSeconds":15}})");
    }
  }
  Result<std::shared_ptr<Leadership>> Make(leaderelection::Config config = {},
                                           std::shared_ptr<tracing::Tracer> tracer = nullptr) {
    config.identity = "me";
    return NewLeaseLeadership({.lease = {"ns", "l"}, .config = config}, {.host = server_.url()},
                              clock_, nullptr, &recorder_, std::move(tracer));
  }

  base::testing::FakeClock clock_;
  SlowRecorder recorder_;
  rest::testing::Recorder server_{Answer};
};

TEST_F(LeaseLeadershipTest, ItEndsWithTheLeaseBeforeTheElectorsThreadNoticesThat) {
  const auto leadership = *Make();
  EXPECT_FALSE(leadership->Leads());
  std::jthread thread(
      [&leadership](const std::stop_token& stop) { (void)leadership->Run(LeadUntilStop, stop); });
  KX_AWAIT(recorder_.recording.try_acquire());
  EXPECT_TRUE(leadership->Leads());
  clock_.Advance(milliseconds(12500));
  EXPECT_FALSE(leadership->Leads());
  recorder_.go_on.release();
}

TEST_F(LeaseLeadershipTest, ItsRequestsHaveSpans) {
  const auto spans = std::make_shared<RecordedSpans>();
  const auto leadership = *Make({}, tracing::testing::TracerTo(spans));
  std::jthread thread(
      [&leadership](const std::stop_token& stop) { (void)leadership->Run(LeadUntilStop, stop); });
  KX_AWAIT(recorder_.recording.try_acquire());
  recorder_.go_on.release();
  thread.request_stop();
  thread.join();
  std::vector<std::string> names;
  for (const auto& span : spans->spans()) {
    names.push_back(span.name);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"get leases", "create leases", "update leases"}));
}

// What still runs after a loss has to end before another process may lead.
TEST_F(LeaseLeadershipTest, TheGraceAfterALossIsNoLongerThanTheRestOfTheLease) {
  EXPECT_EQ((*Make())->GraceAfterLoss(), seconds(1));
  EXPECT_EQ(
      (*Make({.lease_duration = seconds(15), .renew_deadline = seconds(14)}))->GraceAfterLoss(),
      milliseconds(500));
}

}  // namespace
}  // namespace kubexx::controller
