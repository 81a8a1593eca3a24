/// @file
/// The "k8s\0" envelope of stored and transmitted protobuf objects: runtime.Unknown.
#ifndef KUBEXX_CODEC_ENVELOPE_H_
#define KUBEXX_CODEC_ENVELOPE_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// The four bytes in front of every envelope.
inline constexpr std::string_view kEnvelopeMagic{"k8s\0", 4};

/// runtime.Unknown. The views refer to the bytes given to ReadEnvelope.
struct Envelope {
  std::string_view api_version{};
  std::string_view kind{};
  std::string_view raw{};  ///< the object's message
  std::string_view content_encoding{};
  std::string_view content_type{};
};

/// Takes an envelope apart, copying nothing. kMalformed when the magic or a field is wrong.
apimachinery::Result<Envelope> ReadEnvelope(std::string_view bytes);

/// Appends magic and Unknown around `raw`, as apimachinery's protobuf serializer writes it.
void WriteEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw,
                   std::string& out);

/// The same with the names of `schema`, a root kind; a kind without TypeMeta of its own
/// (WatchEvent) gets empty names.
void WriteEnvelope(const TypeSchema& schema, std::string_view raw, std::string& out);

/// "v1" or "apps/v1" of a root kind.
std::string ApiVersionOf(const TypeSchema& schema);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_ENVELOPE_H_
