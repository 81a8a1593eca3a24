#include "kubexx/apiserver/storage/etcd3/internal/version.h"

#include <array>
#include <charconv>
#include <system_error>

namespace kubexx::apiserver::storage::etcd3::internal {

namespace {

using Number = std::array<int, 3>;

/// Whether the version is of a release without the fault. Returns true for a text that is not a
/// version.
bool IsFrom(std::string_view version, const Number& of_3_4, const Number& later) {
  Number number{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& part : number) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) {
      return true;
    }
    at = next == end ? end : next + 1;
  }
  return number >= later || (number >= of_3_4 && number < Number{3, 5, 0});
}

}  // namespace

bool TellsProgressTruly(std::string_view version) { return IsFrom(version, {3, 4, 25}, {3, 5, 8}); }

bool TellsProgressAlways(std::string_view version) {
  return IsFrom(version, {3, 4, 31}, {3, 5, 13});
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
