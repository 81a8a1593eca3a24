#include "kubexx/cache/index_terms.h"

#include <algorithm>
#include <limits>

namespace kubexx::cache {

std::string EncodeTerm(IndexId index, std::string_view value) {
  std::string term;
  term.reserve(1 + value.size());
  term.push_back(static_cast<char>(index));
  term.append(value);
  return term;
}

bool EncodedTerms::Contains(std::string_view term) const {
  for (const std::string_view each : *this) {
    if (each == term) {
      return true;
    }
  }
  return false;
}

apimachinery::Result<void> EncodedTerms::Append(IndexId index, std::string_view value,
                                                std::string& out) {
  if (value.size() >= std::numeric_limits<std::uint16_t>::max()) {
    return apimachinery::Fail(apimachinery::Reason::kInvalid,
                              "an index value of " + std::to_string(value.size()) +
                                  " bytes is too long; at most 65,534 are kept");
  }
  const auto size = static_cast<std::uint16_t>(value.size() + 1);
  char prefix[kPrefix];
  std::memcpy(prefix, &size, kPrefix);
  out.append(prefix, kPrefix);
  out.push_back(static_cast<char>(index));
  out.append(value);
  return {};
}

}  // namespace kubexx::cache
