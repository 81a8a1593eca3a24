#include "kubexx/base/identity.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <random>
#include <string_view>

namespace kubexx::base {

std::string RandomUuid() {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-4xxx-vxxx-xxxxxxxxxxxx";
  std::random_device random;
  std::string out;
  unsigned bits = 0;
  std::size_t left = 0;
  for (const char place : kShape) {
    if (place == '-' || place == '4') {
      out += place;
      continue;
    }
    if (left == 0) {
      bits = random();
      left = sizeof bits * 2;
    }
    const unsigned digit = bits & 0xfU;
    bits >>= 4U;
    --left;
    out += kHex[place == 'v' ? (0x8U | (digit & 0x3U)) : digit];
  }
  return out;
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name.data();
}

}  // namespace kubexx::base
