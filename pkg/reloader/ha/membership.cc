#include "kubexx/reloader/ha/membership.h"

#include <set>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/permissions/denial.h"

namespace kubexx::reloader {

using apimachinery::Result;

namespace {

// What a dead member left is removed after this many times the expiry.
constexpr int kAbandonedAfter = 10;

// Roles that are just being replaced refuse, too.
constexpr base::Duration kRefusedForGood = std::chrono::seconds(10);

}  // namespace

void MemberView::Saw(const std::vector<Member>& members, base::TimePoint now) {
  std::set<std::string> present;
  for (const Member& member : members) {
    present.insert(member.name);
    Entry& entry = entries_[member.name];
    if (entry.version != member.version) {
      entry = {member.version, now};
    }
  }
  std::erase_if(entries_, [&](const auto& entry) { return !present.contains(entry.first); });
}

std::vector<std::string> MemberView::Live(base::TimePoint now) const {
  std::vector<std::string> live;
  for (const auto& [name, entry] : entries_) {
    if (now - entry.since < expiry_) {
      live.push_back(name);
    }
  }
  return live;
}

std::vector<std::string> MemberView::Abandoned(base::TimePoint now) const {
  std::vector<std::string> abandoned;
  for (const auto& [name, entry] : entries_) {
    if (now - entry.since >= kAbandonedAfter * expiry_) {
      abandoned.push_back(name);
    }
  }
  return abandoned;
}

std::string TakerOf(int shard, const std::vector<std::string>& members) {
  return members.empty() ? std::string()
                         : members[static_cast<std::size_t>(shard) % members.size()];
}

class Membership::Impl {
 public:
  Impl(Options options, MemberStore& store)
      : options_(std::move(options)), store_(store), view_(options_.expiry) {}
  ~Impl() { Stop(); }

  void Start() {
    renewer_ = std::jthread([this](const std::stop_token& stop) { Renew(stop); });
    watcher_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  }

  void Stop() {
    if (!renewer_.joinable()) {
      return;
    }
    renewer_.request_stop();
    watcher_.request_stop();
    renewer_.join();
    watcher_.join();
    if (const auto removed = store_.Remove(options_.identity, {}); !removed) {
      logging::Warning(
          "Cannot remove this replica from the members; the other replicas notice its end later",
          {{"error", removed.error()}});
    }
  }

  std::optional<std::stop_token> AwaitAssigned(int shard, const std::stop_token& stop) {
    const base::MutexLock lock(mu_);
    while (!stop.stop_requested()) {
      if (const auto found = assigned_.find(shard); found != assigned_.end()) {
        return found->second.get_token();
      }
      (void)options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
    }
    return std::nullopt;
  }

  std::optional<std::string> Problem() const {
    const base::TimePoint now = options_.clock.Now();
    const base::MutexLock lock(mu_);
    if (has_looked_ || !refused_ || now - refused_->since < kRefusedForGood) {
      return std::nullopt;
    }
    return "may not list the Leases of the replicas, so this replica takes no shard: " +
           refused_->message;
  }

 private:
  struct Refusal {
    base::TimePoint since{};
    std::string message{};
  };

  void Renew(const std::stop_token& stop) {
    base::TimePoint renewal = options_.clock.Now();
    while (!stop.stop_requested()) {
      if (options_.clock.Now() >= renewal) {
        renewal = options_.clock.Now() + options_.renew_period;
        Note(store_.Renew(stop), "Cannot renew this replica's sign of life for the other replicas",
             renewal_error_, stop);
      }
      Look(stop);
      const base::MutexLock lock(mu_);
      while (!woken_ && !stop.stop_requested() && options_.clock.Now() < renewal) {
        (void)options_.clock.WaitUntil(mu_, wake_, stop, renewal);
      }
      woken_ = false;
    }
  }

  void Look(const std::stop_token& stop) {
    const auto members = store_.List(stop);
    const base::TimePoint now = options_.clock.Now();
    Note(members ? Result<void>() : apimachinery::Fail(members.error()),
         "Cannot list the replicas; the shards stay divided as they are, and without a first list "
         "this replica takes none",
         look_error_, stop);
    {
      const base::MutexLock lock(mu_);
      if (members || has_looked_) {
        has_looked_ = true;
      } else if (!IsMissingRight(members.error())) {
        refused_.reset();
      } else if (!refused_) {
        refused_ = {now, members.error().message};
      }
    }
    if (!members) {
      return;  // what was known stays: the Leases decide who writes
    }
    view_.Saw(*members, now);
    Assign(view_.Live(now));
    for (const std::string& name : view_.Abandoned(now)) {
      (void)store_.Remove(name, stop);  // tried again next time
    }
  }

  /// Logs an error that is not the last one: with a renewal every two seconds one line is enough.
  static void Note(const Result<void>& result, const char* what, std::string& last,
                   const std::stop_token& stop) {
    std::string error = result ? std::string() : result.error().ToString();
    if (!stop.stop_requested() && error != last) {
      if (!result) {
        logging::Warning(what, {{"error", error}});
      }
      last = std::move(error);
    }
  }

  void Assign(const std::vector<std::string>& members) {
    std::vector<std::stop_source> moved;
    bool changed = false;
    {
      const base::MutexLock lock(mu_);
      for (int shard = 0; shard < options_.shards; ++shard) {
        const bool ours = TakerOf(shard, members) == options_.identity;
        if (ours == assigned_.contains(shard)) {
          continue;
        }
        changed = true;
        if (ours) {
          assigned_.emplace(shard, std::stop_source());
        } else {
          moved.push_back(std::move(assigned_.extract(shard).mapped()));
        }
      }
      changed_.notify_all();
    }
    if (changed) {
      logging::Info("Shards divided anew", {{"replicas", members.size()}});
    }
    for (std::stop_source& source : moved) {
      source.request_stop();
    }
  }

  void Watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto watched = store_.Watch(
          [this] {
            const base::MutexLock lock(mu_);
            woken_ = true;
            wake_.notify_all();
          },
          stop);
      if (!watched && !stop.stop_requested()) {
        logging::Debug("Watch of the replicas ended", {{"error", watched.error()}});
      }
      (void)options_.clock.SleepFor(options_.renew_period, stop);
    }
  }

  const Options options_;
  MemberStore& store_;
  MemberView view_;            // renewer only
  std::string renewal_error_;  // as view_: the last that was logged
  std::string look_error_;     // the same
  mutable base::Mutex mu_;
  base::CondVar changed_;
  base::CondVar wake_;
  bool woken_ KX_GUARDED_BY(mu_) = false;
  bool has_looked_ KX_GUARDED_BY(mu_) = false;
  std::optional<Refusal> refused_ KX_GUARDED_BY(mu_);
  std::map<int, std::stop_source> assigned_ KX_GUARDED_BY(mu_);
  std::jthread renewer_;
  std::jthread watcher_;
};

Membership::Membership(Options options, MemberStore& store)
    : impl_(std::make_unique<Impl>(std::move(options), store)) {}
Membership::~Membership() { impl_->Stop(); }
void Membership::Start() { impl_->Start(); }
void Membership::Stop() { impl_->Stop(); }
std::optional<std::string> Membership::Problem() const { return impl_->Problem(); }
std::optional<std::stop_token> Membership::AwaitAssigned(int shard,
                                                         const std::stop_token& stop) const {
  return impl_->AwaitAssigned(shard, stop);
}

}  // namespace kubexx::reloader
