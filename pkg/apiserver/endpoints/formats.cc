#include "kubexx/apiserver/endpoints/formats.h"

#include <utility>

#include "kubexx/apiserver/endpoints/table.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using codec::WatchEventType;

void AppendVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// A length-delimited field.
void AppendField(int tag, std::string_view bytes, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(tag) << 3 | 2, out);
  AppendVarint(bytes.size(), out);
  out.append(bytes);
}

std::string MetaJson(const ListHead& head) {
  JsonTree meta = JsonTree::Object();
  meta["resourceVersion"] = JsonTree(std::to_string(head.revision));
  if (!head.continue_.empty()) {
    meta["continue"] = JsonTree(head.continue_);
  }
  if (head.remaining > 0) {
    meta["remainingItemCount"] = JsonTree(head.remaining);
  }
  return meta.ToJson();
}

/// meta/v1 ListMeta.
std::string MetaProtobuf(const ListHead& head) {
  std::string meta;
  AppendField(1, "", meta);
  AppendField(2, std::to_string(head.revision), meta);
  AppendField(3, head.continue_, meta);
  if (head.remaining > 0) {
    AppendVarint(4 << 3, meta);
    AppendVarint(static_cast<std::uint64_t>(head.remaining), meta);
  }
  return meta;
}

Result<std::string> Partial(std::string_view json) {
  KX_ASSIGN_OR_RETURN(const JsonTree object, JsonTree::Parse(json));
  const JsonTree* const metadata = object.Find("metadata");
  return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)" +
         (metadata == nullptr ? "{}" : metadata->ToJson()) + "}";
}

class JsonFrames final : public FrameFormat {
 public:
  explicit JsonFrames(View view) : view_(view) {}

  Result<std::string> Frame(WatchEventType type, const ResourceType& resource,
                            std::string_view json) const override {
    std::string changed;
    if (type != WatchEventType::kError && view_ == View::kPartialMetadata) {
      KX_ASSIGN_OR_RETURN(changed, Partial(json));
      json = changed;
    } else if (type != WatchEventType::kError && view_ == View::kTable) {
      KX_ASSIGN_OR_RETURN(changed, TableOf(resource, json));
      json = changed;
    }
    std::string frame = R"({"type":")";
    frame.reserve(json.size() + 40);
    frame.append(ToString(type)).append(R"(","object":)").append(json).append("}\n");
    return frame;
  }

 private:
  View view_;
};

class ProtobufFrames final : public FrameFormat {
 public:
  Result<std::string> Frame(WatchEventType type, const ResourceType& resource,
                            std::string_view json) const override {
    std::string enveloped;
    if (type == WatchEventType::kError) {
      // As clients expect it of a stream of protobuf, too, a Status may be JSON in its envelope.
      KX_ASSIGN_OR_RETURN(enveloped, StatusProtobuf(json));
    } else {
      KX_ASSIGN_OR_RETURN(enveloped, EnvelopeOf(resource, json));
    }
    std::string raw;
    AppendField(1, enveloped, raw);
    std::string event;
    AppendField(1, ToString(type), event);
    AppendField(2, raw, event);
    std::string frame;
    for (int shift = 24; shift >= 0; shift -= 8) {
      frame.push_back(static_cast<char>(event.size() >> shift & 0xff));
    }
    return frame + event;
  }
};

}  // namespace

Result<std::string> ObjectBody(const AnswerForm& form, const ResourceType& type,
                               std::string_view json) {
  if (form.encoding == codec::Encoding::kProtobuf) {
    return EnvelopeOf(type, json);
  }
  if (form.view == View::kPartialMetadata) {
    return Partial(json);
  }
  return form.view == View::kTable ? TableOf(type, json) : Result<std::string>(std::string(json));
}

Result<void> ListBody::Add(std::string_view json) {
  ++count_;
  if (form_.encoding == codec::Encoding::kProtobuf) {
    KX_ASSIGN_OR_RETURN(const std::string message, ProtobufOf(type_, json));
    AppendField(2, message, items_);
    return {};
  }
  if (count_ > 1) {
    items_.append(",");
  }
  if (form_.view == View::kPartialMetadata) {
    KX_ASSIGN_OR_RETURN(const std::string partial, Partial(json));
    items_.append(partial);
  } else if (form_.view == View::kTable) {
    KX_ASSIGN_OR_RETURN(const std::string row, TableRow(type_, json));
    items_.append(row);
  } else {
    AppendItemOfList(type_, json, items_);
  }
  return {};
}

Result<std::string> ListBody::Finish(const ListHead& head) {
  if (form_.encoding == codec::Encoding::kProtobuf) {
    std::string message;
    AppendField(1, MetaProtobuf(head), message);
    message.append(items_);
    std::string body;
    codec::WriteEnvelope(type_.ApiVersion(), type_.ListKind(), message, body);
    return body;
  }
  if (form_.view == View::kTable) {
    return TableHead(type_, MetaJson(head)) + items_ + "]}";
  }
  const bool partial = form_.view == View::kPartialMetadata;
  return R"({"kind":")" + (partial ? "PartialObjectMetadataList" : type_.ListKind()) +
         R"(","apiVersion":")" + (partial ? "meta.k8s.io/v1" : type_.ApiVersion()) +
         R"(","metadata":)" + MetaJson(head) + R"(,"items":[)" + items_ + "]}";
}

std::shared_ptr<const FrameFormat> FrameFormatOf(const AnswerForm& form) {
  static const auto kProtobuf = std::make_shared<const ProtobufFrames>();
  static const auto kJson = std::make_shared<const JsonFrames>(View::kObject);
  static const auto kPartial = std::make_shared<const JsonFrames>(View::kPartialMetadata);
  static const auto kTable = std::make_shared<const JsonFrames>(View::kTable);
  if (form.encoding == codec::Encoding::kProtobuf) {
    return kProtobuf;
  }
  switch (form.view) {
    case View::kTable:
      return kTable;
    case View::kPartialMetadata:
      return kPartial;
    case View::kObject:
      break;
  }
  return kJson;
}

}  // namespace kubexx::apiserver
