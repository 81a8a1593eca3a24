/// @file
/// The runnables of one stage.
#ifndef KUBEXX_CONTROLLER_INTERNAL_RUNNABLE_GROUP_H_
#define KUBEXX_CONTROLLER_INTERNAL_RUNNABLE_GROUP_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/runnable.h"

namespace kubexx::controller::internal {

/// Starts runnables on threads of their own and stops them together. A runnable that has an End
/// needs a thread only for its Run and for its End. Thread-safe.
class RunnableGroup {
 public:
  /// `on_failure` is called on the thread of a runnable that failed.
  RunnableGroup(base::Clock& clock, std::function<void(apimachinery::Status)> on_failure);
  /// Requests the stop and waits for all runnables. Logs the names of those that take long.
  ~RunnableGroup();
  RunnableGroup(const RunnableGroup&) = delete;
  RunnableGroup& operator=(const RunnableGroup&) = delete;

  /// Adds a runnable. It starts at once when the group has started, otherwise with the group, and
  /// never when the group has been stopped. Also frees the runnables that have returned, and their
  /// threads. Throws std::system_error, and adds nothing, when the system has no thread left.
  void Add(std::shared_ptr<Runnable> runnable);
  void Start();
  /// Calls Warmup of each runnable until one fails.
  apimachinery::Result<void> Warmup(const std::stop_token& stop);
  /// Requests the stop of all runnables, and has those end that have only begun something; on this
  /// thread when the system has no thread left.
  void RequestStop();
  /// Blocks until all runnables have returned, `deadline` has come or `cut` is requested. Returns
  /// whether all have returned.
  bool Await(base::TimePoint deadline, const std::stop_token& cut = {});
  /// Waits for at most kMoment of real time. A runnable that takes longer than that hangs.
  void AwaitBriefly();
  /// A runnable that has not returned.
  struct Active {
    std::string name{};
    std::shared_ptr<const Runnable> runnable{};

    /// Returns the name and what the runnable is doing. Calls the runnable's Busy().
    std::string NameAndWork() const;
  };
  /// The runnables that have not returned, and the one whose Warmup is running. Does not call any
  /// runnable.
  std::vector<Active> Running() const;

 private:
  struct Member {
    std::shared_ptr<Runnable> runnable{};
    std::string name{};
    bool running = false;
    bool awaits_end = false;  ///< Run has returned, and End is still to be called
    std::jthread thread{};
  };

  void StartLocked(Member& member) KX_REQUIRES(mu_);
  void Run(Member& member);
  void End(Member& member);
  void SetWarming(std::optional<std::string> name);
  bool AnyRunningLocked() const KX_REQUIRES(mu_);

  base::Clock& clock_;
  const std::function<void(apimachinery::Status)> on_failure_;
  std::stop_source stop_;
  mutable base::Mutex mu_;
  base::CondVar ended_;
  bool started_ KX_GUARDED_BY(mu_) = false;
  std::optional<std::string> warming_ KX_GUARDED_BY(mu_);
  // This is the last member, because its threads use all the others.
  std::list<Member> members_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_RUNNABLE_GROUP_H_
