// Tests the writers of Jobs and CronJobs against a server whose answers get lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/unstructured.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/write/job_content.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/testing/http_threads.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;
using dynamic::Unstructured;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;

constexpr char kJobs[] = "/apis/batch/v1/namespaces/ns/jobs";
constexpr char kCronJob[] = "/apis/batch/v1/namespaces/ns/cronjobs/backup";

/// `name` is the name of an object that does not exist.
std::string StatusOf(int code, const std::string& reason, const std::string& message = "so",
                     const std::string& name = "") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         R"(","reason":")" + reason + R"(","details":{"name":")" + name + R"("},"code":)" +
         std::to_string(code) + "}";
}

/// What happens to one request instead of its usual effect.
struct Fault {
  std::string method{};
  int code = 500;
  const char* reason = "InternalError";
  const char* message = "so";
  bool is_done = false;   ///< it is done nevertheless
  bool is_named = false;  ///< only of a request that names a Job
};

std::string PartialOf(const Unstructured& object) {
  JsonTree metadata = object.tree();
  metadata["apiVersion"] = "meta.k8s.io/v1";
  metadata["kind"] = "PartialObjectMetadata";
  return metadata.ToJson();
}

/// The Jobs of namespace "ns" in memory. Thread-safe.
class FakeBatch {
 public:
  void Put(const std::string& json) {
    Unstructured job = *Unstructured::Parse(json);
    const base::MutexLock lock(mu_);
    StoreLocked(std::move(job));
  }
  std::string VersionOf(const std::string& job) const {
    const base::MutexLock lock(mu_);
    return jobs_.at(job).ResourceVersion();
  }
  /// Breaks the next request with its method to Jobs, after the faults that were put here before.
  void Break(Fault fault) {
    const base::MutexLock lock(mu_);
    faults_.push_back(std::move(fault));
  }
  /// Refuses the next dry run. "$name" in the message becomes the name in the request.
  void Refuse(Fault fault) {
    const base::MutexLock lock(mu_);
    refusal_ = std::move(fault);
  }
  /// Refuses reads of single Jobs.
  void RefuseReads() {
    const base::MutexLock lock(mu_);
    refuses_reads_ = true;
  }
  /// The next list is answered as if there were no Jobs yet.
  void AnswerOldList() {
    const base::MutexLock lock(mu_);
    is_list_old_ = true;
  }
  /// Executes a DELETE that was answered too early.
  void Erase(const std::string& name) {
    const base::MutexLock lock(mu_);
    jobs_.erase(name);
  }
  void Touch(const std::string& name) {
    const base::MutexLock lock(mu_);
    TouchLocked(name);
  }
  /// Changes the Job's status, and thereby its version, before each of the next `times` requests to
  /// delete it.
  void CountPods(int times) {
    const base::MutexLock lock(mu_);
    counts_ = times;
  }
  Unstructured Job(const std::string& name) const {
    const base::MutexLock lock(mu_);
    const auto found = jobs_.find(name);
    return found == jobs_.end() ? Unstructured() : found->second;
  }
  std::size_t size() const {
    const base::MutexLock lock(mu_);
    return jobs_.size();
  }
  /// Returns the name of a Job that is not called `name`.
  std::string NameBeside(const std::string& name) const {
    const base::MutexLock lock(mu_);
    const auto other =
        std::ranges::find_if(jobs_, [&](const auto& job) { return job.first != name; });
    return other == jobs_.end() ? std::string() : other->first;
  }

  /// Changes the CronJob's version before each of the next `times` patches, and records that it was
  /// rolled for `rolled_for`.
  void MoveCronJob(int times, const std::string& rolled_for = "") {
    const base::MutexLock lock(mu_);
    cron_job_moves_ = times;
    rolled_for_ = rolled_for;
  }
  /// Refuses the next patch of the CronJob.
  void RefuseNote() {
    const base::MutexLock lock(mu_);
    refuses_note_ = true;
  }
  std::string CronJobNote(const std::string& key) const {
    const base::MutexLock lock(mu_);
    return cron_job_.Annotations()[key];
  }
  void Suspend() {
    const base::MutexLock lock(mu_);
    (void)cron_job_.Set({"spec", "suspend"}, JsonTree(true));
  }
  std::string CronJobVersion() const {
    const base::MutexLock lock(mu_);
    return cron_job_.ResourceVersion();
  }

  void Answer(FakeConnection& connection, const FakeRequest& request) {
    const base::MutexLock lock(mu_);
    std::string path = request.target.substr(0, request.target.find('?'));
    if (path == kCronJob) {
      if (request.method == "PATCH") {
        if (std::exchange(refuses_note_, false)) {
          connection.Respond(
              403, "application/json",
              StatusOf(403, "Forbidden",
                       R"(cronjobs.batch is forbidden: User \"r\" cannot patch resource)"));
          return;
        }
        const Unstructured patch = *Unstructured::Parse(request.body);
        if (cron_job_moves_ > 0) {
          --cron_job_moves_;
          cron_job_.SetResourceVersion(std::to_string(++version_));
          if (!rolled_for_.empty()) {
            (void)cron_job_.Set({"metadata", "annotations", "kubexx.io/rolled-for"},
                                JsonTree(rolled_for_));
          }
        }
        if (!patch.ResourceVersion().empty() &&
            patch.ResourceVersion() != cron_job_.ResourceVersion()) {
          connection.Respond(409, "application/json", StatusOf(409, "Conflict"));
          return;
        }
        auto annotations = cron_job_.Annotations();
        for (const auto& [key, value] : patch.Annotations()) {
          annotations[key] = value;
        }
        cron_job_.SetAnnotations(annotations);
        cron_job_.SetResourceVersion(std::to_string(++version_));
        connection.Respond(200, "application/json", PartialOf(cron_job_));
        return;
      }
      connection.Respond(200, "application/json", cron_job_.ToJson());
      return;
    }
    std::pair<int, std::string> answer{0, ""};
    const bool is_trial = request.target.contains("dryRun=");
    if (!is_trial && !faults_.empty() && faults_.front().method == request.method &&
        (!faults_.front().is_named || path != kJobs)) {
      const Fault fault = faults_.front();
      faults_.pop_front();
      answer = {fault.code, StatusOf(fault.code, fault.reason, fault.message)};
      if (!fault.is_done) {
        connection.Respond(answer.first, "application/json", answer.second);
        return;
      }
    }
    if (is_trial && refusal_) {
      std::string message = refusal_->message;
      if (const auto at = message.find("$name"); at != std::string::npos) {
        const Unstructured trial = *Unstructured::Parse(request.body);
        message.replace(
            at, 5, trial.Name().empty() ? "random-" + std::to_string(++version_) : trial.Name());
      }
      connection.Respond(refusal_->code, "application/json",
                         StatusOf(refusal_->code, refusal_->reason, message));
      refusal_.reset();
      return;
    }
    auto done = is_trial ? std::pair(201, request.body) : DoLocked(path, request);
    const auto [code, body] = answer.first == 0 ? std::move(done) : std::move(answer);
    connection.Respond(code, "application/json", body);
  }

 private:
  mutable base::Mutex mu_;

  std::pair<int, std::string> DoLocked(const std::string& path, const FakeRequest& request)
      KX_REQUIRES(mu_) {
    if (path == kJobs && request.method == "POST") {
      const std::string name = Unstructured::Parse(request.body)->Name();
      if (jobs_.contains(name)) {
        return {409, StatusOf(409, "AlreadyExists")};
      }
      return {201, StoreLocked(*Unstructured::Parse(request.body))};
    }
    if (path == kJobs) {
      std::string items;
      for (const auto& [name, job] :
           std::exchange(is_list_old_, false) ? std::map<std::string, Unstructured>() : jobs_) {
        items += (items.empty() ? "" : ",") + PartialOf(job);
      }
      return {200,
              R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
              R"({"resourceVersion":"1"},"items":[)" +
                  items + "]}"};
    }
    const auto found = jobs_.find(path.substr(path.rfind('/') + 1));
    if (found == jobs_.end()) {
      return {404, StatusOf(404, "NotFound", "so", path.substr(path.rfind('/') + 1))};
    }
    if (request.method == "GET" && refuses_reads_) {
      return {403, StatusOf(403, "Forbidden",
                            R"(jobs.batch is forbidden: User \"r\" cannot get resource \"jobs\")")};
    }
    if (request.method == "GET") {
      const bool is_partial = request.headers.at("accept").contains("as=PartialObjectMetadata");
      return {200, is_partial ? PartialOf(found->second) : found->second.ToJson()};
    }
    if (counts_ > 0) {
      --counts_;
      TouchLocked(found->first);
    }
    const auto options = Unstructured::Parse(request.body);
    const std::string version =
        options ? options->GetString({"preconditions", "resourceVersion"}) : "";
    if (!version.empty() && version != found->second.ResourceVersion()) {
      return {409, StatusOf(409, "Conflict")};
    }
    jobs_.erase(found);
    return {200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})"};
  }
  void TouchLocked(const std::string& name) KX_REQUIRES(mu_) {
    Unstructured& job = jobs_.at(name);
    job.SetResourceVersion(std::to_string(++version_));
    (void)job.Set({"status", "active"}, JsonTree(version_));
  }
  std::string StoreLocked(Unstructured job) KX_REQUIRES(mu_) {
    const std::string number = std::to_string(++version_);
    if (job.Name().empty()) {
      job.SetName(job.GetString({"metadata", "generateName"}) + number);
    }
    (void)job.Set({"metadata", "uid"}, JsonTree("uid-" + number));
    job.SetResourceVersion(number);
    const std::string name = job.Name();
    return (jobs_[name] = std::move(job)).ToJson();
  }

  Unstructured cron_job_ KX_GUARDED_BY(mu_) = *Unstructured::Parse(
      R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"backup","namespace":"ns",)"
      R"("uid":"cron","resourceVersion":"1"},"spec":{"jobTemplate":{"spec":{"template":{"spec":)"
      R"({"containers":[{"name":"app"}]}}}}}})");
  int version_ KX_GUARDED_BY(mu_) = 1;
  int cron_job_moves_ KX_GUARDED_BY(mu_) = 0;
  bool refuses_note_ KX_GUARDED_BY(mu_) = false;
  int counts_ KX_GUARDED_BY(mu_) = 0;
  std::string rolled_for_ KX_GUARDED_BY(mu_);
  bool refuses_reads_ KX_GUARDED_BY(mu_) = false;
  bool is_list_old_ KX_GUARDED_BY(mu_) = false;
  std::map<std::string, Unstructured> jobs_ KX_GUARDED_BY(mu_);
  std::deque<Fault> faults_ KX_GUARDED_BY(mu_);
  std::optional<Fault> refusal_ KX_GUARDED_BY(mu_);
};

class BatchWritersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }

  void SetUp() override {
    batch_.Put(
        R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"work","namespace":"ns"},)"
        R"("spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}})");
  }
  bool IsSet() const {
    return batch_.Job("work").GetString(
               {"spec", "template", "spec", "containers", "0", "env", "0", "name"}) == "X";
  }

  /// Returns the only Job except "work".
  WorkloadId Keeper() const { return {WorkloadKind::kJob, {"ns", batch_.NameBeside("work")}}; }

  inline static const WorkloadId kWork{WorkloadKind::kJob, {"ns", "work"}};
  inline static const WorkloadId kBackup{WorkloadKind::kCronJob, {"ns", "backup"}};
  inline static const WorkloadWrite kSetX{.variables = {{"app", "X", "1"}}, .token = "token"};

  FakeBatch batch_;
  rest::testing::Recorder server_{[this](FakeConnection& connection, const FakeRequest& request) {
    batch_.Answer(connection, request);
  }};
  std::unique_ptr<WorkloadWriter> writer_ = NewWriter(server_.client());
};

TEST_F(BatchWritersTest, AJobWhoseDeletionFailedIsDeletedByTheNextTry) {
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  EXPECT_FALSE(IsSet());
  const auto written = writer_->Write(kWork, kSetX, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_NE(batch_.Job("work").Uid(), "uid-1");
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U) << "and its keeper is gone";
}

TEST_F(BatchWritersTest, AJobIsKeptAsLongAsItsDeletionMayTakeEffect) {
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  EXPECT_FALSE(writer_->Finish(kWork, {})) << "it is there yet";
  batch_.Erase("work");  // the first request was slow
  ASSERT_TRUE(writer_->Finish(kWork, {}));
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U);
}

TEST_F(BatchWritersTest, AJobThatWasDeletedWithoutAnAnswerIsMadeAgain) {
  batch_.Break({.method = "DELETE", .is_done = true});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  const auto written = writer_->Write(kWork, kSetX, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE(written->rolled);
  EXPECT_TRUE(IsSet());
}

TEST_F(BatchWritersTest, AJobThatChangedAfterItsDeletionFailedIsCopiedAnew) {
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  batch_.Touch("work");
  const auto written = writer_->Write(kWork, kSetX, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_NE(batch_.Job("work").Uid(), "uid-1");
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U);
}

// The pods of a Job come and go while it is planned and replaced. That alone does not make it
// another Job.
TEST_F(BatchWritersTest, AJobOfWhichOnlyTheStatusHasChangedIsReplaced) {
  WorkloadWrite write = kSetX;
  const Unstructured planned = batch_.Job("work");
  write.uid = planned.Uid();
  write.resource_version = planned.ResourceVersion();
  write.content = JobContentOf(planned);
  batch_.Touch("work");
  batch_.CountPods(3);
  const auto written = writer_->Write(kWork, write, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE(written->rolled);
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U) << "no keeper is left";
}

TEST_F(BatchWritersTest, AJobThatHasChangedOtherwiseIsPlannedAnew) {
  WorkloadWrite write = kSetX;
  const Unstructured planned = batch_.Job("work");
  write.uid = planned.Uid();
  write.resource_version = planned.ResourceVersion();
  batch_.Touch("work");
  EXPECT_EQ(writer_->Write(kWork, write, {}).error().reason, apimachinery::Reason::kConflict)
      << "it is not known what has changed";
  Unstructured other = planned;
  other.SetAnnotations({{"reloader.stakater.com/auto", "false"}});
  write.content = JobContentOf(other);
  EXPECT_EQ(writer_->Write(kWork, write, {}).error().reason, apimachinery::Reason::kConflict);
  EXPECT_FALSE(IsSet());
  EXPECT_EQ(batch_.size(), 1U);
}

TEST_F(BatchWritersTest, ADeletionOfADeadProcessMayTakeEffectLate) {
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  const auto next = NewWriter(server_.client());
  EXPECT_EQ(next->Recover(Keeper(), {}).value_or(true), false) << "it is there yet";
  batch_.Erase("work");
  EXPECT_EQ(next->Recover(Keeper(), {}).value_or(false), true);
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U) << "and its keeper is gone";
}

// A proxy answers like this, or a server that does not serve the API yet: no object is named.
TEST_F(BatchWritersTest, AnAnswerThatNamesNothingDoesNotLoseAJobThatWasDeleted) {
  const Fault unnamed{.method = "GET", .code = 404, .reason = "NotFound"};
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  batch_.Erase("work");
  const auto next = NewWriter(server_.client());
  batch_.Break(unnamed);
  EXPECT_FALSE(next->Recover(Keeper(), {})) << "the keeper may be there";
  EXPECT_EQ(batch_.size(), 1U);
  EXPECT_EQ(next->Recover(Keeper(), {}).value_or(false), true);
  EXPECT_TRUE(IsSet());
}

TEST_F(BatchWritersTest, AJobWhoseDeletionIsAnsweredWithoutANameIsMadeAgain) {
  batch_.Break({.method = "DELETE", .code = 404, .reason = "NotFound", .is_done = true});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  const auto written = writer_->Write(kWork, kSetX, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE(IsSet());
  EXPECT_EQ(batch_.size(), 1U);
}

TEST_F(BatchWritersTest, AnAnswerThatNamesNothingMakesNoSecondJobOfACronJob) {
  batch_.Break({.method = "POST", .is_done = true});
  ASSERT_FALSE(writer_->Write(kBackup, kSetX, {}));
  batch_.AnswerOldList();
  batch_.Break({.method = "GET", .code = 404, .reason = "NotFound", .is_named = true});
  EXPECT_FALSE(writer_->Write(kBackup, kSetX, {}));
  EXPECT_EQ(batch_.size(), 2U) << "one, and the other Job";
}

TEST_F(BatchWritersTest, TheKeeperOfAJobThatStaysGoesInTheEnd) {
  batch_.Break({.method = "DELETE"});
  ASSERT_FALSE(writer_->Write(kWork, kSetX, {}));
  const WorkloadId keeper = Keeper();
  int looks = 1;  // there are no more writes, because its source was set back
  while (looks < 100 && !writer_->Recover(keeper, {}).value_or(true)) {
    ++looks;
  }
  EXPECT_EQ(looks, 30);
  EXPECT_EQ(batch_.size(), 1U);
  EXPECT_FALSE(IsSet());
  EXPECT_TRUE(writer_->Finish(kWork, {})) << "nothing is begun";
}

TEST_F(BatchWritersTest, ARefusedTrialIsNamedAlikeEachTime) {
  std::set<std::string> errors;
  for (int i = 0; i < 2; ++i) {
    batch_.Refuse({.code = 403, .reason = "Forbidden", .message = "exceeded quota: $name"});
    const auto written = writer_->Write(kWork, kSetX, {});
    ASSERT_FALSE(written);
    errors.insert(written.error().message);
  }
  ASSERT_EQ(errors.size(), 1U) << "or each is an Event of its own";
  EXPECT_TRUE(errors.begin()->starts_with("try to create the new Job beside the old one: "))
      << *errors.begin();
  EXPECT_FALSE(errors.begin()->ends_with(": ")) << *errors.begin();
}

TEST_F(BatchWritersTest, ACronJobGetsNoSecondJobWhileTheFirstCannotBeLookedFor) {
  batch_.Break({.method = "POST", .is_done = true});
  ASSERT_FALSE(writer_->Write(kBackup, kSetX, {}));
  batch_.Break({.method = "GET"});
  EXPECT_FALSE(writer_->Write(kBackup, kSetX, {}));
  const auto written = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_FALSE(written->job.empty());
  EXPECT_EQ(batch_.size(), 2U) << "one, and the other Job";
}

TEST_F(BatchWritersTest, ACronJobThatGoesBackToEarlierDataGetsAnotherJob) {
  const auto to = [](const std::string& value) {
    return WorkloadWrite{.variables = {{"app", "X", value}},
                         .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=" + value}},
                         .token = value};
  };
  const WorkloadWrite to_x = to("1");
  const WorkloadWrite to_y = to("2");
  const auto first = writer_->Write(kBackup, to_x, {});
  ASSERT_TRUE(first) << first.error().ToString();
  const auto second = writer_->Write(kBackup, to_y, {});
  ASSERT_TRUE(second);
  batch_.Erase(second->job);  // it is pruned, as successful Jobs are
  const auto third = writer_->Write(kBackup, to_x, {});
  ASSERT_TRUE(third);
  EXPECT_NE(third->job, first->job);
  EXPECT_EQ(batch_.size(), 3U) << "two of the CronJob, and the other Job";
}

TEST_F(BatchWritersTest, ACronJobThatHasRecordedItsRolloutGetsNoSecondJob) {
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  const auto first = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(first) << first.error().ToString();
  const auto again = writer_->Write(kBackup, write, {});  // its answer was lost
  ASSERT_TRUE(again);
  EXPECT_EQ(again->job, first->job);
  EXPECT_EQ(batch_.size(), 2U);
}

TEST_F(BatchWritersTest, AWriteOfACronJobTellsWhenItsJobWasMadeUnlessItWasThereAlready) {
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  const auto first = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(std::to_string(first->template_version), batch_.VersionOf(first->job));
  const auto again = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->template_version, 0U);
}

TEST_F(BatchWritersTest, ACronJobGetsNoSecondJobWhenTheFirstIsGone) {
  const WorkloadWrite write{.resource_version = "1",
                            .variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  const auto first = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(first) << first.error().ToString();
  batch_.Erase(first->job);  // ttlSecondsAfterFinished deletes it
  EXPECT_FALSE(writer_->Write(kBackup, write, {}));
  EXPECT_EQ(batch_.size(), 1U) << "the other Job";
}

// The CronJob's Job with other data in between could not be recorded.
TEST_F(BatchWritersTest, ACronJobGetsAJobForWhatItSaysThatItHas) {
  WorkloadWrite write{.variables = {{"app", "X", "1"}},
                      .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                      .token = "x"};
  const auto first = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(first) << first.error().ToString();
  write.resource_version = batch_.CronJobVersion();
  const auto again = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_NE(again->job, first->job);
}

TEST_F(BatchWritersTest, ACronJobThatNeverStandsStillGetsOneJob) {
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  batch_.MoveCronJob(100);
  const auto written = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_FALSE(written->recorded);
  EXPECT_TRUE(written->refusal);
  EXPECT_EQ(batch_.size(), 2U);
}

// Seed 341 of 400 hours of the simulation: the right was back, and the operator ended before it
// would have tried it again.
TEST_F(BatchWritersTest, ARolloutIsRecordedThoughTheRightWasRefusedAMomentAgo) {
  batch_.RefuseNote();
  WorkloadWrite write{.annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}}};
  const auto refused = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(refused) << refused.error().ToString();
  EXPECT_FALSE(refused->recorded);
  const auto put_off = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(put_off) << put_off.error().ToString();
  EXPECT_FALSE(put_off->recorded) << "there may be thousands of these";
  write.variables = kSetX.variables;
  write.token = kSetX.token;
  const auto rolled = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(rolled) << rolled.error().ToString();
  EXPECT_TRUE(rolled->recorded);
  EXPECT_EQ(batch_.CronJobNote(std::string(kBaselineAnnotation)), "v1 cron a=b");
}

TEST_F(BatchWritersTest, ACronJobSaysWhatItWasRolledForWhateverItsStatus) {
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  batch_.MoveCronJob(2);
  const auto written = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE(written->recorded);
  EXPECT_EQ(batch_.CronJobNote(std::string(kBaselineAnnotation)), "v1 cron a=b");
}

TEST_F(BatchWritersTest, OnlyTheRecordOfAJobHasTheManagerOfRollouts) {
  const auto managers = [this] {
    std::vector<std::string> found;
    for (const std::string& target : server_.targets()) {
      if (const auto at = target.find("cronjobs/backup?fieldManager="); at != std::string::npos) {
        found.push_back(target.substr(target.find('=', at) + 1));
      }
    }
    return found;
  };
  WorkloadWrite write{.annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}}};
  ASSERT_TRUE(writer_->Write(kBackup, write, {}));
  write.variables = kSetX.variables;
  write.token = kSetX.token;
  ASSERT_TRUE(writer_->Write(kBackup, write, {}));
  batch_.Suspend();
  write.token = "later";
  ASSERT_TRUE(writer_->Write(kBackup, write, {}));
  EXPECT_THAT(managers(), testing::ElementsAre("Reloader-records", "Reloader", "Reloader-records"));
}

TEST_F(BatchWritersTest, ACronJobThatIsSuspendedByNowHasNoRolloutInItsHistory) {
  batch_.Suspend();
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"},
                                            {std::string(kHistoryAnnotation), "{}"}},
                            .token = "x"};
  const auto written = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_FALSE(written->left_alone.empty());
  EXPECT_EQ(batch_.CronJobNote(std::string(kBaselineAnnotation)), "v1 cron a=b");
  EXPECT_EQ(batch_.CronJobNote(std::string(kHistoryAnnotation)), "");
}

TEST_F(BatchWritersTest, ALaterRolloutOfACronJobIsNotRecordedOver) {
  const WorkloadWrite write{.variables = {{"app", "X", "1"}},
                            .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=b"}},
                            .token = "x"};
  batch_.MoveCronJob(1, "another's");
  const auto written = writer_->Write(kBackup, write, {});
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_FALSE(written->recorded);
  EXPECT_EQ(batch_.CronJobNote("kubexx.io/rolled-for"), "another's");
}

TEST_F(BatchWritersTest, ACronJobGetsNoSecondJobForAChangeBeforeTheLast) {
  const auto first = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(first) << first.error().ToString();
  WorkloadWrite later = kSetX;
  later.token = "later";
  ASSERT_TRUE(writer_->Write(kBackup, later, {}));
  batch_.AnswerOldList();  // another operator has listed before either was made
  const auto second = NewWriter(server_.client())->Write(kBackup, kSetX, {});
  ASSERT_TRUE(second) << second.error().ToString();
  EXPECT_EQ(second->job, first->job);
  EXPECT_EQ(batch_.size(), 3U) << "one for each, and the other Job";
}

TEST_F(BatchWritersTest, TwoOperatorsMakeOneJobOfACronJob) {
  const auto first = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(first) << first.error().ToString();
  batch_.AnswerOldList();  // both have listed before either has made one
  const auto second = NewWriter(server_.client())->Write(kBackup, kSetX, {});
  ASSERT_TRUE(second) << second.error().ToString();
  EXPECT_EQ(second->job, first->job);
  EXPECT_EQ(batch_.size(), 2U) << "one, and the other Job";
  EXPECT_TRUE(first->job.starts_with("backup-")) << first->job;
  EXPECT_EQ(first->job.size(), std::string("backup-0123456789").size());
}

TEST_F(BatchWritersTest, AnOperatorThatSleptThroughLaterChangesMakesNoJob) {
  const auto to = [](const std::string& value) {
    return WorkloadWrite{.resource_version = "1",
                         .variables = {{"app", "X", value}},
                         .annotations = {{std::string(kBaselineAnnotation), "v1 cron a=" + value}},
                         .token = value};
  };
  const WorkloadWrite planned_before_it_slept = to("1");
  ASSERT_TRUE(writer_->Write(kBackup, planned_before_it_slept, {}));
  WorkloadWrite later = to("2");
  later.resource_version = batch_.CronJobVersion();
  ASSERT_TRUE(writer_->Write(kBackup, later, {}));
  const auto late = NewWriter(server_.client())->Write(kBackup, planned_before_it_slept, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, apimachinery::Reason::kConflict) << late.error().ToString();
  EXPECT_EQ(batch_.size(), 3U) << "two of the CronJob, and the other Job";
}

TEST_F(BatchWritersTest, ACronJobGetsItsJobWhereItsNameIsTaken) {
  const auto first = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(first) << first.error().ToString();
  batch_.Erase(first->job);
  batch_.Put(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + first->job +
             R"(","namespace":"ns"}})");  // nobody's
  const auto second = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(second) << second.error().ToString();
  EXPECT_NE(second->job, first->job);
  EXPECT_EQ(batch_.size(), 3U);
}

TEST_F(BatchWritersTest, ACronJobThatRecordsNothingGetsAJobForDataThatComeBack) {
  WorkloadWrite other = kSetX;
  other.token = "other";
  const auto first = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(first) << first.error().ToString();
  ASSERT_TRUE(writer_->Write(kBackup, other, {}));
  const auto again = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_NE(again->job, first->job);
  EXPECT_EQ(batch_.size(), 4U) << "three, and the other Job";
}

TEST_F(BatchWritersTest, TwoOperatorsMakeOneJobOfACronJobWhereJobsMayNotBeRead) {
  const auto first = writer_->Write(kBackup, kSetX, {});
  ASSERT_TRUE(first) << first.error().ToString();
  batch_.AnswerOldList();
  batch_.RefuseReads();
  const auto second = NewWriter(server_.client())->Write(kBackup, kSetX, {});
  ASSERT_TRUE(second) << second.error().ToString();
  EXPECT_EQ(second->job, first->job);
  EXPECT_EQ(batch_.size(), 2U);
}

TEST_F(BatchWritersTest, ACronJobGetsItsJobWhereJobsMayNotBeListed) {
  batch_.Break({.method = "GET",
                .code = 403,
                .reason = "Forbidden",
                .message = R"(jobs.batch is forbidden: User \"r\" cannot list resource \"jobs\")"});
  ASSERT_TRUE(writer_->Write(kBackup, kSetX, {}));
  EXPECT_EQ(batch_.size(), 2U);
}

}  // namespace
}  // namespace kubexx::reloader
