/// @file
/// The "k8s\0" envelope, runtime.Unknown, in which protobuf objects are stored and sent.
#ifndef KUBEXX_CODEC_ENVELOPE_H_
#define KUBEXX_CODEC_ENVELOPE_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/schema.h"

namespace kubexx::codec {

/// The four bytes at the beginning of every envelope.
inline constexpr std::string_view kEnvelopeMagic{"k8s\0", 4};

/// The fields of runtime.Unknown. The views refer to the bytes that were given to ReadEnvelope.
struct Envelope {
  std::string_view api_version{};
  std::string_view kind{};
  std::string_view raw{};  ///< the object's message
  std::string_view content_encoding{};
  std::string_view content_type{};
};

/// Reads an envelope without copying anything. Returns kMalformed if the first four bytes or a
/// field are wrong.
apimachinery::Result<Envelope> ReadEnvelope(std::string_view bytes);

/// Reads the type in the first field of an envelope into `envelope`. False for bad bytes.
bool ReadTypeMeta(std::string_view bytes, Envelope& envelope);

/// Appends an envelope around `raw`, as apimachinery's protobuf serializer writes it.
void WriteEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw,
                   std::string& out);

/// The same with the apiVersion and kind of `schema`, a root kind. Both are empty for a kind
/// without a TypeMeta (WatchEvent).
void WriteEnvelope(const TypeSchema& schema, std::string_view raw, std::string& out);

/// Returns the apiVersion of a root kind, such as "v1" or "apps/v1".
std::string ApiVersionOf(const TypeSchema& schema);

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_ENVELOPE_H_
