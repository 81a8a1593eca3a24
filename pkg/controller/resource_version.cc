#include "kubexx/controller/resource_version.h"

#include <algorithm>

#include "kubexx/base/ascii.h"

namespace kubexx::controller {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && (text.front() != '0' || text.size() == 1) &&
         std::ranges::all_of(text, base::IsDigit);
}

}  // namespace

std::optional<std::strong_ordering> CompareResourceVersions(std::string_view a,
                                                            std::string_view b) {
  if (!IsNumber(a) || !IsNumber(b)) {
    return std::nullopt;
  }
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

}  // namespace kubexx::controller
