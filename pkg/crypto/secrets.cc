#include "kubexx/crypto/secrets.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace kubexx::crypto {

std::optional<std::array<std::uint8_t, 32>> Random256() {
  std::array<std::uint8_t, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return std::nullopt;
  }
  return random;
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace kubexx::crypto
