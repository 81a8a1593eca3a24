/// @file
/// OracleTest: what the tests of an Oracle have in common.
#ifndef KUBEXX_TEST_ORACLE_ORACLE_FIXTURE_H_
#define KUBEXX_TEST_ORACLE_ORACLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/reloader/model/digest.h"
#include "oracle/oracle.h"

namespace kubexx::oracle {

inline constexpr const char* kConfig = "/registry/configmaps/ns/s";
inline constexpr const char* kWorkload = "/registry/deployments/ns/d";
inline constexpr const char* kName = "deployments/ns/d";

/// A store and an oracle that follows it. What is written is what a server would have written.
class OracleTest : public ::testing::Test {
 protected:
  /// Begins anew, with another judge.
  void JudgeExactly() { oracle_ = NewOracle({.exact = true}); }
  /// The same with one for which workloads name sources of other namespaces.
  void JudgeSharing() { oracle_ = NewOracle({.shares = true}); }

  void Put(const std::string& key, const std::string& value) {
    const auto now = storage_->Get(key, 0, {});
    const bool done = now ? storage_->CompareAndSwap(key, now->mod_revision, value, {})->done
                          : storage_->Create(key, value, {}).has_value();
    ASSERT_TRUE(done);
    AwaitOracle();
  }
  void Delete(const std::string& key) {
    ASSERT_TRUE(storage_->Delete(key, 0, {}));
    AwaitOracle();
  }
  void PutConfig(const std::string& value, const std::string& annotations = "{}") {
    Put(kConfig,
        R"({"metadata":{"annotations":)" + annotations + R"(},"data":{"key":")" + value + R"("}})");
  }
  struct Workload {
    std::string variable{};  ///< empty: none
    std::string recorded{};  ///< the baseline is of these data
    /// People's part of the template.
    std::string image = "one";
    std::string annotations{};  ///< more of the workload's, each with a comma before it
    std::string restarted_for{};
    bool through = true;  ///< the status is of its generation, or before it
    bool paused = false;
    bool has_baseline = true;
  };
  static std::string TemplateOf(const Workload& put) {
    const std::string env = put.variable.empty() ? ""
                                                 : R"({"name":"STAKATER_S_CONFIGMAP","value":")" +
                                                       put.variable + R"("})";
    return R"({"metadata":{"annotations":{"reloader.kubexx.io/restarted-for":")" +
           put.restarted_for + R"("}},"spec":{"containers":[{"image":")" + put.image +
           R"(","envFrom":[{"configMapRef":{"name":"s"}}],"env":[)" + env + "]}]}}";
  }
  /// Another image is a release, which has a mark of its own, as all that people do.
  void PutWorkload(const Workload& put) {
    const std::string mark = put.annotations.contains("oracle/by")
                                 ? std::string()
                                 : R"(,"oracle/by":"release-)" + put.image + '"';
    Put(kWorkload,
        R"({"metadata":{"uid":"u","generation":2,"annotations":{")" +
            std::string(put.has_baseline ? "reloader.kubexx.io/baseline" : "none") +
            R"(":"v1 u configmap/s=)" + reloader::DigestOf("key=" + put.recorded).ToString() + '"' +
            mark + put.annotations + R"(}},"status":{"observedGeneration":)" +
            (put.through ? "2" : "1") + R"(},"spec":{"paused":)" + (put.paused ? "true" : "false") +
            R"(,"template":)" + TemplateOf(put) + "}}");
  }
  void PutWorkload(const std::string& variable, const std::string& recorded,
                   const std::string& image = "one") {
    PutWorkload({.variable = variable, .recorded = recorded, .image = image});
  }
  void Undo(const std::string& variable, const std::string& recorded) {
    PutWorkload(
        {.variable = variable, .recorded = recorded, .annotations = R"(,"oracle/by":"undo-1")"});
  }
  /// The storage is lost, and restored from a backup of what is there.
  void RestoreAll() {
    auto restored = *apiserver::storage::NewMemoryStorage({.base_revision = 1000});
    ASSERT_TRUE(storage_->GetList(
        "", {},
        [&restored](apiserver::storage::KeyValue&& item) -> apimachinery::Result<void> {
          return restored->Create(item.key, std::string(*item.value), {})
                     ? apimachinery::Result<void>()
                     : apimachinery::Fail(apimachinery::Reason::kInternalError, item.key);
        },
        {}));
    former_storages_.push_back(std::exchange(storage_, std::move(restored)));
    oracle_->Restart(*storage_, 1000);
    AwaitOracle();
  }
  void Pass(std::chrono::seconds time) { now_ = now_.load() + time; }
  base::TimePoint now() const { return now_; }
  Oracle& oracle() { return *oracle_; }

 private:
  std::unique_ptr<Oracle> NewOracle(OracleOptions options) {
    options.now = [this] { return now_.load(); };
    return std::make_unique<Oracle>(
        *storage_, [](std::string_view, std::string_view) {}, std::move(options));
  }
  void AwaitOracle() {
    const auto written = storage_->CurrentRevision({});
    ASSERT_TRUE(written);
    KX_AWAIT(oracle_->seen() >= *written);
  }

  std::atomic<base::TimePoint> now_ = base::TimePoint(std::chrono::hours(1));
  std::unique_ptr<apiserver::storage::MemoryStorage> storage_ =
      *apiserver::storage::NewMemoryStorage({.base_revision = 1});
  std::vector<std::unique_ptr<apiserver::storage::MemoryStorage>> former_storages_{};
  std::unique_ptr<Oracle> oracle_ = NewOracle({});
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_ORACLE_FIXTURE_H_
