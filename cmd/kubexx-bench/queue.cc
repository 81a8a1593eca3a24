#include "kubexx/workqueue/queue.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "cost.h"

namespace kubexx::bench {
namespace {

using workqueue::Key;

/// Keys of one thread when there is but one.
constexpr std::size_t kKeysOfOneThread = 1024;

std::string Padded(std::size_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

// With several threads a key that is still with another one would be no new key when it is added
// again, and in the end there would be fewer keys than threads that wait for one: all are distinct
// then.
std::vector<Key> KeysOf(std::size_t thread, std::size_t count) {
  std::vector<Key> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(
        {.kind = {},
         .object = {.namespace_ = "team-" + std::to_string(i % 100),
                    .name = "payments-web-7c9d8f-" + std::to_string(thread) + "-" + Padded(i, 7)}});
  }
  return keys;
}

void Work(workqueue::Queue& queue, const std::vector<Key>& keys, std::size_t operations) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < operations; ++i) {
    queue.Add(keys[next]);
    next = next + 1 == keys.size() ? 0 : next + 1;
    const workqueue::Queue::Item taken = queue.Get();  // its end is Done
  }
}

}  // namespace

apimachinery::Result<void> Queue(const Options& options) {
  const auto threads = static_cast<std::size_t>(options.threads);
  const std::size_t each = static_cast<std::size_t>(options.operations) / threads;
  workqueue::Queue queue({});
  for (std::int64_t i = 0; i < options.waiting; ++i) {
    queue.Add({.kind = {},
               .object = {.namespace_ = "team-1",
                          .name = "waiting-" + Padded(static_cast<std::size_t>(i), 8)}});
  }
  std::vector<std::vector<Key>> keys;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    keys.push_back(KeysOf(thread, threads == 1 ? kKeysOfOneThread : each));
  }
  const Meter meter;
  std::vector<std::jthread> workers;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&queue, &mine = keys[thread], each] { Work(queue, mine, each); });
  }
  workers.clear();
  const double wall = meter.WallSeconds();
  const double cpu = meter.CpuSeconds();
  const auto total = static_cast<double>(each * threads);

  Line line("queue");
  line.Add("threads", std::uint64_t{threads});
  line.Add("waiting", static_cast<std::uint64_t>(options.waiting));
  line.Add("operations", std::uint64_t{each * threads});
  line.Add("wall_s", wall, 3).Add("cpu_s", cpu, 3);
  line.Add("ops_per_s", total / wall, 0).Add("ops_per_cpu_s", total / cpu, 0);
  line.Add("rss_mb", ResidentMb(), 1);
  line.Print();
  return {};
}

}  // namespace kubexx::bench
