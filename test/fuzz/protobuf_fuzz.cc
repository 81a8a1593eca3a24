// Any bytes as the protobuf of any type. What decodes must encode to bytes that decode to the same.

#include "fuzz.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/object_meta.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  // An envelope that names a type chooses it, so that stored objects are seeds.
  const auto envelope = codec::ReadEnvelope(input.rest());
  const codec::TypeSchema* named =
      envelope ? api::Registry().Find(envelope->api_version, envelope->kind) : nullptr;
  const codec::TypeSchema& schema = named != nullptr ? *named : fuzz::TakeType(input);
  const std::string_view message = named != nullptr ? envelope->raw : input.rest();
  static_cast<void>(codec::ScanObjectMeta(codec::Encoding::kProtobuf, message).has_value());
  const fuzz::Object object(schema);
  if (!codec::DecodeProtobuf(schema, message, object.get())) {
    return 0;
  }
  std::string once;
  codec::EncodeProtobuf(schema, object.get(), once);
  const fuzz::Object again(schema);
  fuzz::Require(codec::DecodeProtobuf(schema, once, again.get()).has_value());
  std::string twice;
  codec::EncodeProtobuf(schema, again.get(), twice);
  fuzz::Require(once == twice);
  std::string json;
  codec::EncodeJson(schema, object.get(), json);
  return 0;
}

}  // namespace kubexx
