/// @file
/// Random256 and IsSameSecret: what secrets are made of, and how they are compared.
#ifndef KUBEXX_CRYPTO_SECRETS_H_
#define KUBEXX_CRYPTO_SECRETS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kubexx::crypto {

/// Returns 256 random bits that nobody can guess; std::nullopt when the system has none.
/// Thread-safe.
std::optional<std::array<std::uint8_t, 32>> Random256();

/// Whether the texts are the same. The time does not tell how much of the two is.
bool IsSameSecret(std::string_view a, std::string_view b);

}  // namespace kubexx::crypto

#endif  // KUBEXX_CRYPTO_SECRETS_H_
