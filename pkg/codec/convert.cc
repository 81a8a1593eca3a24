#include "kubexx/codec/convert.h"

#include <memory>
#include <vector>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/internal/embedded.h"
#include "kubexx/codec/internal/json_pretty.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/yaml.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::string_view kEncryptedPrefix = "k8s:enc:";

struct TypeName {
  std::string api_version{};
  std::string kind{};
};

/// An object of a type that is known at run time only.
class AnyObject {
 public:
  explicit AnyObject(const TypeSchema& schema)
      : schema_(schema), object_(schema.create(), schema.destroy) {}

  const TypeSchema& schema() const { return schema_; }
  void* get() const { return object_.get(); }

 private:
  const TypeSchema& schema_;
  std::unique_ptr<void, void (*)(void*)> object_;
};

std::string_view TrimSpace(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const begin = internal::SkipSpace(text.data(), end);
  return {begin, static_cast<std::size_t>(end - begin)};
}

Result<TypeName> ParseTypeName(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return Fail(Reason::kInvalidConfig, "type \"" + std::string(text) +
                                            "\" is not of the form apps/v1/Deployment or v1/Pod");
  }
  return TypeName{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

/// What an object says of its type, or else what the options say.
Result<TypeName> TypeNameOf(std::string_view json, const ConvertOptions& options) {
  TypeName own;
  const bool ok =
      internal::ForEachMember(json, [&own](std::string_view key, std::string_view value) {
        return key == "kind"         ? internal::ReadString(value, own.kind)
               : key == "apiVersion" ? internal::ReadString(value, own.api_version)
                                     : true;
      });
  if (!ok) {
    return Fail(Malformed(
        "", "not an API object: expected a JSON object with the strings kind and apiVersion"));
  }
  if (own.kind.empty() && own.api_version.empty() && !options.type.empty()) {
    return ParseTypeName(options.type);
  }
  return own;
}

Result<const TypeSchema*> FindType(const TypeName& name, const Registry& registry) {
  if (name.kind.empty() || name.api_version.empty()) {
    return Fail(Reason::kInvalidConfig,
                "the object does not name its kind and apiVersion; give its type, as in v1/Pod");
  }
  const TypeSchema* schema = registry.Find(name.api_version, name.kind);
  if (schema == nullptr) {
    return Fail(Reason::kNotFound, "unknown type " + name.api_version + "/" + name.kind);
  }
  return schema;
}

FileFormat Detect(std::string_view input, const ConvertOptions& options) {
  if (options.from != FileFormat::kAuto) {
    return options.from;
  }
  if (input.starts_with(kEnvelopeMagic)) {
    return FileFormat::kProtobuf;
  }
  const std::string_view text = TrimSpace(input);
  return text.starts_with('{') &&
                 internal::ScanValue(text.data(), text.data() + text.size()) != nullptr
             ? FileFormat::kJson
             : FileFormat::kYaml;
}

// JSON values one after the other.
Result<std::vector<std::string>> SplitJson(std::string_view input) {
  std::vector<std::string> values;
  const char* const end = input.data() + input.size();
  const char* p = internal::SkipSpace(input.data(), end);
  while (p != end) {
    const char* const after = internal::ScanValue(p, end);
    if (after == nullptr) {
      return Fail(Malformed("", "malformed JSON in object " + std::to_string(values.size() + 1)));
    }
    values.emplace_back(p, after);
    p = internal::SkipSpace(after, end);
  }
  return values;
}

/// Collects the converted objects in the form of the target.
class Output {
 public:
  explicit Output(const ConvertOptions& options) : options_(options) {}

  Result<void> AddJson(std::string_view json) {
    ++count_;
    if (options_.to == FileFormat::kYaml) {
      KX_ASSIGN_OR_RETURN(const std::string yaml, JsonToYaml(json));
      text_ += count_ > 1 ? "---\n" : "";
      text_ += yaml;
      return {};
    }
    std::string compact;
    if (!internal::AppendCompact(json, false, compact)) {
      return Fail(Malformed("", "malformed JSON"));
    }
    if (options_.compact) {
      text_ += compact;
    } else {
      internal::AppendPretty(compact, text_);
    }
    text_ += '\n';
    return {};
  }

  Result<void> Add(const AnyObject& object, const Registry& registry) {
    if (options_.to != FileFormat::kProtobuf) {
      KX_RETURN_IF_ERROR(internal::EmbeddedToJson(object.schema(), object.get(), registry));
      std::string json;
      EncodeJson(object.schema(), object.get(), json);
      return AddJson(json);
    }
    if (++count_ > 1) {
      return Fail(Reason::kInvalidConfig, "protobuf holds one object, and the input has more");
    }
    std::string raw;
    EncodeProtobuf(object.schema(), object.get(), raw);
    WriteEnvelope(object.schema(), raw, text_);
    return {};
  }

  std::string Take() && { return std::move(text_); }

 private:
  const ConvertOptions& options_;
  std::string text_{};
  std::size_t count_ = 0;
};

Result<void> ConvertProtobuf(std::string_view input, const ConvertOptions& options,
                             const Registry& registry, Output& output) {
  TypeName name;
  std::string_view raw = input;
  if (input.starts_with(kEnvelopeMagic)) {
    KX_ASSIGN_OR_RETURN(const Envelope envelope, ReadEnvelope(input));
    if (!envelope.content_encoding.empty()) {
      return Fail(Malformed(
          "", "unknown content encoding \"" + std::string(envelope.content_encoding) + "\""));
    }
    if (envelope.content_type.starts_with("application/json")) {
      return output.AddJson(envelope.raw);
    }
    name = {std::string(envelope.api_version), std::string(envelope.kind)};
    raw = envelope.raw;
  }
  if (name.kind.empty() && name.api_version.empty() && !options.type.empty()) {
    KX_ASSIGN_OR_RETURN(name, ParseTypeName(options.type));
  }
  KX_ASSIGN_OR_RETURN(const TypeSchema* schema, FindType(name, registry));
  const AnyObject object(*schema);
  KX_RETURN_IF_ERROR(DecodeProtobuf(*schema, raw, object.get()));
  return output.Add(object, registry);
}

Result<void> ConvertJson(std::string_view json, const ConvertOptions& options,
                         const Registry& registry, Output& output) {
  KX_ASSIGN_OR_RETURN(const TypeName name, TypeNameOf(json, options));
  const auto schema = FindType(name, registry);
  if (!schema) {
    return options.to == FileFormat::kProtobuf ? Result<void>(Fail(schema.error()))
                                               : output.AddJson(json);
  }
  const AnyObject object(**schema);
  KX_RETURN_IF_ERROR(DecodeJson(**schema, json, object.get()));
  return output.Add(object, registry);
}

}  // namespace

Result<std::string> Convert(std::string_view input, const ConvertOptions& options,
                            const Registry& registry) {
  if (options.to == FileFormat::kAuto) {
    return Fail(Reason::kInvalidConfig, "the output format cannot be auto");
  }
  if (input.starts_with(kEncryptedPrefix)) {
    return Fail(Reason::kInvalidConfig,
                "the value is encrypted at rest (it begins with \"k8s:enc:\"): read it through the "
                "API server");
  }
  if (TrimSpace(input).empty()) {
    return Fail(Malformed("", "the input is empty"));
  }
  Output output(options);
  const FileFormat from = Detect(input, options);
  if (from == FileFormat::kProtobuf) {
    KX_RETURN_IF_ERROR(ConvertProtobuf(input, options, registry, output));
    return std::move(output).Take();
  }
  KX_ASSIGN_OR_RETURN(const auto documents,
                      from == FileFormat::kJson ? SplitJson(input) : YamlToJson(input));
  if (documents.empty()) {
    return Fail(Malformed("", "the input holds no object"));
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (auto done = ConvertJson(documents[i], options, registry, output); !done) {
      return Fail(documents.size() == 1
                      ? done.error()
                      : done.error().WithContext("object " + std::to_string(i + 1)));
    }
  }
  return std::move(output).Take();
}

}  // namespace kubexx::codec
