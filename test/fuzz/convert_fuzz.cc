// Any bytes through the converter: YAML, JSON and protobuf in, everything out.

#include "fuzz.h"
#include "kubexx/codec/convert.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr codec::FileFormat kTargets[] = {codec::FileFormat::kJson, codec::FileFormat::kYaml,
                                            codec::FileFormat::kProtobuf};
  codec::ConvertOptions options;
  options.to = kTargets[size % std::size(kTargets)];
  const auto converted = codec::Convert(input, options, api::Registry());
  if (converted && options.to == codec::FileFormat::kYaml) {
    // The same object must come back from the YAML.
    const auto json = codec::Convert(input, {}, api::Registry());
    const auto back =
        codec::Convert(*converted, {.from = codec::FileFormat::kYaml}, api::Registry());
    fuzz::Require(!json || back.has_value());
  }
  return 0;
}

}  // namespace kubexx
