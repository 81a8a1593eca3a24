#include "cost.h"

#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace kubexx::bench {
namespace {

constexpr double kKibPerMib = 1024;

double StatusMb(std::string_view field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) {
      std::istringstream rest(line.substr(field.size()));
      double kib = 0;
      rest >> kib;
      return kib / kKibPerMib;
    }
  }
  return 0;
}

}  // namespace

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) /
             kMicrosecondsPerSecond;
}

double ResidentMb() { return StatusMb("VmRSS:"); }
double PeakMb() { return StatusMb("VmHWM:"); }

Meter::Meter() : began_(std::chrono::steady_clock::now()), began_cpu_(bench::CpuSeconds()) {}

double Meter::WallSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

double Meter::CpuSeconds() const { return bench::CpuSeconds() - began_cpu_; }

Line::Line(std::string_view command) : text_("{\"program\":\"kubexx\"") { Add("command", command); }

Line& Line::Add(std::string_view name, std::string_view word) {
  text_.append(",\"").append(name).append("\":\"").append(word).append("\"");
  return *this;
}

Line& Line::Add(std::string_view name, std::uint64_t number) {
  text_.append(",\"").append(name).append("\":").append(std::to_string(number));
  return *this;
}

Line& Line::Add(std::string_view name, double number, int digits) {
  std::array<char, 64> shown{};
  std::snprintf(shown.data(), shown.size(), "%.*f", digits, number);
  text_.append(",\"").append(name).append("\":").append(shown.data());
  return *this;
}

void Line::Print() const {
  std::printf("%s\n", text().c_str());
  std::fflush(stdout);
}

}  // namespace kubexx::bench
