/// @file
/// What this process has cost so far, and one line of results.
#ifndef KUBEXX_CMD_KUBEXX_BENCH_COST_H_
#define KUBEXX_CMD_KUBEXX_BENCH_COST_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubexx::bench {

inline constexpr double kMicrosecondsPerSecond = 1e6;

/// Time on the wall and on the processors since it was made.
class Meter {
 public:
  Meter();
  double WallSeconds() const;
  /// User and system time of all threads of the process.
  double CpuSeconds() const;

 private:
  std::chrono::steady_clock::time_point began_;
  double began_cpu_;
};

/// User and system time of the process since it started, in seconds.
double CpuSeconds();
/// Resident memory of the process, and the largest it ever was, in MiB; 0 where there is no /proc.
double ResidentMb();
double PeakMb();

/// One JSON object on one line. Values are numbers and plain words that need no escaping.
class Line {
 public:
  explicit Line(std::string_view command);
  Line& Add(std::string_view name, std::string_view word);
  Line& Add(std::string_view name, std::uint64_t number);
  /// `digits` after the decimal point.
  Line& Add(std::string_view name, double number, int digits);
  /// Writes it to standard output.
  void Print() const;
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace kubexx::bench

#endif  // KUBEXX_CMD_KUBEXX_BENCH_COST_H_
