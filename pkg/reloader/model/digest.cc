#include "kubexx/reloader/model/digest.h"

#include <algorithm>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::reloader {
namespace {

// Digests are written in small letters, and compared as texts.
int DigitOf(char c) { return base::IsUpper(c) ? -1 : base::HexValue(c); }

}  // namespace

std::string Digest::ToString() const { return base::ToHex(bytes); }

std::optional<Digest> Digest::Parse(std::string_view text) {
  Digest digest;
  if (text.size() != digest.bytes.size() * 2) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = DigitOf(text[2 * i]);
    const int low = DigitOf(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

// Compares a.key + "=" + a.value with the same text of b, as unsigned bytes. It does not join the
// strings, because values may be secret.
bool DigestBuilder::Before(const Item& a, const Item& b) {
  const auto at = [](const Item& item, std::size_t i) {
    if (i < item.key.size()) {
      return item.key[i];
    }
    return i == item.key.size() ? '=' : item.value[i - item.key.size() - 1];
  };
  const std::size_t a_size = a.key.size() + 1 + a.value.size();
  const std::size_t b_size = b.key.size() + 1 + b.value.size();
  for (std::size_t i = 0; i < std::min(a_size, b_size); ++i) {
    const auto x = static_cast<unsigned char>(at(a, i));
    const auto y = static_cast<unsigned char>(at(b, i));
    if (x != y) {
      return x < y;
    }
  }
  return a_size < b_size;
}

Digest DigestBuilder::Finish() {
  std::ranges::sort(items_, Before);
  crypto::Sha1Stream sha1;
  bool first = true;
  for (const Item& item : items_) {
    if (!first) {
      sha1.Update(";");
    }
    first = false;
    sha1.Update(item.key);
    sha1.Update("=");
    sha1.Update(item.value);
  }
  items_.clear();
  return {.bytes = sha1.Finish()};
}

apimachinery::Result<void> CheckDigests() {
  if (!crypto::HasSha1()) {
    return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                              "OpenSSL has no SHA-1, which the operator needs to compare data; "
                              "perhaps it is configured for approved algorithms (FIPS) only");
  }
  return {};
}

Digest DigestOf(std::string_view text) { return {.bytes = crypto::Sha1(text)}; }

}  // namespace kubexx::reloader
