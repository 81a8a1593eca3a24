/// @file
/// KeptMemory: what readers of streams do with the memory that they keep.
#ifndef KUBEXX_CODEC_KEPT_MEMORY_H_
#define KUBEXX_CODEC_KEPT_MEMORY_H_

#include <cstdint>

namespace kubexx::codec {

/// Whether a reader overwrites what it has kept of an object once the object was read. The streams
/// of Secrets need that. Others do without: it is one more pass over what they bring.
enum class KeptMemory : std::uint8_t { kWiped, kPlain };

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_KEPT_MEMORY_H_
