#include "timeline.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace kubexx::simulation {

std::string Timeline::Text(const Line& line) {
  const Nanoseconds millis = (line.when - 1000 * kSecond) / 1'000'000;
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%02d:%02d:%02d.%03d ",
                static_cast<int>(millis / 3'600'000), static_cast<int>(millis / 60'000 % 60),
                static_cast<int>(millis / 1000 % 60), static_cast<int>(millis % 1000));
  std::string text = time.data() + line.who;
  text.append(line.who.size() < 12 ? 12 - line.who.size() : 0, ' ').append(" ").append(line.what);
  return text;
}

void Timeline::Add(std::string_view who, std::string_view what) {
  scheduler_.Trace(what);
  lines_.push_back({.when = scheduler_.now(), .who = std::string(who), .what = std::string(what)});
  if (show_) {
    std::fprintf(stdout, "%s\n", Text(lines_.back()).c_str());
  }
  if (lines_.size() > kKept) {
    lines_.pop_front();
  }
}

std::string Timeline::Tail(std::size_t lines) const {
  std::string text;
  for (std::size_t i = lines_.size() - std::min(lines, lines_.size()); i < lines_.size(); ++i) {
    text += Text(lines_[i]) + "\n";
  }
  return text;
}

}  // namespace kubexx::simulation
