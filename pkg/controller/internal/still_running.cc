#include "kubexx/controller/internal/still_running.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/internal/briefly.h"
#include "kubexx/controller/internal/errand.h"

namespace kubexx::controller::internal {
namespace {

struct Answers {
  base::Mutex mu;
  base::CondVar changed;
  std::vector<std::string> names KX_GUARDED_BY(mu);
  std::size_t missing KX_GUARDED_BY(mu) = 0;
};

}  // namespace

std::vector<std::string> AskWhatRuns(const std::vector<const RunnableGroup*>& groups,
                                     RunnableGroup& errands) {
  std::vector<RunnableGroup::Active> running;
  for (const RunnableGroup* group : groups) {
    const auto more = group->Running();
    running.insert(running.end(), more.begin(), more.end());
  }
  std::ranges::copy(errands.Running(), std::back_inserter(running));
  const auto answers = std::make_shared<Answers>();
  {
    const base::MutexLock lock(answers->mu);
    for (const RunnableGroup::Active& active : running) {
      answers->names.push_back(active.name);
    }
    answers->missing = running.size();
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    const bool is_asked = TrySend(errands, "a question", [answers, active = running[i], i] {
      std::string name = active.NameAndWork();
      const base::MutexLock lock(answers->mu);
      answers->names[i] = std::move(name);
      --answers->missing;
      answers->changed.notify_all();
    });
    if (!is_asked) {
      const base::MutexLock lock(answers->mu);
      --answers->missing;
    }
  }
  base::Clock& clock = base::Clock::Real();
  const base::TimePoint until = clock.Now() + kMoment;
  const base::MutexLock lock(answers->mu);
  while (answers->missing > 0 &&
         clock.WaitUntil(answers->mu, answers->changed, {}, until) != base::Wake::kTimeout) {
  }
  return answers->names;
}

}  // namespace kubexx::controller::internal
