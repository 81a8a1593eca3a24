// Any text as the JSON of any type. What decodes must encode to JSON that decodes to the same, also
// by way of protobuf.

#include "fuzz.h"
#include "kubexx/codec/object_meta.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const codec::TypeSchema& schema = fuzz::TakeType(input);
  static_cast<void>(codec::ScanObjectMeta(codec::Encoding::kJson, input.rest()).has_value());
  const fuzz::Object object(schema);
  if (!codec::DecodeJson(schema, input.rest(), object.get())) {
    return 0;
  }
  std::string once;
  codec::EncodeJson(schema, object.get(), once);
  const fuzz::Object again(schema);
  fuzz::Require(codec::DecodeJson(schema, once, again.get()).has_value());
  std::string twice;
  codec::EncodeJson(schema, again.get(), twice);
  fuzz::Require(once == twice);
  std::string protobuf;
  codec::EncodeProtobuf(schema, object.get(), protobuf);
  const fuzz::Object third(schema);
  fuzz::Require(codec::DecodeProtobuf(schema, protobuf, third.get()).has_value());
  return 0;
}

}  // namespace kubexx
