/// @file
/// KeyedHash: a hash of text that others cannot foresee.
#ifndef KUBEXX_BASE_KEYED_HASH_H_
#define KUBEXX_BASE_KEYED_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kubexx::base {

/// Hashes `text` with numbers that the process has drawn when it first hashed something. For hash
/// tables whose keys come from outside, as names of objects do: with a hash that everybody can
/// compute, somebody could choose names that all meet in one place of the table, where each look-up
/// then walks over all of them. Go's maps have a seed for the same reason. `chained` is 0, or the
/// hash of what comes before `text` in the key. As fast as std::hash; it does not resist somebody
/// who sees hashes, so do not send or log them, and they mean nothing to another process.
/// Thread-safe.
std::uint64_t KeyedHash(std::string_view text, std::uint64_t chained = 0) noexcept;

/// The hash of unordered containers of text.
struct KeyedTextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return KeyedHash(text); }
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_KEYED_HASH_H_
