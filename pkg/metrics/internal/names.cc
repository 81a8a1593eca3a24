#include "kubexx/metrics/internal/names.h"

#include <algorithm>

namespace kubexx::metrics::internal {
namespace {

bool IsName(std::string_view name, bool colons) {
  const auto is_start = [colons](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
  };
  return !name.empty() && is_start(name.front()) && !name.starts_with("__") &&
         std::ranges::all_of(name, [&](char c) { return is_start(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string CheckName(std::string_view name) {
  return IsName(name, true) ? std::string() : "the metric name is not valid";
}

std::string CheckLabelNames(const Labels& labels, bool histogram) {
  for (const auto& [name, value] : labels) {
    if (!IsName(name, false) || (histogram && name == "le")) {
      return "the label name \"" + name + "\" is not valid";
    }
  }
  return {};
}

}  // namespace kubexx::metrics::internal
