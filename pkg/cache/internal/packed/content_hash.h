/// @file
/// A fast hash of an object's bytes.
#ifndef KUBEXX_CACHE_INTERNAL_PACKED_CONTENT_HASH_H_
#define KUBEXX_CACHE_INTERNAL_PACKED_CONTENT_HASH_H_

#include <cstdint>
#include <string_view>

namespace kubexx::cache::internal {

/// A 64-bit hash of an object's content. It is the same in every process of one byte order, and
/// several times as fast as std::hash on objects of kilobytes. It does not resist deliberate
/// collisions. They do no harm, because two objects count as equal only if their resourceVersions,
/// which the server assigns, are equal, too.
std::uint64_t ContentHash(std::string_view bytes);

}  // namespace kubexx::cache::internal

#endif  // KUBEXX_CACHE_INTERNAL_PACKED_CONTENT_HASH_H_
