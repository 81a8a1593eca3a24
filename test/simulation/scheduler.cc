#include "scheduler.h"

#include <execinfo.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "real_calls.h"
#include "turn.h"

namespace kubexx::simulation {

/// A thread of the system that runs when it is its turn.
struct SimThread {
  enum class State : std::uint8_t { kRunnable, kBlocked, kEnded };

  Scheduler* scheduler = nullptr;
  int number = 0;
  Actor actor = 0;
  State state = State::kRunnable;
  Turn turn{};
  const void* address = nullptr;             ///< what it waits for
  std::vector<SimThread*>* place = nullptr;  ///< who waits for that; null: it does not wait
  const char* what = "";
  Nanoseconds deadline = kNever;
  bool woken = false;
  int locks = 0;
  std::uint64_t points = 0;
  pthread_t handle{};
  pid_t id = 0;
  int rounds = 0;  ///< of destructors of the thread's data
  bool joined = false;
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
};

namespace {

/// Of so many addresses at which nobody waits, it is remembered that somebody has.
constexpr std::size_t kKeptPlaces = 1024;
/// What the steps between two points take.
constexpr Nanoseconds kStep = 500;
/// 2026-01-01T00:00:00Z, in seconds since 1970, and what the machine's clock begins with.
constexpr Nanoseconds kEpoch = 1767225600;
constexpr Nanoseconds kStart = 1000 * kSecond;

thread_local SimThread* current_thread = nullptr;

/// Ends a thread's turn as the last of what is done at its end; see Scheduler::Leave.
pthread_key_t end_key;
pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

/// Waits until nothing of an ended thread is left that could run beside the next one.
void AwaitGone(const SimThread& thread) {
  while (KX_REAL(syscall)(SYS_tgkill, ::getpid(), thread.id, 0) == 0) {
    KX_REAL(sched_yield)();
  }
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(std::move(options)), random_(options_.seed), entropy_(~options_.seed) {
  actors_.push_back({.name = "simulation"});
}

Scheduler::~Scheduler() = default;

Scheduler* Scheduler::Current() {
  return current_thread == nullptr ? nullptr : current_thread->scheduler;
}

void Scheduler::Run(const std::function<void()>& main) {
  KX_REAL(pthread_once)(&end_key_once, [] { ::pthread_key_create(&end_key, &Scheduler::Leave); });
  auto first = std::make_unique<SimThread>();
  first->scheduler = this;
  first->number = static_cast<int>(threads_.size());
  first->handle = ::pthread_self();
  first->turn.Adopt();
  current_thread = first.get();
  threads_.push_back(std::move(first));
  main();
  current_thread = nullptr;
}

Nanoseconds Scheduler::wall() const {
  const ActorState& actor = actors_[static_cast<std::size_t>(current_thread->actor)];
  const Nanoseconds passed = now_ - kStart;
  return kEpoch * kSecond + passed + actor.wall_ahead + passed / 1'000'000 * actor.wall_millionths;
}

Actor Scheduler::NewActor(std::string name) {
  actors_.push_back({.name = std::move(name)});
  return static_cast<Actor>(actors_.size() - 1);
}

const std::string& Scheduler::NameOf(Actor actor) const {
  return actors_[static_cast<std::size_t>(actor)].name;
}

Actor Scheduler::actor() const { return current_thread->actor; }

Actor Scheduler::Become(Actor actor) { return std::exchange(current_thread->actor, actor); }

void Scheduler::Suspend(Actor actor, Nanoseconds until) {
  ActorOf(actor).suspended_until = until;
  any_suspended_ = true;
  if (until == kNever) {
    std::erase_if(runnable_, [this](const SimThread* thread) { return IsDead(*thread); });
    for (const auto& thread : threads_) {
      if (thread->state == SimThread::State::kBlocked && IsDead(*thread)) {
        RemoveWaiter(*thread);  // what others tell one of those that wait is for the living
      }
    }
  }
}

void Scheduler::Trace(std::string_view what) {
  for (const char c : what) {
    hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  hash_ ^= static_cast<std::uint64_t>(now_);
}

Nanoseconds Scheduler::thread_time() const {
  return static_cast<Nanoseconds>(current_thread->points) * kStep;
}

void Scheduler::CountLock(int change) { current_thread->locks += change; }

void Scheduler::FireTimers() {
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    MakeRunnable(*threads_[static_cast<std::size_t>(timers_.begin()->second)], false);
  }
}

void Scheduler::RemoveWaiter(SimThread& thread) {
  if (thread.deadline != kNever) {
    timers_.erase({thread.deadline, thread.number});
  }
  if (thread.place == nullptr) {
    return;
  }
  std::vector<SimThread*>& place = *std::exchange(thread.place, nullptr);
  std::erase(place, &thread);
  // Most are waited at again, and then have their place.
  if (place.empty() && waiting_.size() > kKeptPlaces) {
    waiting_.erase(thread.address);
  }
}

void Scheduler::MakeRunnable(SimThread& thread, bool woken) {
  RemoveWaiter(thread);
  thread.woken = woken;
  thread.state = SimThread::State::kRunnable;
  PushRunnable(thread);
}

// Nobody looks at threads that will never run: long simulations have thousands.
void Scheduler::PushRunnable(SimThread& thread) {
  if (!IsDead(thread)) {
    runnable_.push_back(&thread);
  }
}

bool Scheduler::IsDead(const SimThread& thread) const {
  return thread.locks == 0 &&
         actors_[static_cast<std::size_t>(thread.actor)].suspended_until == kNever;
}

bool Scheduler::MayRun(const SimThread& thread) const {
  return thread.locks > 0 ||
         actors_[static_cast<std::size_t>(thread.actor)].suspended_until <= now_;
}

SimThread* Scheduler::PickRunnable() {
  if (runnable_.empty()) {
    return nullptr;
  }
  std::size_t index = random_.Below(runnable_.size());
  if (any_suspended_) {
    const std::size_t begin = index;
    while (!MayRun(*runnable_[index])) {
      index = (index + 1) % runnable_.size();
      if (index == begin) {
        return nullptr;
      }
    }
  }
  SimThread* const thread = runnable_[index];
  runnable_[index] = runnable_.back();
  runnable_.pop_back();
  return thread;
}

SimThread& Scheduler::Next() {
  while (true) {
    if (SimThread* const thread = PickRunnable()) {
      return *thread;
    }
    Nanoseconds then = timers_.empty() ? kNever : timers_.begin()->first;
    if (any_suspended_) {
      for (const SimThread* const thread : runnable_) {
        then = std::min(then, actors_[static_cast<std::size_t>(thread->actor)].suspended_until);
      }
    }
    if (then == kNever) {
      Stuck("deadlock: no thread can ever run again");
    }
    now_ = std::max(now_, then);
    FireTimers();
  }
}

void Scheduler::GiveTurnTo(SimThread& next) {
  SimThread& self = *current_thread;
  AddDecision(next);
  if (&next == &self) {
    return;
  }
  ++switches_;
  self.turn.PassTo(next.turn);
  SeeOff();
}

void Scheduler::AddDecision(const SimThread& next) {
  hash_ = (hash_ ^ static_cast<std::uint64_t>(next.number)) * 1099511628211U;
}

void Scheduler::SeeOff() {
  if (SimThread* const ended = std::exchange(ended_, nullptr)) {
    ended->turn.Release();
    AwaitGone(*ended);
  }
}

bool Scheduler::DrawInterruption() {
  const std::uint64_t every = options_.preempt_every;
  // As Below, without the division.
  return (every & (every - 1)) == 0 ? (random_.Next() & (every - 1)) == 0
                                    : random_.Below(every) == 0;
}

void Scheduler::Point() {
  SimThread& self = *current_thread;
  ++self.points;
  if (++points_ > options_.max_points) {
    Stuck("no end: more points than a run may have");
  }
  now_ += kStep;
  if (!timers_.empty() && timers_.begin()->first <= now_) {
    FireTimers();
  }
  const bool may_go_on = !any_suspended_ || MayRun(self);
  if (may_go_on && (options_.preempt_every == 0 || !DrawInterruption())) {
    return;
  }
  Yield();
}

void Scheduler::Yield() {
  PushRunnable(*current_thread);
  GiveTurnTo(Next());
}

bool Scheduler::Block(const void* address, Nanoseconds deadline, const char* what, bool spurious) {
  SimThread& self = *current_thread;
  if (spurious && options_.spurious_every != 0 && random_.Below(options_.spurious_every) == 0) {
    Yield();
    return true;
  }
  if (deadline <= now_) {
    Yield();
    return false;
  }
  self.state = SimThread::State::kBlocked;
  self.address = address;
  self.what = what;
  self.deadline = deadline;
  if (deadline != kNever) {
    timers_.emplace(deadline, self.number);
  }
  self.place = &waiting_[address];
  self.place->push_back(&self);
  GiveTurnTo(Next());
  return self.woken;
}

int Scheduler::Wake(const void* address, int count) {
  int woken = 0;
  while (woken < count) {
    const auto found = waiting_.find(address);
    if (found == waiting_.end() || found->second.empty()) {
      break;
    }
    MakeRunnable(*found->second[random_.Below(found->second.size())], true);
    ++woken;
  }
  return woken;
}

int Scheduler::CreateThread(pthread_t* handle, const pthread_attr_t* attributes,
                            void* (*start)(void*), void* argument) {
  auto made = std::make_unique<SimThread>();
  SimThread& thread = *made;
  thread.scheduler = this;
  thread.number = static_cast<int>(threads_.size());
  thread.actor = current_thread->actor;
  thread.start = start;
  thread.argument = argument;
  const int error = KX_REAL(pthread_create)(&thread.handle, attributes, &Scheduler::Enter, &thread);
  if (error != 0) {
    return error;
  }
  *handle = thread.handle;
  thread.turn.AwaitBegin();
  threads_.push_back(std::move(made));
  PushRunnable(thread);
  Point();
  return 0;
}

void* Scheduler::Enter(void* thread) {
  auto& self = *static_cast<SimThread*>(thread);
  self.id = ::gettid();
  self.turn.Begin();
  current_thread = &self;
  self.scheduler->SeeOff();
  ::pthread_setspecific(end_key, thread);
  self.result = self.start(self.argument);
  return self.result;
}

// The destructors of thread_local objects have run by now; those of other keys are run in rounds,
// as long as some key has a value again, up to PTHREAD_DESTRUCTOR_ITERATIONS. So this is the last.
void Scheduler::Leave(void* thread) {
  auto& self = *static_cast<SimThread*>(thread);
  if (++self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    ::pthread_setspecific(end_key, thread);
    return;
  }
  self.scheduler->EndThread(self);
}

void Scheduler::EndThread(SimThread& thread) {
  thread.state = SimThread::State::kEnded;
  Wake(&thread, std::numeric_limits<int>::max());
  SimThread& next = Next();
  ended_ = &thread;
  current_thread = nullptr;
  AddDecision(next);
  ++switches_;
  thread.turn.EndWith(next.turn);
}

SimThread* Scheduler::FindThread(pthread_t handle) {
  const auto found = std::ranges::find_if(threads_, [handle](const auto& thread) {
    return !thread->joined && ::pthread_equal(thread->handle, handle) != 0;
  });
  return found == threads_.end() ? nullptr : found->get();
}

int Scheduler::JoinThread(pthread_t handle, void** result) {
  Point();
  SimThread* const thread = FindThread(handle);
  if (thread == nullptr) {
    return ESRCH;
  }
  while (thread->state != SimThread::State::kEnded) {
    Block(thread, kNever, "end of a thread");
  }
  thread->joined = true;
  if (result != nullptr) {
    *result = thread->result;
  }
  return KX_REAL(pthread_join)(handle, nullptr);
}

int Scheduler::DetachThread(pthread_t handle) {
  // Its handle stays its own to the end of the simulation.
  return FindThread(handle) == nullptr ? ESRCH : 0;
}

std::string Scheduler::DescribeThreads() {
  std::string text;
  for (const auto& thread : threads_) {
    if (thread->state == SimThread::State::kEnded) {
      continue;
    }
    text += "  " + NameOf(thread->actor) + "#" + std::to_string(thread->number);
    text += thread.get() == current_thread                 ? " runs"
            : thread->state == SimThread::State::kRunnable ? " can run"
                                                           : std::string(" waits: ") + thread->what;
    text += thread->locks > 0 ? ", holds " + std::to_string(thread->locks) + " locks\n" : "\n";
  }
  return text;
}

void Scheduler::Stuck(const std::string& what) {
  const std::string report = what + "\n" + DescribeThreads();
  for (const auto& thread : threads_) {
    if (thread->state == SimThread::State::kEnded || thread.get() == current_thread) {
      continue;
    }
    std::fprintf(stderr, "%s#%d:\n", NameOf(thread->actor).c_str(), thread->number);
    current_thread->turn.Describe(thread->turn);
  }
  std::array<void*, 48> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  std::fprintf(stderr, "%s#%d, the last one that ran:\n", NameOf(current_thread->actor).c_str(),
               current_thread->number);
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  current_thread = nullptr;
  if (options_.on_stuck) {
    options_.on_stuck(report);
  }
  std::fprintf(stderr, "%s", report.c_str());
  std::abort();
}

}  // namespace kubexx::simulation
