/// @file
/// What happened in a simulation, for people.
#ifndef KUBEXX_TEST_SIMULATION_TIMELINE_H_
#define KUBEXX_TEST_SIMULATION_TIMELINE_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "scheduler.h"

namespace kubexx::simulation {

/// Keeps the last of what happened, and adds all of it to the run's hash. For threads of the
/// simulation, of which one runs at a time.
class Timeline {
 public:
  /// `show`: also writes each line to standard output at once.
  Timeline(Scheduler& scheduler, bool show) : scheduler_(scheduler), show_(show) {}

  /// The calling thread's actor did `what`.
  void Add(std::string_view what) { Add(scheduler_.NameOf(scheduler_.actor()), what); }
  void Add(std::string_view who, std::string_view what);

  /// Virtual time.
  Nanoseconds now() const { return scheduler_.now(); }
  /// The last lines: time, actor, what.
  std::string Tail(std::size_t lines) const;

 private:
  static constexpr std::size_t kKept = 4000;

  struct Line {
    Nanoseconds when = 0;
    std::string who{};
    std::string what{};
  };
  static std::string Text(const Line& line);
  /// Writes it to standard output.
  static void Show(const Line& line);

  Scheduler& scheduler_;
  const bool show_;
  std::deque<Line> lines_{};
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_TIMELINE_H_
