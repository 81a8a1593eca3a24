#include "kubexx/apiserver/endpoints/validation/workloads/time_zones.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kZones = "/usr/share/zoneinfo/";
constexpr std::size_t kMaxPartBytes = 14;
constexpr std::string_view kMark = "TZif";

bool IsPart(std::string_view part) {
  return !part.empty() && part.size() <= kMaxPartBytes && part != "." && part != ".." &&
         !part.starts_with('-') && std::ranges::all_of(part, [](char c) {
           return base::IsAlphanumeric(c) || c == '.' || c == '-' || c == '_' || c == '+';
         });
}

bool AreParts(std::string_view name) {
  for (;;) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    if (!IsPart(name.substr(0, slash))) {
      return false;
    }
    if (slash == name.size()) {
      return true;
    }
    name.remove_prefix(slash + 1);
  }
}

bool IsKnown(const std::string& name) {
  std::error_code error;
  if (name == "UTC" || !std::filesystem::is_directory(kZones, error)) {
    return true;
  }
  std::array<char, kMark.size()> begin{};
  std::ifstream file(kZones + name, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kMark;
}

}  // namespace

std::string TimeZoneProblem(std::string_view name) {
  if (name.empty()) {
    return "timeZone must be nil or non-empty string";
  }
  if (base::ToLower(name) == "local") {
    return "must be an explicit time zone";
  }
  return AreParts(name) && IsKnown(std::string(name)) ? ""
                                                      : "unknown time zone " + std::string(name);
}

}  // namespace kubexx::apiserver
