// Many candidates, one server and a bad world, in simulated time: at no moment do two of them lead.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/base/testing/large_input.h"
#include "kubexx/leaderelection/election.h"

namespace kubexx::leaderelection {
namespace {

using namespace std::chrono_literals;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using base::Duration;
using Kind = Action::Kind;

/// How bad the world is.
struct World {
  std::size_t candidates = 4;
  /// Clocks run at most this much faster than others; what Config::LeadLimit promises to bear is
  /// lease_duration / LeadLimit().
  double clock_ratio = 1;
  /// Stops and crashes happen, messages get lost or late, processes halt, until then; afterwards
  /// all is well for `quiet`.
  Duration bad = 600s;
  Duration quiet = 120s;
};

/// What a run showed.
struct Outcome {
  int overlaps = 0;          ///< two candidates led, by their own clocks
  int released_at_work = 0;  ///< a lease was released whose holder still worked
  int leaders = 0;           ///< times that somebody began to lead
  int releases = 0;
  bool led_at_end = false;
};

class Simulation {
 public:
  Simulation(Config config, World world, std::uint64_t seed)
      : config_(std::move(config)), world_(world), random_(seed), nodes_(world.candidates) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      At(Millis(0, 3000), [this, i] { Begin(i); });
    }
  }

  Outcome Run() {
    const Duration end = world_.bad + world_.quiet;
    while (!events_.empty() && events_.begin()->first <= end) {
      auto event = events_.extract(events_.begin());
      now_ = event.key();
      event.mapped()();
      CountLeaders();
    }
    now_ = end;
    for (const Node& node : nodes_) {
      outcome_.led_at_end = outcome_.led_at_end || Leads(node);
    }
    return outcome_;
  }

 private:
  struct Node {
    std::optional<Election> election{};
    int life = 0;  ///< counts restarts: what was meant for an earlier life is dropped
    double rate = 1;
    Duration offset{0};
    bool working = false;
    std::uint64_t plan = 0;  ///< the tick that counts
  };

  bool Bad() const { return now_ < world_.bad; }
  double Random() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool Chance(double probability) { return Random() < probability; }
  Duration Millis(int from, int to) {
    return std::chrono::milliseconds(std::uniform_int_distribution<int>(from, to)(random_));
  }
  void At(Duration delay, std::function<void()> what) {
    events_.emplace(now_ + delay, std::move(what));
  }

  /// The time that passes on the way from one process to another.
  Duration Latency() {
    if (!Bad()) {
      return Millis(1, 20);
    }
    return Chance(0.1) ? Millis(500, 16000) : Millis(0, 300);
  }

  base::TimePoint Local(const Node& node) const {
    return base::TimePoint() + 1000h + node.offset +
           Duration(std::llround(static_cast<double>(now_.count()) * node.rate));
  }
  /// The true time at which the node's clock shows `local`, from now.
  Duration Until(const Node& node, base::TimePoint local) const {
    const auto left = static_cast<double>((local - Local(node)).count()) / node.rate;
    return Duration(std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(left))) + 1);
  }
  bool Leads(const Node& node) const { return node.election && node.election->Leads(Local(node)); }
  void CountLeaders() {
    int leaders = 0;
    for (const Node& node : nodes_) {
      leaders += Leads(node) ? 1 : 0;
    }
    outcome_.overlaps += leaders > 1 ? 1 : 0;
  }

  void Begin(std::size_t i) {
    Node& node = nodes_[i];
    ++node.life;
    node.working = false;
    node.rate = std::pow(world_.clock_ratio, Random() - 0.5);
    node.offset = Millis(0, 100000000);
    Config config = config_;
    config.identity = "node-" + std::to_string(i) + "-" + std::to_string(node.life);
    config.seed = random_() | 1U;
    node.election.emplace(config);
    At(Millis(0, 120000), InLife(i, [this, i] { End(i); }));
    Step(i, Tick());
  }

  void End(std::size_t i) {
    if (!Bad()) {
      return;
    }
    if (Chance(0.5)) {
      return Step(i, Stop());
    }
    nodes_[i].election.reset();  // it crashes
    Restart(i);
  }
  void Restart(std::size_t i) {
    At(Millis(100, 20000), InLife(i, [this, i] { Begin(i); }));
  }

  /// Drops the call when the node has been restarted since.
  std::function<void()> InLife(std::size_t i, std::function<void()> call) {
    return [this, i, life = nodes_[i].life, call = std::move(call)] {
      if (nodes_[i].life == life) {
        call();
      }
    };
  }

  void Step(std::size_t i, Input input) {
    Node& node = nodes_[i];
    if (!node.election) {
      return;
    }
    const base::WallTime wall(
        std::chrono::duration_cast<base::WallTime::duration>(Local(node).time_since_epoch()));
    for (const Action& action :
         node.election->Step(std::move(input), {.steady = Local(node), .wall = wall})) {
      Execute(i, action);
    }
    const base::TimePoint wake = node.election->wake();
    const std::uint64_t plan = ++node.plan;
    if (wake != base::TimePoint::max()) {
      // A halted process, or one that is not scheduled, sees its time late.
      const Duration late = Bad() && Chance(0.05) ? Millis(0, 20000) : Duration(0);
      At(Until(node, wake) + late, InLife(i, [this, i, plan] {
           if (nodes_[i].plan == plan) {
             Step(i, Tick());
           }
         }));
    }
  }

  void Execute(std::size_t i, const Action& action) {
    Node& node = nodes_[i];
    switch (action.kind) {
      case Kind::kGet:
      case Kind::kCreate:
      case Kind::kUpdate:
        return Send(i, action);
      case Kind::kStartWork:
        ++outcome_.leaders;
        node.working = true;
        return;
      case Kind::kStopWork:
        return At(Millis(0, 6000), InLife(i, [this, i] {
                    nodes_[i].working = false;
                    Step(i, WorkEnded());
                  }));
      case Kind::kFinish:
        node.working = false;
        return Restart(i);
      case Kind::kCancel:  // what is on its way stays on its way: the worst that can happen
      case Kind::kNewLeader:
      case Kind::kSlowPath:
      case Kind::kLost:
        return;
    }
  }

  void Send(std::size_t i, const Action& action) {
    if (Bad() && Chance(0.1)) {  // lost on the way there; half of the time the sender hears of it
      if (Chance(0.5)) {
        ReplyLater(i, action.op, Fail(Reason::kUnavailable, "lost"));
      }
      return;
    }
    // Not InLife: the message goes on when its sender has died.
    At(Latency(), [this, i, life = nodes_[i].life, action] {
      Result<Lease> result = Serve(i, life, action);
      if (nodes_[i].life != life || (Bad() && Chance(0.1))) {
        return;
      }
      if (Bad() && Chance(0.05)) {
        result = Fail(Reason::kUnavailable, "the reply was lost");
      }
      ReplyLater(i, action.op, std::move(result));
    });
  }

  void ReplyLater(std::size_t i, std::uint64_t op, Result<Lease> result) {
    At(Latency(), InLife(i, [this, i, op, result = std::move(result)]() mutable {
         const base::TimePoint came_at = Local(nodes_[i]);
         // The answer lies there until the thread gets its turn.
         const Duration late = Bad() && Chance(0.1) ? Millis(0, 16000) : Duration(0);
         At(late, InLife(i, [this, i, op, came_at, result = std::move(result)]() mutable {
              Step(i, Reply{.op = op, .lease = std::move(result), .came_at = came_at});
            }));
       }));
  }

  Result<Lease> Serve(std::size_t i, int life, const Action& action) {
    if (Bad() && Chance(0.02)) {
      return Fail(Reason::kInternalError, "server error", 500);
    }
    if (action.kind == Kind::kCreate) {
      if (stored_) {
        return Fail(Reason::kAlreadyExists, "exists", 409);
      }
      return Store(action.lease);
    }
    if (!stored_) {
      return Fail(Reason::kNotFound, "none", 404);
    }
    if (action.kind == Kind::kGet) {
      return *stored_;
    }
    if (stored_->metadata.resource_version != action.lease.metadata.resource_version) {
      return Fail(Reason::kConflict, "changed", 409);
    }
    if (action.lease.spec.holder_identity == "") {
      ++outcome_.releases;
      const bool at_work = nodes_[i].life == life && nodes_[i].working;
      outcome_.released_at_work += at_work ? 1 : 0;
    }
    return Store(action.lease);
  }

  Lease Store(Lease lease) {
    lease.metadata.resource_version = std::to_string(++version_);
    stored_ = lease;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!Bad() || Chance(0.7)) {  // else this watch is broken; a late one comes out of order
        At(Latency(), InLife(i, [this, i, lease] { Step(i, Seen{.lease = lease}); }));
      }
    }
    return lease;
  }

  const Config config_;
  const World world_;
  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::multimap<Duration, std::function<void()>> events_{};
  Duration now_{0};
  std::optional<Lease> stored_{};
  std::int64_t version_ = 0;
  Outcome outcome_{};
};

/// The defaults, or some other valid times.
Config SomeConfig(std::uint64_t seed) {
  Config config;
  config.identity = "set for each candidate";
  if (seed % 2 == 0) {
    return config;
  }
  std::mt19937_64 random(seed);
  const auto pick = [&random](int from, int to) {
    return std::chrono::milliseconds(std::uniform_int_distribution<int>(from, to)(random));
  };
  config.lease_duration = pick(2000, 20000);
  config.renew_deadline = config.lease_duration * pick(300, 950).count() / 1000;
  config.retry_period = config.renew_deadline * pick(50, 800).count() / 1000;
  return config;
}

double BearableRatio(const Config& config) {
  return std::chrono::duration<double>(config.lease_duration) /
         std::chrono::duration<double>(config.LeadLimit());
}

TEST(ElectionModel, NeverHasTwoLeadersAndFindsOneWhenTheWorldIsWell) {
  constexpr int kSeeds = base::testing::LargeInput(200);
  const std::uint64_t first = std::random_device{}();
  std::cout << "seeds from " << first << "\n";
  int leaders = 0;
  int releases = 0;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Config config = SomeConfig(seed);
    ASSERT_TRUE(config.Validate()) << config.Validate().error().ToString();
    const Outcome outcome =
        Simulation(config, {.clock_ratio = BearableRatio(config) * 0.999}, seed).Run();
    ASSERT_EQ(outcome.overlaps, 0);
    ASSERT_EQ(outcome.released_at_work, 0);
    ASSERT_TRUE(outcome.led_at_end);
    leaders += outcome.leaders;
    releases += outcome.releases;
  }
  EXPECT_GT(leaders, 5 * kSeeds) << "too little happened for the test to mean anything";
  EXPECT_GT(releases, kSeeds);
}

// Shows that the model would notice: clocks that differ more than is promised do give two leaders.
TEST(ElectionModel, SeesTwoLeadersWhenClocksDifferTooMuch) {
  int overlaps = 0;
  for (std::uint64_t seed = 2; seed < 80; seed += 2) {
    const Config config = SomeConfig(seed);
    overlaps += Simulation(config, {.clock_ratio = BearableRatio(config) * 3}, seed).Run().overlaps;
  }
  EXPECT_GT(overlaps, 0);
}

TEST(ElectionModel, IsTheSameForTheSameSeed) {
  const auto run = [] { return Simulation(SomeConfig(5), {.clock_ratio = 1.1}, 5).Run(); };
  EXPECT_EQ(run().leaders, run().leaders);
  EXPECT_EQ(run().releases, run().releases);
}

}  // namespace
}  // namespace kubexx::leaderelection
