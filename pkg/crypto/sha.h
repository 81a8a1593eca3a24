/// @file
/// Sha1, Sha256 and Sha512: the Secure Hash Algorithms of FIPS 180-4; and HmacSha256.
#ifndef KUBEXX_CRYPTO_SHA_H_
#define KUBEXX_CRYPTO_SHA_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace kubexx::crypto {

/// What Sha1 returns; base::ToHex writes it as text.
using Sha1Sum = std::array<std::uint8_t, 20>;
/// What Sha256 returns.
using Sha256Sum = std::array<std::uint8_t, 32>;
/// What Sha512 returns.
using Sha512Sum = std::array<std::uint8_t, 64>;

/// Returns the SHA-256 of `text`, and leaves no copy of `text` in memory. It ends the program when
/// memory runs out; no text makes it fail. Thread-safe.
Sha256Sum Sha256(std::string_view text);
/// Returns the SHA-512 of `text`, otherwise as Sha256.
Sha512Sum Sha512(std::string_view text);
/// Returns the SHA-1 of `text`, otherwise as Sha256. It also ends the program when HasSha1 is
/// false. People can make two texts with the same SHA-1, so use it only where a protocol asks for
/// it, or where nobody gains from such texts.
Sha1Sum Sha1(std::string_view text);

/// Returns the HMAC (RFC 2104) of `text` with SHA-256: who does not know `key` cannot compute it.
/// Otherwise as Sha256.
Sha256Sum HmacSha256(std::string_view key, std::string_view text);

/// Whether the OpenSSL of this machine has SHA-1, which a configuration for approved algorithms
/// may leave out. Thread-safe.
bool HasSha1();

/// @cond
struct FreeSha {
  void operator()(void* context) const;
};
/// @endcond

/// The SHA-1 of a text that comes in parts, so that a secret text need not be put together. It ends
/// the program where Sha1 does. Not thread-safe.
class Sha1Stream {
 public:
  Sha1Stream();

  /// Takes the next part of the text.
  void Update(std::string_view text);
  /// Returns the hash of all parts, in their order. May be called once, and nothing after it.
  Sha1Sum Finish();

 private:
  std::unique_ptr<void, FreeSha> context_;  // OpenSSL's
};

}  // namespace kubexx::crypto

#endif  // KUBEXX_CRYPTO_SHA_H_
