#include "kubexx/apiserver/endpoints/response/formats.h"

#include <array>
#include <cstddef>
#include <utility>

#include "kubexx/apiserver/endpoints/response/partial_metadata.h"
#include "kubexx/apiserver/endpoints/response/table.h"
#include "kubexx/apiserver/endpoints/response/wire.h"
#include "kubexx/apiserver/object/object_form.h"
#include "kubexx/base/mutex.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using codec::WatchEventType;

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

/// Encodes meta/v1 ListMeta.
std::string MetaProtobuf(const ListHead& head) {
  std::string meta;
  AppendField(1, "", meta);
  AppendField(2, std::to_string(head.revision), meta);
  AppendField(3, head.continue_, meta);
  if (head.remaining > 0) {
    AppendNumber(4, static_cast<std::uint64_t>(head.remaining), meta);
  }
  return meta;
}

bool IsPartial(const AnswerForm& form) {
  return form.view == View::kPartialMetadata || form.view == View::kPartialMetadataList;
}

/// In v1beta1 the items of the list are field 1 and the metadata field 2, and in v1 it is the other
/// way round.
bool IsBetaPartial(const AnswerForm& form) { return form.beta && IsPartial(form); }

TableForm TableFormOf(const AnswerForm& form) {
  return {.api_version = form.ViewVersion(), .row_object = form.row_object};
}

Result<std::string> PartialEnvelope(const AnswerForm& form, std::string_view json) {
  KX_ASSIGN_OR_RETURN(const std::string message, PartialMetadataMessage(json));
  std::string body;
  codec::WriteEnvelope(form.ViewVersion(), "PartialObjectMetadata", message, body);
  return body;
}

class JsonFrames final : public FrameFormat {
 public:
  /// `headers` tells whether tables have the definitions of their columns.
  JsonFrames(const AnswerForm& form, bool headers) : form_(form), headers_(headers) {}

  Result<std::string> Frame(WatchEventType type, const ResourceType& resource,
                            std::string_view json) const override {
    std::string changed;
    if (type != WatchEventType::kError && IsPartial(form_)) {
      KX_ASSIGN_OR_RETURN(changed, PartialMetadataJson(json, form_.ViewVersion()));
      json = changed;
    } else if (type != WatchEventType::kError && form_.view == View::kTable) {
      TableForm table = TableFormOf(form_);
      table.headers = headers_;
      KX_ASSIGN_OR_RETURN(changed, TableOf(resource, table, json));
      json = changed;
    }
    std::string frame = R"({"type":")";
    frame.reserve(json.size() + 40);
    frame.append(ToString(type)).append(R"(","object":)").append(json).append("}\n");
    return frame;
  }

 private:
  AnswerForm form_;
  bool headers_;
};

class ProtobufFrames final : public FrameFormat {
 public:
  explicit ProtobufFrames(const AnswerForm& form) : form_(form) {}

  Result<std::string> Frame(WatchEventType type, const ResourceType& resource,
                            std::string_view json) const override {
    std::string enveloped;
    if (type == WatchEventType::kError) {
      // Clients also accept a Status in a stream of protobuf that is JSON in its envelope.
      KX_ASSIGN_OR_RETURN(enveloped, StatusProtobuf(json));
    } else if (IsPartial(form_)) {
      KX_ASSIGN_OR_RETURN(enveloped, PartialEnvelope(form_, json));
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

 private:
  AnswerForm form_;
};

/// The frames that all watches with this form share.
struct SharedFrames {
  std::shared_ptr<const FrameFormat> first{};
  std::shared_ptr<const FrameFormat> others{};
};

/// The number of forms: two encodings, four views, two versions of these, and three kinds of rows.
constexpr std::size_t kForms = std::size_t{2} * 4 * 2 * 3;

std::size_t NumberOf(const AnswerForm& form) {
  std::size_t number = form.encoding == codec::Encoding::kProtobuf ? 1 : 0;
  number = number * 4 + static_cast<std::size_t>(form.view);
  number = number * 2 + (form.beta ? 1 : 0);
  return number * 3 + static_cast<std::size_t>(form.row_object);
}

SharedFrames MakeFrames(const AnswerForm& form) {
  SharedFrames frames;
  if (form.encoding == codec::Encoding::kProtobuf) {
    frames.others = std::make_shared<const ProtobufFrames>(form);
  } else {
    frames.others = std::make_shared<const JsonFrames>(form, false);
  }
  frames.first =
      form.view == View::kTable ? std::make_shared<const JsonFrames>(form, true) : frames.others;
  return frames;
}

const SharedFrames& FramesOf(const AnswerForm& form) {
  static base::Mutex mu;
  static std::array<SharedFrames, kForms> all KX_GUARDED_BY(mu);
  base::MutexLock lock(mu);
  SharedFrames& frames = all[NumberOf(form)];
  if (frames.others == nullptr) {
    frames = MakeFrames(form);
  }
  return frames;
}

}  // namespace

Result<std::string> ObjectBody(const AnswerForm& form, const ResourceType& type,
                               std::string_view json) {
  if (form.encoding == codec::Encoding::kProtobuf) {
    return IsPartial(form) ? PartialEnvelope(form, json) : EnvelopeOf(type, json);
  }
  if (IsPartial(form)) {
    return PartialMetadataJson(json, form.ViewVersion());
  }
  return form.view == View::kTable ? TableOf(type, TableFormOf(form), json)
                                   : Result<std::string>(std::string(json));
}

Result<void> ListBody::Add(std::string_view json) {
  ++count_;
  if (form_.encoding == codec::Encoding::kProtobuf) {
    KX_ASSIGN_OR_RETURN(const std::string message,
                        IsPartial(form_) ? PartialMetadataMessage(json) : ProtobufOf(type_, json));
    AppendField(IsBetaPartial(form_) ? 1 : 2, message, items_);
    return {};
  }
  if (count_ > 1) {
    items_.append(",");
  }
  if (IsPartial(form_)) {
    KX_ASSIGN_OR_RETURN(const std::string partial, PartialMetadataJson(json, form_.ViewVersion()));
    items_.append(partial);
  } else if (form_.view == View::kTable) {
    KX_ASSIGN_OR_RETURN(const std::string row, TableRow(type_, TableFormOf(form_), json));
    items_.append(row);
  } else {
    AppendItemOfList(type_, json, items_);
  }
  return {};
}

Result<std::string> ListBody::Finish(const ListHead& head) {
  const bool partial = IsPartial(form_);
  const std::string kind = partial ? "PartialObjectMetadataList" : type_.ListKind();
  const std::string api_version = partial ? std::string(form_.ViewVersion()) : type_.ApiVersion();
  if (form_.encoding == codec::Encoding::kProtobuf) {
    std::string message;
    if (IsBetaPartial(form_)) {
      message = std::move(items_);
      AppendField(2, MetaProtobuf(head), message);
    } else {
      AppendField(1, MetaProtobuf(head), message);
      message.append(items_);
    }
    std::string body;
    codec::WriteEnvelope(api_version, kind, message, body);
    return body;
  }
  // The text is inserted in place, because a list may have many megabytes.
  items_.insert(0, form_.view == View::kTable
                       ? TableHead(type_, TableFormOf(form_), MetaJson(head))
                       : R"({"kind":")" + kind + R"(","apiVersion":")" + api_version +
                             R"(","metadata":)" + MetaJson(head) + R"(,"items":[)");
  items_.append("]}");
  return std::move(items_);
}

std::shared_ptr<const FrameFormat> FrameFormatOf(const AnswerForm& form) {
  return FramesOf(form).others;
}

std::shared_ptr<const FrameFormat> FirstFrameFormatOf(const AnswerForm& form) {
  return FramesOf(form).first;
}

}  // namespace kubexx::apiserver
