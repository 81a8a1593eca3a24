#include "faults/story.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "kubexx/base/clock.h"

namespace kubexx::faults {

Story::Story(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) {}

Story::~Story() { ::close(file_); }

void Story::Add(std::string_view who, std::string_view what) const {
  const auto now = base::Clock::Real().Wall();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%02d:%02d:%02d.%03d ", parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(millis));
  std::string line = time.data();
  line.append(who).append(who.size() < 8 ? 8 - who.size() : 0, ' ');
  line.append(" ").append(what).append("\n");
  // One call for a line, so that those of several threads do not mix.
  (void)!::write(file_, line.data(), line.size());
}

}  // namespace kubexx::faults
