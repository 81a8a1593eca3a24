#include "kubexx/metrics/internal/proc_stat.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <vector>

namespace kubexx::metrics::internal {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string_view> SplitAtSpaces(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (end > 0) {
      words.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::optional<ProcStat> ParseProcStat(std::string_view line) {
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto words = SplitAtSpaces(line.substr(name_end + 1));
  // Numbered as in proc(5), where the first word after the name is field 3.
  bool ok = true;
  const auto field = [&](std::size_t number) -> std::uint64_t {
    const std::size_t index = number - 3;
    const auto value = index < words.size() ? ParseNumber(words[index]) : std::nullopt;
    ok = ok && value.has_value();
    return value.value_or(0);
  };
  const ProcStat stat{.user_ticks = field(14),
                      .system_ticks = field(15),
                      .threads = field(20),
                      .start_ticks = field(22),
                      .virtual_bytes = field(23),
                      .resident_pages = field(24)};
  return ok ? std::optional(stat) : std::nullopt;
}

std::optional<std::uint64_t> ParseBootTime(std::string_view stat) {
  constexpr std::string_view kKey = "btime ";
  std::size_t at = stat.starts_with(kKey) ? 0 : stat.find("\nbtime ");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  at += stat[at] == '\n' ? kKey.size() + 1 : kKey.size();
  const std::string_view rest = stat.substr(at);
  return ParseNumber(rest.substr(0, rest.find('\n')));
}

}  // namespace kubexx::metrics::internal
