#include "kubexx/apiserver/endpoints/media_type.h"

#include <algorithm>
#include <utility>

#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Calls `each` with the trimmed parts between separators.
template <class F>
void Split(std::string_view text, char separator, F each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    each(Trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<View> ViewOf(const MediaType& media) {
  const std::string_view as = media.Parameter("as");
  if (as.empty()) {
    return View::kObject;
  }
  if (media.Parameter("g") != "meta.k8s.io" || media.Parameter("v") != "v1") {
    return std::nullopt;
  }
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
    return View::kPartialMetadata;
  }
  return as == "Table" ? std::optional(View::kTable) : std::nullopt;
}

}  // namespace

std::string_view MediaType::Parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<MediaType> ParseAccept(std::string_view header) {
  std::vector<std::pair<double, MediaType>> found;
  Split(header, ',', [&found](std::string_view element) {
    MediaType media;
    double quality = 1;
    Split(element, ';', [&](std::string_view part) {
      const std::size_t equals = part.find('=');
      if (media.type.empty()) {
        media.type = base::ToLower(part);
      } else if (equals != std::string_view::npos) {
        const std::string name = base::ToLower(Trimmed(part.substr(0, equals)));
        std::string value(Trimmed(part.substr(equals + 1)));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
          value = value.substr(1, value.size() - 2);
        }
        if (name == "q") {
          quality = value.starts_with("0") ? (value.size() > 2 ? 0.5 : 0) : 1;
        } else {
          media.parameters.emplace(name, std::move(value));
        }
      }
    });
    if (media.type.find('/') != std::string::npos && quality > 0) {
      found.emplace_back(quality, std::move(media));
    }
  });
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const auto& pair) { return pair.first; });
  std::vector<MediaType> types;
  for (auto& [quality, media] : found) {
    types.push_back(std::move(media));
  }
  return types;
}

std::string AnswerForm::ContentType() const {
  return std::string(encoding == codec::Encoding::kJson ? kJsonType : kProtobufType);
}

std::string ContentTypeOf(const http::Request& request) {
  const std::string_view header = request.Header("Content-Type");
  return base::ToLower(Trimmed(header.substr(0, header.find(';'))));
}

apimachinery::Result<BodyForm> BodyFormOf(const http::Request& request) {
  const std::string type = ContentTypeOf(request);
  if (type.empty() || type == kJsonType) {
    return BodyForm::kJson;
  }
  if (type == "application/yaml") {
    return BodyForm::kYaml;
  }
  if (type == kProtobufType) {
    return BodyForm::kProtobuf;
  }
  return apimachinery::Fail(
      apimachinery::Reason::kUnsupportedMediaType,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

std::optional<AnswerForm> Negotiate(std::string_view accept, const ResourceType& type) {
  if (Trimmed(accept).empty()) {
    return AnswerForm();
  }
  for (const MediaType& media : ParseAccept(accept)) {
    const auto view = ViewOf(media);
    if (!view) {
      continue;
    }
    if (media.type == kJsonType || media.type == "application/*" || media.type == "*/*") {
      return AnswerForm{.encoding = codec::Encoding::kJson, .view = *view};
    }
    // Tables and metadata in protobuf: clients that ask for them accept JSON, too.
    if (media.type == kProtobufType && type.schema != nullptr && *view == View::kObject) {
      return AnswerForm{.encoding = codec::Encoding::kProtobuf};
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::apiserver
