#include "kubexx/cache/decode.h"

#include "kubexx/codec/codec.h"

namespace kubexx::cache {

apimachinery::Result<UntypedRef> DecodeInto(const Object& raw, const codec::TypeSchema& schema,
                                            std::shared_ptr<void> object) {
  KX_RETURN_IF_ERROR(raw.encoding == codec::Encoding::kProtobuf
                         ? codec::DecodeProtobuf(schema, raw.bytes, object.get())
                         : codec::DecodeJson(schema, raw.bytes, object.get()));
  return object;
}

}  // namespace kubexx::cache
