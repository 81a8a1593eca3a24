#include "kubexx/apiserver/storage/etcd3/internal/version.h"

#include <array>
#include <charconv>
#include <system_error>

namespace kubexx::apiserver::storage::etcd3::internal {

bool TellsProgressTruly(std::string_view version) {
  using Number = std::array<int, 3>;
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
  return number >= Number{3, 5, 13} || (number >= Number{3, 4, 31} && number < Number{3, 5, 0});
}

}  // namespace kubexx::apiserver::storage::etcd3::internal
