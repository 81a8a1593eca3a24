#include "kubexx/rest/internal/base64.h"

#include <openssl/evp.h>

#include <cstddef>
#include <vector>

namespace kubexx::rest::internal {

std::string Base64(const std::string& text) {
  std::vector<unsigned char> out(4 * ((text.size() + 2) / 3) + 1);
  const int length =
      EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length)};
}

}  // namespace kubexx::rest::internal
