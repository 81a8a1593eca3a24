#include "shrink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace kubexx::simulation {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kStorm = "storm ";
/// What a run of some hours has; the numbers of later ones have no bit.
constexpr std::size_t kMostStorms = 64;

/// All kinds of something that may be left out, and the bits that say of which it is so.
struct Group {
  std::uint64_t Without::* bits = nullptr;
  std::size_t count = 0;
  std::string (*name)(std::size_t index) = nullptr;
  std::size_t first = 0;
};

template <class Enum>
std::string NameOf(std::size_t index) {
  return std::string(ToString(static_cast<Enum>(index)));
}

std::string NameOfStorm(std::size_t index) { return std::string(kStorm) + std::to_string(index); }

constexpr Group kGroups[] = {
    {.bits = &Without::storms, .count = kMostStorms, .name = &NameOfStorm},
    {.bits = &Without::mishaps, .count = kMishaps, .name = &NameOf<Mishap>},
    {.bits = &Without::faults, .count = kFaults, .name = &NameOf<Fault>, .first = 1},
    {.bits = &Without::acts, .count = kActs, .name = &NameOf<Act>},
};

/// Sets the bit of what is called `name`; false: nothing is.
bool Set(Without& without, std::string_view name) {
  for (const Group& group : kGroups) {
    for (std::size_t i = group.first; i < group.count; ++i) {
      if (group.name(i) == name) {
        without.*group.bits |= std::uint64_t{1} << i;
        return true;
      }
    }
  }
  return false;
}

/// The beginning of what a problem says, without numbers: the same for the same kind.
std::string KindOf(const RunResult& result) {
  std::string kind = result.problem.data();
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  return kind.substr(0, 12);
}

}  // namespace

Result<Without> ParseWithout(std::string_view names) {
  Without without;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, end);
    if (!Set(without, name)) {
      return Fail(Reason::kInvalidConfig, "nothing is called \"" + std::string(name) + "\" here");
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return without;
}

std::string ToString(const Without& without) {
  std::string text;
  for (const Group& group : kGroups) {
    for (std::size_t i = group.first; i < group.count; ++i) {
      if (IsIn(without.*group.bits, i)) {
        text += (text.empty() ? "" : ",") + group.name(i);
      }
    }
  }
  return text;
}

RunOptions Shrink(RunOptions failing, int seconds) {
  failing.tell = false;
  failing.show = false;
  const RunResult whole = RunForked(failing, seconds);
  if (whole.problem[0] == '\0') {
    return failing;
  }
  const std::string kind = KindOf(whole);
  for (const Group& group : kGroups) {
    const bool is_storms = group.bits == &Without::storms;
    for (std::size_t i = group.first; i < group.count && !(is_storms && i >= whole.storms); ++i) {
      RunOptions smaller = failing;
      smaller.without.*group.bits |= std::uint64_t{1} << i;
      const RunResult result = RunForked(smaller, seconds);
      if (result.problem[0] != '\0' && KindOf(result) == kind) {
        failing = smaller;
        std::printf("  without %s: %s\n", group.name(i).c_str(), result.problem.data());
        std::fflush(stdout);
      }
    }
  }
  return failing;
}

}  // namespace kubexx::simulation
