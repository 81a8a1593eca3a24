/// @file
/// KeyedHash: a hash of text that others cannot predict.
#ifndef KUBEXX_BASE_KEYED_HASH_H_
#define KUBEXX_BASE_KEYED_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kubexx::base {

/// Hashes `text` with random numbers that the process draws with its first hash. It serves hash
/// tables whose keys come from outside, such as names of objects: with a hash that everybody can
/// compute, somebody could choose names that all collide, so that each look-up walks over all of
/// them. Go's maps have a seed for the same reason. `chained` is 0, or the hash of the part of the
/// key before `text`. The function is as fast as std::hash. It does not resist somebody who sees
/// hashes, so do not send or log them. Another process has other hashes. Thread-safe.
std::uint64_t KeyedHash(std::string_view text, std::uint64_t chained = 0) noexcept;

/// KeyedHash as the hash of unordered containers of text.
struct KeyedTextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return KeyedHash(text); }
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_KEYED_HASH_H_
