#include "kubexx/base/testing/await.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

namespace kubexx::base::testing {
namespace {

using std::chrono::microseconds;

constexpr std::chrono::seconds kUsualLimit(60);
/// Those who wait for less only yield: most of what a test waits for has happened by then.
constexpr microseconds kOnlyYields(1000);
constexpr microseconds kShortestSleep(50);
constexpr microseconds kLongestSleep(250);

int Factor() {
  const char* const factor = std::getenv("KUBEXX_PATIENCE");
  return factor == nullptr ? 1 : std::max(1, std::atoi(factor));
}

std::atomic<Duration::rep>& CurrentLimit() {
  static std::atomic<Duration::rep> limit = Duration(kUsualLimit * Factor()).count();
  return limit;
}

/// The waits that have blocked at least once and are not over.
struct Waits {
  Mutex mu;
  std::set<const Patience*> all KX_GUARDED_BY(mu);
};

Waits& CurrentWaits() {
  static auto* const waits = new Waits();  // threads may wait until the process has ended
  return *waits;
}

}  // namespace

Duration Patience::Limit() { return Duration(CurrentLimit().load()); }

void Patience::SetLimitForTest(Duration limit) { CurrentLimit() = limit.count(); }

Patience::Patience(std::string what, const Where& where)
    : what_(std::move(what)),
      where_(where),
      begin_(std::chrono::steady_clock::now()),
      limit_(Limit()) {}

Patience::~Patience() {
  if (listed_) {
    Waits& waits = CurrentWaits();
    const MutexLock lock(waits.mu);
    waits.all.erase(this);
  }
}

bool Patience::IsOver() const { return std::chrono::steady_clock::now() - begin_ >= limit_; }

void Patience::Begin() {
  if (!std::exchange(listed_, true)) {
    Waits& waits = CurrentWaits();
    const MutexLock lock(waits.mu);
    waits.all.insert(this);
  }
}

bool Patience::PauseOnce() {
  const Duration waited = std::chrono::steady_clock::now() - begin_;
  if (waited >= limit_) {
    return false;
  }
  Begin();
  if (waited < kOnlyYields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::clamp<Duration>(waited / 16, kShortestSleep, kLongestSleep));
  }
  return true;
}

bool Patience::WaitOnce(CondVar& changed, Mutex& mu, Duration time) {
  if (IsOver()) {
    return false;
  }
  Begin();
  changed.wait_until(mu, {}, std::min(begin_ + limit_, std::chrono::steady_clock::now() + time));
  return true;
}

std::string Patience::Description() const {
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin_;
  std::ostringstream text;
  text.precision(3);
  text << where_.file_name() << ":" << where_.line() << ": " << where_.function_name()
       << " has waited for " << waited.count() << " s for: " << what_;
  return text.str();
}

void Patience::Fail(std::initializer_list<std::string> seen) const {
  std::string text = Description() + "\n";
  for (const std::string& value : seen) {
    text += "  it saw: " + value + "\n";
  }
  {
    Waits& waits = CurrentWaits();
    const MutexLock lock(waits.mu);
    for (const Patience* const other : waits.all) {
      if (other != this) {
        text += "  others wait: " + other->Description() + "\n";
      }
    }
  }
  std::fputs(text.c_str(), stderr);
  std::abort();
}

void AwaitStop(const std::stop_token& stop, const Where& where) {
  Patience patience("a stop", where);
  while (!stop.stop_requested()) {
    patience.Pause();
  }
}

std::string internal::Comparison(std::string_view arguments, std::string_view op) {
  const std::string unclear = std::string(arguments) + " (" + std::string(op) + ")";
  std::size_t comma = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    depth += arguments[i] == '(' ? 1 : arguments[i] == ')' ? -1 : 0;
    if (arguments[i] == ',' && depth == 0) {
      if (comma != std::string_view::npos) {
        return unclear;
      }
      comma = i;
    }
  }
  if (comma == std::string_view::npos) {
    return unclear;
  }
  std::string_view b = arguments.substr(comma + 1);
  b.remove_prefix(std::min(b.find_first_not_of(' '), b.size()));
  return std::string(arguments.substr(0, comma)) + " " + std::string(op) + " " + std::string(b);
}

bool HoldsSoon(FunctionRef<bool()> condition, Duration between) {
  const TimePoint end = std::chrono::steady_clock::now() + Patience::Limit();
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::max<Duration>(between, kShortestSleep));
  }
  return true;
}

void LetOthersRun() { std::this_thread::yield(); }

}  // namespace kubexx::base::testing
