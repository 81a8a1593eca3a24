#include "kubexx/reloader/policy/policy_status.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/utf8.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/controller/conditions.h"
#include "kubexx/logging/testing/capture.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using namespace std::chrono_literals;
using codec::JsonTree;
using reloadpolicy::v1alpha1::ReloadPolicy;
using reloadpolicy::v1alpha1::ReloadPolicyStatus;

/// Returns the message of the condition Ready of a policy with these problems.
std::string ReadyMessageFor(const std::vector<std::string>& problems) {
  const base::testing::FakeClock clock;
  const auto status = PolicyStatusFor(PolicyState{.id = {"shop", "p"}, .problems = problems},
                                      ReloadPolicyStatus(), clock.Wall());
  const auto read = codec::DecodeJson<ReloadPolicyStatus>(codec::EncodeJson(status));
  EXPECT_TRUE(read && *read == status)
      << "what is written is not what is read back: " << codec::EncodeJson(status);
  const auto& conditions = apimachinery::OrEmpty(status.conditions);
  return conditions.empty() ? "" : conditions.front().message;
}

// Otherwise the status would differ from the one that the API server keeps, and would be written
// for ever.
TEST(PolicyStatus, IsReadBackAsItIsWritten) {
  const std::string long_text = std::string(63, 'x') + "\xc3\xa9 and more";
  ReloadPolicy policy;
  policy.metadata.name = "p";
  policy.spec.settle_window = long_text;
  auto& sources = policy.spec.sources.emplace();
  sources.emplace_back().kind = long_text;
  auto& source = sources.emplace_back();
  source.kind = "ConfigMap";
  source.keys.emplace({long_text});
  auto& windows = policy.spec.maintenance_windows.emplace();
  for (int i = 0; i < 4; ++i) {
    auto& window = windows.emplace_back();
    window.schedule = i == 0 ? long_text : i == 1 ? long_text + " * * * *" : "0 2 * * *";
    window.duration = i == 2 ? long_text : "1h";
    window.time_zone = i == 3 ? long_text : "UTC";
  }
  const auto problems = reloadpolicy::PolicyFrom(policy).problems;
  EXPECT_GE(problems.size(), 7U);
  for (const std::string& problem : problems) {
    const std::string message = ReadyMessageFor({problem});
    EXPECT_EQ(base::ToValidUtf8(message), message) << problem;
  }
}

TEST(PolicyStatus, AWaitThatAnotherProcessHasSeenBegunGoesOn) {
  const base::WallTime began(std::chrono::seconds(1'795'000'000));
  const auto status_of = [&](base::WallTime since, const ReloadPolicyStatus& present) {
    const PolicyState state{.id = {"shop", "p"},
                            .pending = 1,
                            .listed = {{.workload = {"Deployment", {"shop", "web"}},
                                        .hold = {.reason = reloadpolicy::HoldReason::kPaused},
                                        .since = since}}};
    return PolicyStatusFor(state, present, since);
  };
  const ReloadPolicyStatus first = status_of(began, {});
  const ReloadPolicyStatus later = status_of(began + 1h, first);
  EXPECT_EQ(later.pending_rollouts->at(0).since, first.pending_rollouts->at(0).since);
  ReloadPolicyStatus of_another = first;
  of_another.pending_rollouts->at(0).workload = "Deployment/other";
  EXPECT_NE(status_of(began + 1h, of_another).pending_rollouts->at(0).since,
            first.pending_rollouts->at(0).since);
}

TEST(PolicyStatus, NamesWhatKeepsASnapshotFromBeingTaken) {
  PolicyState state{.id = {"shop", "p"}, .has_waves = true, .restores = true, .may_restore = true};
  const auto message_of = [&](const ReloadPolicyStatus& present) {
    const auto status = PolicyStatusFor(state, present, base::WallTime());
    return controller::FindCondition(apimachinery::OrEmpty(status.conditions), "Restored")->message;
  };
  EXPECT_EQ(message_of({}), "no data have to be restored");
  state.no_snapshot = "ConfigMap/shop/c can be taken: Deployment/shop/b is broken";
  EXPECT_EQ(message_of({}), "no data have to be restored; no snapshot of " + state.no_snapshot);
  state.restore = RestoreReport{.outcome = RestoreReport::Outcome::kRestored,
                                .policy = state.id,
                                .reason = "Restored",
                                .message = "they were put back"};
  const ReloadPolicyStatus restored = PolicyStatusFor(state, ReloadPolicyStatus(), {});
  EXPECT_EQ(message_of({}), "they were put back; no snapshot of " + state.no_snapshot);
  const PolicyFacts facts = FactsOf(restored);
  EXPECT_EQ(facts.restore, "they were put back") << "no Event tells of a wait";
  state.restore.reset();
  state.no_snapshot.clear();
  EXPECT_EQ(message_of(restored), "they were put back") << "another process has told of it";
}

TEST(PolicyStatus, NamesFailedWavesWhereThereAreWavesAndReadsThemBack) {
  const base::testing::FakeClock clock;
  const auto of = [&](const PolicyState& state, const ReloadPolicyStatus& present = {}) {
    return PolicyStatusFor(state, present, clock.Wall());
  };
  PolicyState state{.id = {"shop", "p"}};
  EXPECT_EQ(of(state).failed_waves, std::nullopt) << "older CRDs do not have the field";
  EXPECT_EQ(of(state).conditions->size(), 3U);
  state.has_waves = true;
  state.failed_waves = 2;
  const base::WallTime since(std::chrono::seconds(1'795'000'000));
  state.failed_in_waves.push_back({.workload = {"Deployment", {"shop", "web"}},
                                   .uid = "u",
                                   .data = {"ConfigMap/config=1"},
                                   .since = since});
  const auto status = of(state);
  const auto& wave = status.conditions->back();
  EXPECT_EQ(wave.type, "WaveFailed");
  EXPECT_EQ(wave.status, "True");
  EXPECT_EQ(wave.message,
            "the rollout of Deployment/shop/web and of 1 more for ConfigMap/config has failed in a "
            "wave; no other begins until these data change, or until somebody lets them go on with "
            "retry");
  const auto read = FailedDataIn(status, "shop");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].workload.ToString(), "Deployment/shop/web");
  EXPECT_EQ(read[0].uid, "u");
  EXPECT_EQ(read[0].versions, state.failed_in_waves[0].data);
  EXPECT_EQ(read[0].since, since);
  EXPECT_TRUE(of({.id = {"shop", "p"}}, status).failed_waves->empty()) << "nothing old is left";
}

TEST(PolicyStatus, TellsWhatHasComeOfARestore) {
  PolicyState state{.id = {"shop", "p"}, .has_waves = true, .restores = true, .may_restore = true};
  const auto now = base::WallTime() + std::chrono::hours(500000);
  const auto condition_of = [&](const reloadpolicy::v1alpha1::ReloadPolicyStatus& present) {
    const auto status = PolicyStatusFor(state, present, now);
    const auto& last = status.conditions->back();
    EXPECT_EQ(last.type, "Restored");
    return last.status + " " + last.reason + ": " + last.message;
  };
  EXPECT_EQ(condition_of({}), "False NothingToRestore: no data have to be restored");
  EXPECT_EQ(FactsOf(PolicyStatusFor(state, reloadpolicy::v1alpha1::ReloadPolicyStatus(), now)),
            PolicyFacts());
  state.restore = RestoreReport{
      .outcome = RestoreReport::Outcome::kHeld, .reason = "NoSnapshot", .message = "there is none"};
  EXPECT_EQ(condition_of({}), "False NoSnapshot: there is none");
  const auto held = PolicyStatusFor(state, reloadpolicy::v1alpha1::ReloadPolicyStatus(), now);
  apimachinery::Time at = apimachinery::Time::From(now);
  state.restore->outcome = RestoreReport::Outcome::kRestored;
  state.restore->reason = "Restored";
  state.restore->message = "they were put back";
  state.restore->at = at;
  const auto restored = PolicyStatusFor(state, reloadpolicy::v1alpha1::ReloadPolicyStatus(), now);
  EXPECT_EQ(condition_of({}), "True Restored: they were put back");
  EXPECT_EQ(FactsOf(restored), (PolicyFacts{.restored = true, .restore = "they were put back"}));
  state.restore.reset();  // a process that starts later
  EXPECT_EQ(condition_of(restored), "True Restored: they were put back");
  // It looks for what was put back, since the one before may have ended before it wrote that.
  const auto earlier = [&](const std::string& message, std::int64_t after) {
    at.seconds += after;
    return RestoreReport{.reason = "Restored", .message = message, .at = at, .is_earlier = true};
  };
  state.restore = earlier("the data were put back", 1);
  EXPECT_EQ(condition_of(held), "True Restored: the data were put back");
  EXPECT_EQ(condition_of(restored), "True Restored: they were put back") << "no time is told";
  EXPECT_EQ(condition_of({}), "False NothingToRestore: no data have to be restored")
      << "another policy had them restored";
  const auto told = [&](const std::string& message) {
    state.restore->is_earlier = false;
    state.restore->message = message;
    return PolicyStatusFor(state, reloadpolicy::v1alpha1::ReloadPolicyStatus(), now);
  };
  const auto known = told("they were put back, at " + at.ToString() + ", and so was one more");
  state.restore = earlier("put back", 0);
  EXPECT_THAT(condition_of(known), testing::StartsWith("True Restored: they were put back, at "));
  state.restore = earlier("put back", 1);
  EXPECT_EQ(condition_of(known), "True Restored: put back") << "this is newer";
  state.restore = earlier("put back", -10);
  EXPECT_EQ(condition_of(held), "False NothingToRestore: no data have to be restored")
      << "what has come after that restore was told, and is over";
  state.restore->is_earlier = false;
  EXPECT_EQ(condition_of(held), "False NothingToRestore: no data have to be restored");
  state.restore.reset();
  state.failed_waves = 1;
  state.failed_in_waves.push_back({.workload = {"Deployment", {"shop", "web"}}});
  EXPECT_EQ(condition_of(held), "False NoSnapshot: there is none")
      << "a process that starts has not looked yet, and the failure stands";
  EXPECT_EQ(condition_of({}), "False NothingToRestore: no data have to be restored");
  state.may_restore = false;
  EXPECT_THAT(condition_of(restored),
              testing::HasSubstr("False NotAllowed: the operator may not restore"));
  state.restores = false;
  EXPECT_NE(PolicyStatusFor(state, restored, now).conditions->back().type, "Restored");
}

TEST(PolicyStatus, NamesSettingsThatHaveNoEffect) {
  PolicyState state{.id = {"shop", "b"}};
  const auto message_of = [&] {
    const auto status = PolicyStatusFor(state, reloadpolicy::v1alpha1::ReloadPolicyStatus(), {});
    const auto& ready = status.conditions->front();
    EXPECT_EQ(ready.type + ready.status, "ReadyTrue");
    return ready.message;
  };
  EXPECT_EQ(message_of(), "the whole policy is in force");
  state.overruled = {"paused (ReloadPolicy shop/a)", "waves (ReloadPolicy shop/a)"};
  EXPECT_THAT(message_of(), testing::HasSubstr("has them, too: paused (ReloadPolicy shop/a); waves "
                                               "(ReloadPolicy shop/a)"));
}

TEST(PolicyStatus, OfManyProblemsIsCutBetweenCharacters) {
  for (int shift = 0; shift < 2; ++shift) {
    std::vector<std::string> problems{std::string(static_cast<std::size_t>(shift), 'x')};
    for (int i = 0; i < 5000; ++i) {
      problems.back() += "\xc3\xa9";
    }
    const std::string message = ReadyMessageFor(problems);
    EXPECT_GT(message.size(), 4000U);
    EXPECT_LT(message.size(), 4200U);
    EXPECT_EQ(base::ToValidUtf8(message), message);
  }
}

constexpr char kStoredPolicy[] =
    R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"namespace":"shop",)"
    R"("name":"p","generation":1,"resourceVersion":"5"},"spec":{"minInterval":"1h"}})";

/// A server with one policy. It does not keep the policy's status.
class ForgetfulServer {
 public:
  const std::shared_ptr<rest::RESTClient>& client() const { return server_.client(); }
  int patches() const { return patches_; }

 private:
  void Answer(rest::testing::FakeConnection& connection,
              const rest::testing::FakeRequest& request) {
    const bool is_cluster = request.target.contains("clusterreloadpolicies");
    if (request.method == "PATCH") {
      ++patches_;
      connection.Respond(200, "application/json", kStoredPolicy);
    } else if (request.target.contains("watch=")) {
      connection.RespondChunked(200, "application/json");
      connection.AwaitPeer();
    } else {
      connection.Respond(200, "application/json",
                         std::string(R"({"apiVersion":"kubexx.io/v1alpha1","kind":")") +
                             (is_cluster ? "ClusterReloadPolicyList" : "ReloadPolicyList") +
                             R"(","metadata":{"resourceVersion":"5"},"items":[)" +
                             (is_cluster ? "" : kStoredPolicy) + "]}");
    }
  }

  std::atomic<int> patches_ = 0;
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        Answer(connection, request);
      }};
};

/// An operator's enforcer, which knows the server's policy, and the writer of its status.
struct Writing {
  Writing(const std::shared_ptr<rest::RESTClient>& client, base::Clock& clock)
      : enforcer({.clock = clock}), watch(client, {}) {
    watch.Start(enforcer);
    KX_AWAIT_GE(enforcer.States().size(), 1U);
    attached =
        enforcer.Attach({.caches = caches,
                         .wake = [](const WorkloadId&, base::Duration) {},
                         .needs_rollout = [](const Workload&, const SourceId&) { return false; }});
    writer.emplace(client, enforcer, watch, PolicyStatusWriter::Options{.clock = clock});
  }

  PolicyEnforcer enforcer;
  PolicyWatch watch;
  const DecisionRules rules{};
  const Caches caches{{}, rules};
  base::Subscription attached{};
  std::optional<PolicyStatusWriter> writer{};
};

TEST(PolicyStatusWriter, DoesNotRepeatAtOnceWhatTheServerDoesNotKeep) {
  rest::testing::StartHttpThreads();
  const logging::testing::Capture log;
  base::testing::FakeClock clock;
  ForgetfulServer server;
  const Writing writing(server.client(), clock);
  for (int i = 0; i < 20; ++i) {
    clock.AdvanceToSleeper(1s);
  }
  EXPECT_EQ(server.patches(), 1);
  EXPECT_EQ(log.Count("kept nothing of what is new"), 1U);
  for (int i = 0; i < 31; ++i) {
    clock.AdvanceToSleeper(1s);
  }
  EXPECT_EQ(server.patches(), 2) << "it is tried again, since CRDs may be replaced";
}

/// A server with one policy, "p". It keeps each status and sends it to its watches.
class KeepingServer {
 public:
  explicit KeepingServer(const std::string& stored = kStoredPolicy)
      : stored_(*JsonTree::Parse(stored)) {}
  KeepingServer(const KeepingServer&) = delete;
  KeepingServer& operator=(const KeepingServer&) = delete;
  ~KeepingServer() {
    const base::MutexLock lock(mu_);
    gone_ = true;
    changed_.notify_all();
  }

  const std::shared_ptr<rest::RESTClient>& client() const { return server_.client(); }
  int patches() const { return patches_; }
  int version() const {
    const base::MutexLock lock(mu_);
    return version_;
  }
  /// Returns the number of rollouts that wait according to the policy's status, or -1 when there is
  /// none.
  std::int64_t Pending() const {
    const base::MutexLock lock(mu_);
    const JsonTree* const pending = stored_.At({"status", "pending"});
    return pending == nullptr ? -1 : pending->AsInt().value_or(-1);
  }
  /// From now on it refuses a status with more versions of data of a failed wave, as CRDs with that
  /// maxItems do. 0: it refuses failed waves.
  void RefuseMoreData(std::size_t most) { most_data_ = most; }
  /// Returns the number of versions of the first failed wave, 0 without one.
  std::size_t FailedData() const {
    const base::MutexLock lock(mu_);
    return FailedDataOf(*stored_.Find("status"));
  }
  bool IsReady() const {
    const base::MutexLock lock(mu_);
    return stored_.ToJson().contains(R"("type":"Ready")");
  }
  void SetPending(std::int64_t pending) {
    JsonTree status = JsonTree::Object();
    {
      const base::MutexLock lock(mu_);
      status = *stored_.Find("status");
    }
    status["pending"] = pending;
    SetStatus(std::move(status));
  }

 private:
  void Answer(rest::testing::FakeConnection& connection,
              const rest::testing::FakeRequest& request) {
    const bool is_cluster = request.target.contains("clusterreloadpolicies");
    if (request.method == "PATCH" &&
        FailedDataOf(*JsonTree::Parse(request.body)->Find("status")) > most_data_) {
      connection.Respond(
          422, "application/json",
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,)"
          R"("message":"status.failedWaves[0].data: Too many","details":{"name":"p"}})");
    } else if (request.method == "PATCH") {
      SetStatus(*JsonTree::Parse(request.body)->Find("status"));
      ++patches_;
      connection.Respond(200, "application/json", Stored());
    } else if (request.target.contains("watch=")) {
      connection.RespondChunked(200, "application/json");
      while (is_cluster ? AwaitVersion(1000) : AwaitVersion(sent_ + 1)) {
        ++sent_;
        connection.WriteChunk(R"({"type":"MODIFIED","object":)" + Stored() + "}\n");
      }
    } else {
      connection.Respond(200, "application/json",
                         std::string(R"({"apiVersion":"kubexx.io/v1alpha1","kind":")") +
                             (is_cluster ? "ClusterReloadPolicyList" : "ReloadPolicyList") +
                             R"(","metadata":{"resourceVersion":"5"},"items":[)" +
                             (is_cluster ? "" : Stored()) + "]}");
    }
  }
  static std::size_t FailedDataOf(const JsonTree& status) {
    const auto parsed = codec::DecodeJson<ReloadPolicyStatus>(status.ToJson());
    return !parsed || apimachinery::OrEmpty(parsed->failed_waves).empty()
               ? 0
               : parsed->failed_waves->front().data.size();
  }
  void SetStatus(JsonTree status) {
    const base::MutexLock lock(mu_);
    stored_["status"] = std::move(status);
    ++version_;
    stored_["metadata"]["resourceVersion"] = std::to_string(version_);
    changed_.notify_all();
  }
  std::string Stored() const {
    const base::MutexLock lock(mu_);
    return stored_.ToJson();
  }
  /// Returns false when the server ends.
  bool AwaitVersion(int version) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("a version, or the end of the server");
    while (!gone_ && version_ < version) {
      patience.Wait(changed_, mu_, version_);
    }
    return !gone_;
  }

  mutable base::Mutex mu_;
  base::CondVar changed_;
  bool gone_ KX_GUARDED_BY(mu_) = false;
  int version_ KX_GUARDED_BY(mu_) = 5;
  JsonTree stored_ KX_GUARDED_BY(mu_);
  std::atomic<int> sent_ = 5;
  std::atomic<std::size_t> most_data_ = 1000;
  std::atomic<int> patches_ = 0;
  rest::testing::Recorder server_{
      [this](rest::testing::FakeConnection& connection, const rest::testing::FakeRequest& request) {
        Answer(connection, request);
      }};
};

TEST(PolicyStatusWriter, WritesAStatusAgainThatSomebodyHasChangedHoweverLongItWasRight) {
  rest::testing::StartHttpThreads();
  base::testing::FakeClock clock;
  KeepingServer server;
  const Writing writing(server.client(), clock);
  const auto is_seen = [&] {
    return writing.watch.namespaced().LastSyncResourceVersion() == std::to_string(server.version());
  };
  // It may write once more before its watch brings its own write.
  const auto let_time_pass = [&] {
    for (int i = 0; i < 10; ++i) {
      clock.AdvanceToSleeper(1s);
      KX_AWAIT(is_seen());
    }
  };
  for (int round = 1; round <= 2; ++round) {
    KX_UNTIL(server.Pending() == 0) {
      clock.AdvanceToSleeper(1s);
    }
    let_time_pass();
    const int patches = server.patches();
    let_time_pass();
    EXPECT_EQ(server.patches(), patches) << "it is right";
    server.SetPending(7);
    KX_AWAIT(is_seen());
  }
}

/// A policy with waves, in one of which a workload has failed that has so many sources.
std::string PolicyWithFailedData(int versions) {
  std::string data;
  for (int i = 0; i < versions; ++i) {
    data += (i == 0 ? "\"" : ",\"") +
            reloadpolicy::DataVersion({"ConfigMap", {"shop", "c" + std::to_string(i)}}, "1") + '"';
  }
  return R"({"apiVersion":"kubexx.io/v1alpha1","kind":"ReloadPolicy","metadata":{"namespace":"shop",)"
         R"("name":"p","generation":1,"resourceVersion":"5"},"spec":{"waves":{}},"status":{)"
         R"("failedWaves":[{"workload":"Deployment/web","uid":"u",)"
         R"("since":"2026-11-29T10:00:00Z","data":[)" +
         data + "]}]}}";
}

TEST(PolicyStatusWriter, LeavesOutWhatOlderCrdsRefuse) {
  rest::testing::StartHttpThreads();
  const logging::testing::Capture log;
  base::testing::FakeClock clock;
  KeepingServer server(PolicyWithFailedData(40));
  server.RefuseMoreData(kMostDataInOlderCrds);
  const Writing writing(server.client(), clock);
  KX_UNTIL(server.IsReady()) {
    clock.AdvanceToSleeper(1s);
  }
  EXPECT_EQ(server.FailedData(), kMostDataInOlderCrds);
  for (base::Duration passed{}; passed < 2 * StatusCuts::kFor; passed += 1s) {
    clock.AdvanceToSleeper(1s);
  }
  EXPECT_EQ(log.Count("refuses the whole status"), 1U);
  server.RefuseMoreData(0);
  server.SetPending(7);
  KX_UNTIL(server.Pending() == 0) {
    clock.AdvanceToSleeper(1s);
  }
  EXPECT_EQ(server.FailedData(), 0U);
  server.RefuseMoreData(1000);
  KX_UNTIL(server.FailedData() == 40) {
    for (int i = 0; i < 60; ++i) {
      clock.AdvanceToSleeper(1s);
    }
  }
  EXPECT_EQ(log.Count("refuses the whole status"), 2U);
}

}  // namespace
}  // namespace kubexx::reloader
