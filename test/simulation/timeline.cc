#include "timeline.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace kubexx::simulation {

namespace {

std::array<char, 32> TimeOf(Nanoseconds when) {
  const Nanoseconds millis = (when - 1000 * kSecond) / 1'000'000;
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%02d:%02d:%02d.%03d ",
                static_cast<int>(millis / 3'600'000), static_cast<int>(millis / 60'000 % 60),
                static_cast<int>(millis / 1000 % 60), static_cast<int>(millis % 1000));
  return time;
}

/// Writes without the C library's buffers and without memory from the heap, so that a run that is
/// shown is the same run.
void WriteOut(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

void Timeline::Show(const Line& line) {
  constexpr std::string_view kSpaces = "            ";
  WriteOut(TimeOf(line.when).data());
  WriteOut(line.who);
  WriteOut(kSpaces.substr(std::min(line.who.size(), kSpaces.size())));
  WriteOut(" ");
  WriteOut(line.what);
  WriteOut("\n");
}

std::string Timeline::Text(const Line& line) {
  std::string text = TimeOf(line.when).data() + line.who;
  text.append(line.who.size() < 12 ? 12 - line.who.size() : 0, ' ').append(" ").append(line.what);
  return text;
}

void Timeline::Add(std::string_view who, std::string_view what) {
  scheduler_.Trace(what);
  lines_.push_back({.when = scheduler_.now(), .who = std::string(who), .what = std::string(what)});
  if (show_) {
    Show(lines_.back());
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
