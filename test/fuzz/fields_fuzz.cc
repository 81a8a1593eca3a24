// Any bytes as the protobuf of any type. What decodes must have the same fields when each is read
// alone.

#include <cstdio>

#include "fuzz.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/testing/fields_check.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  // An envelope that names a type chooses it, so that stored objects are seeds.
  const auto envelope = codec::ReadEnvelope(input.rest());
  const codec::TypeSchema* named =
      envelope ? api::Registry().Find(envelope->api_version, envelope->kind) : nullptr;
  const codec::TypeSchema& schema = named != nullptr ? *named : fuzz::TakeType(input);
  const std::string_view message = named != nullptr ? envelope->raw : input.rest();
  const fuzz::Object object(schema);
  if (codec::DecodeProtobuf(schema, message, object.get())) {
    const std::string difference =
        codec::testing::FieldsCheck(message).Difference(schema, object.get());
    if (!difference.empty()) {
      std::fprintf(stderr, "%s %s\n", std::string(schema.name).c_str(), difference.c_str());
    }
    fuzz::Require(difference.empty());
    return 0;
  }
  // What does not decode is read without a crash.
  for (const codec::FieldSchema& field : schema.fields) {
    if (field.tag != 0) {
      const fuzz::Object read(schema);
      const codec::FieldSchema* const path[] = {&field};
      static_cast<void>(
          codec::DecodeProtobufField(path, {.bytes = message, .object_size = message.size()},
                                     static_cast<char*>(read.get()) + field.offset));
    }
  }
  return 0;
}

}  // namespace kubexx
