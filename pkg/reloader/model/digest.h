/// @file
/// Digests of sources' data. Everywhere else in the operator, a digest represents the data.
#ifndef KUBEXX_RELOADER_MODEL_DIGEST_H_
#define KUBEXX_RELOADER_MODEL_DIGEST_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// A SHA-1 digest. A value type. The default is all zeros, which no data has in practice.
struct Digest {
  std::array<std::uint8_t, 20> bytes{};
  /// 40 lowercase hexadecimal digits, as in the environment variables.
  std::string ToString() const;
  /// The inverse of ToString. Returns std::nullopt for any other text.
  static std::optional<Digest> Parse(std::string_view text);
  auto operator<=>(const Digest&) const = default;
};

/// Means "there was no such source" where a digest is expected. No data has it in practice.
inline constexpr Digest kNoSource{};

/// Computes the digest that stakater/Reloader computes: SHA-1 over items "key=value", which are
/// sorted bytewise as whole strings and joined with ';'. Neither copies nor keeps values. Not
/// thread-safe.
class DigestBuilder {
 public:
  /// Adds an item. Both views must stay valid until Finish.
  void Add(std::string_view key, std::string_view value) { items_.push_back({key, value}); }
  /// Returns the digest of the items that were added. Call it once.
  Digest Finish();

 private:
  struct Item {
    std::string_view key;
    std::string_view value;
  };
  static bool Before(const Item& a, const Item& b);

  std::vector<Item> items_;
};

/// Fails when no digest can be computed because OpenSSL allows only approved algorithms (FIPS),
/// which SHA-1 is not. Computing a digest nevertheless aborts the process, so call this first.
apimachinery::Result<void> CheckDigests();

/// The SHA-1 digest of `text` as it is.
Digest DigestOf(std::string_view text);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_DIGEST_H_
