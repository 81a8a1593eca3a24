/// @file
/// Decides which thread of a simulation runs, and what time it is.
#ifndef KUBEXX_TEST_SIMULATION_SCHEDULER_H_
#define KUBEXX_TEST_SIMULATION_SCHEDULER_H_

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubexx/base/clock.h"
#include "oracle/random.h"

namespace kubexx::simulation {

/// Virtual nanoseconds since the machine of the simulation was started.
using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
inline constexpr Nanoseconds kSecond = 1'000'000'000;
inline constexpr Nanoseconds kMinute = 60 * kSecond;

/// As the clocks of the simulation's threads have it.
inline base::TimePoint ToTimePoint(Nanoseconds time) {
  return base::TimePoint(std::chrono::nanoseconds(time));
}

/// Whose threads they are: a process of the simulated cluster. 0 is the simulation itself.
using Actor = int;

struct SimThread;

/// How a Scheduler schedules.
struct SchedulerOptions {
  std::uint64_t seed = 1;
  /// At one of so many points where it could, a thread is interrupted though it could go on; 0:
  /// only where it waits.
  std::uint64_t preempt_every = 16;
  /// One of so many waits for a condition ends without a reason, as it may; 0: none.
  std::uint64_t spurious_every = 500;
  /// More points than these are taken for threads that wake each other for ever.
  std::uint64_t max_points = std::numeric_limits<std::uint64_t>::max();
  /// Told when no thread can ever run again ("deadlock"), or too many points have passed
  /// ("no end"); must not return. Empty: writes what it is told to standard error and aborts.
  std::function<void(const std::string& what)> on_stuck{};
};

/// Runs threads one at a time. They are threads of the system, so that all code works as it is
/// shipped; but each waits until it is its turn (Turn), which it gives up where it waits, and now
/// and then where it might be interrupted: at locks, notifications, starts and ends of threads, and
/// looks at the clock. A seed decides who is next; so the same seed gives the same run.
///
/// The calls of the C library that threads use to wait for each other, to tell the time and to get
/// random numbers lead here (interpose.cc) when a thread of a simulation makes them. Time stands
/// nearly still while threads run, and jumps to the next deadline when none can.
///
/// The members are for threads of the simulation; they need no lock, as only one runs.
class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs `main` on the calling thread as the simulation's first one. Threads that are left when it
  /// returns never run again: end the process without destructors then.
  void Run(const std::function<void()>& main);

  /// Of the thread that calls; null outside of simulations.
  static Scheduler* Current();

  Nanoseconds now() const { return now_; }
  /// The time of day that the calling thread's actor has, in nanoseconds since 1970.
  Nanoseconds wall() const;
  /// What the actor's time of day is ahead of others', and by how many millionths it is too fast;
  /// it jumps.
  void SetWallClock(Actor actor, Nanoseconds ahead, std::int64_t millionths) {
    ActorOf(actor).wall_ahead = ahead;
    ActorOf(actor).wall_millionths = millionths;
  }

  /// Adds an actor; its name stands in reports.
  Actor NewActor(std::string name);
  const std::string& NameOf(Actor actor) const;
  /// Whose thread the caller is; threads that it starts are the same one's.
  Actor actor() const;
  /// Makes the calling thread that actor's from here on; returns whose it was.
  Actor Become(Actor actor);
  /// The actor's threads run no more until `until`; kNever: that is its end. One that holds a lock
  /// runs on until it does not, since some locks are the process's, as the log's is.
  void Suspend(Actor actor, Nanoseconds until);

  /// Something happened that should be the same in another run of the seed.
  void Trace(std::string_view what);
  /// Of all decisions and traces so far.
  std::uint64_t hash() const { return hash_; }
  /// How often a thread could have been interrupted, and how often another one got its turn.
  std::uint64_t points() const { return points_; }
  std::uint64_t switches() const { return switches_; }

  /// What std::random_device gives.
  std::uint64_t RandomNumber() { return entropy_.Next(); }

  // What the interposed calls are made of.

  /// The caller may be interrupted here.
  void Point();
  /// Lets another thread run, if there is one.
  void Yield();
  /// Waits for a Wake of the address or the deadline; false when that has passed. `spurious`: it
  /// may end without a reason.
  bool Block(const void* address, Nanoseconds deadline, const char* what, bool spurious = false);
  /// Ends the wait of up to `count` threads, chosen at random. How many there were.
  int Wake(const void* address, int count);
  /// Block and Wake for locks: most are given back while nobody waits for any.
  void BlockForLock(const void* lock, const char* what) {
    ++lock_waiters_;
    Block(lock, kNever, what);
    --lock_waiters_;
  }
  void WakeForLock(const void* lock, int count) {
    if (lock_waiters_ != 0) {
      Wake(lock, count);
    }
  }
  int CreateThread(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument);
  /// pthread_join's result.
  int JoinThread(pthread_t handle, void** result);
  int DetachThread(pthread_t handle);
  /// The caller holds one lock more, or one fewer.
  void CountLock(int change);
  /// The time that the calling thread has worked, as it is counted here.
  Nanoseconds thread_time() const;

 private:
  struct ActorState {
    std::string name{};
    Nanoseconds suspended_until = 0;
    Nanoseconds wall_ahead = 0;
    std::int64_t wall_millionths = 0;
  };

  static void* Enter(void* thread);
  static void Leave(void* thread);
  void EndThread(SimThread& thread);
  /// Null: there is none that has not been joined.
  SimThread* FindThread(pthread_t handle);
  ActorState& ActorOf(Actor actor) { return actors_[static_cast<std::size_t>(actor)]; }
  bool MayRun(const SimThread& thread) const;
  bool IsDead(const SimThread& thread) const;
  void PushRunnable(SimThread& thread);
  void FireTimers();
  /// Whether the caller, which could go on, is interrupted.
  bool DrawInterruption();
  /// The next thread to run, taken out of runnable_; advances time until there is one.
  SimThread& Next();
  SimThread* PickRunnable();
  /// From the thread that calls.
  void GiveTurnTo(SimThread& next);
  void AddDecision(const SimThread& next);
  /// Waits until nothing is left of the thread that has just ended.
  void SeeOff();
  void MakeRunnable(SimThread& thread, bool woken);
  void RemoveWaiter(SimThread& thread);
  [[noreturn]] void Stuck(const std::string& what);
  std::string DescribeThreads();

  const SchedulerOptions options_;
  oracle::Random random_;
  oracle::Random entropy_;
  Nanoseconds now_ = 1000 * kSecond;
  std::uint64_t hash_ = 14695981039346656037U;
  std::uint64_t points_ = 0;
  std::uint64_t switches_ = 0;
  bool any_suspended_ = false;
  int lock_waiters_ = 0;  ///< those that will never run again count, too
  std::vector<ActorState> actors_{};
  std::vector<std::unique_ptr<SimThread>> threads_{};
  std::vector<SimThread*> runnable_{};
  std::unordered_map<const void*, std::vector<SimThread*>> waiting_{};
  std::set<std::pair<Nanoseconds, int>> timers_{};  ///< with the thread's number
  SimThread* ended_ = nullptr;                      ///< whose last steps are to be waited for
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_SCHEDULER_H_
