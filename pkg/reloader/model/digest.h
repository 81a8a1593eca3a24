/// @file
/// The digest of a source's data, which stands for the data everywhere else.
#ifndef KUBEXX_RELOADER_MODEL_DIGEST_H_
#define KUBEXX_RELOADER_MODEL_DIGEST_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexx::reloader {

/// A SHA-1. A value type; the default is all zeros, which no data has in practice.
struct Digest {
  std::array<std::uint8_t, 20> bytes{};
  /// 40 lowercase hexadecimal digits: the value of the environment variables.
  std::string ToString() const;
  /// The inverse of ToString; nothing for any other text.
  static std::optional<Digest> Parse(std::string_view text);
  auto operator<=>(const Digest&) const = default;
};

/// Stands for "there was no such source" where a digest is expected. No data has it in practice.
inline constexpr Digest kNoSource{};

/// Computes the digest that stakater/Reloader computes: SHA-1 over "key=value" items, sorted
/// bytewise as whole strings and joined with ';'. Values are neither copied nor kept. Not
/// thread-safe.
class DigestBuilder {
 public:
  /// Adds an item. Both views must stay valid until Finish.
  void Add(std::string_view key, std::string_view value) { items_.push_back({key, value}); }
  /// The digest of the items added. Call once.
  Digest Finish();

 private:
  struct Item {
    std::string_view key;
    std::string_view value;
  };
  static bool Before(const Item& a, const Item& b);

  std::vector<Item> items_;
};

/// SHA-1 of `text` as it is.
Digest DigestOf(std::string_view text);

/// Standard base64 with padding, as binaryData enters the digest.
std::string EncodeBase64(std::string_view bytes);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_DIGEST_H_
