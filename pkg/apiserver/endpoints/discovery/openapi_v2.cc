#include "kubexx/apiserver/endpoints/discovery/openapi_v2.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "kubexx/apiserver/endpoints/discovery/openapi.h"
#include "kubexx/apiserver/endpoints/discovery/openapi_message.h"
#include "kubexx/apiserver/endpoints/discovery/openapi_schemas.h"
#include "kubexx/apiserver/endpoints/request/media_type.h"
#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::string_view kHead =
    R"({"swagger":"2.0","info":{"title":"kubexx-apiserver","version":"v1.36.0"},"definitions":{)";
constexpr std::string_view kPaths = R"(},"paths":{)";
constexpr std::string_view kMessageType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The name of the same type in requests of older clients.
constexpr std::string_view kOldMessageType =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Returns the members of an object without its braces.
std::string WithoutBraces(const JsonTree& object) {
  const std::string json = object.ToJson();
  return json.substr(1, json.size() - 2);
}

std::string EtagOf(std::string_view json) {
  std::string digits = base::ToHex(crypto::Sha512(json));
  std::ranges::transform(digits, digits.begin(), [](char c) {
    return base::IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return "\"" + digits + "\"";
}

/// Whether a client that has sent If-None-Match already has the document that `etag` names.
bool HasCopy(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    std::string_view one = if_none_match.substr(0, if_none_match.find(','));
    if_none_match.remove_prefix(std::min(one.size() + 1, if_none_match.size()));
    one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
    one = one.substr(0, one.find_last_not_of(" \t") + 1);
    if (one.starts_with("W/")) {
      one.remove_prefix(2);
    }
    if (one == "*" || one == etag) {
      return true;
    }
  }
  return false;
}

/// Returns which of the two forms the client wants, or nothing when it wants neither.
std::optional<bool> WantsMessage(std::string_view accept) {
  for (const MediaType& media : ParseAccept(accept.empty() ? "*/*" : accept)) {
    if (media.Takes(kJsonType)) {
      return false;
    }
    if (media.Takes(kMessageType) || media.Takes(kOldMessageType)) {
      return true;
    }
  }
  return std::nullopt;
}

std::string DefinitionsOf(const ResourceType& type) {
  return WithoutBraces(JsonTree::Object(PublishedSchemas(type, OpenApiVersion::kV2)));
}

std::string PathsOf(const std::vector<ResourceTypeRef>& types) {
  std::vector<JsonTree::Member> paths;
  for (const ResourceTypeRef& type : types) {
    if (type->is_review || type->is_made_up) {
      continue;
    }
    JsonTree item = JsonTree::Object();
    item["patch"] = PatchOperation(*type, OpenApiVersion::kV2);
    paths.push_back({OpenApiPathOf(*type), std::move(item)});
  }
  return WithoutBraces(JsonTree::Object(std::move(paths)));
}

std::vector<ResourceTypeRef> Only(bool custom, const std::vector<ResourceTypeRef>& types) {
  std::vector<ResourceTypeRef> some;
  std::ranges::copy_if(types, std::back_inserter(some), [custom](const ResourceTypeRef& type) {
    return (type->schema == nullptr) == custom;
  });
  return some;
}

}  // namespace

/// Makes a document. It takes the parts from `old` that have not changed.
class OpenApiV2::Writer {
 public:
  Writer(const Document* old, const std::vector<ResourceTypeRef>& types)
      : old_(old), custom_(Only(true, types)) {
    made_.types = types;
    if (old != nullptr) {
      const std::vector<ResourceTypeRef> before = Only(true, old->types);
      for (std::size_t i = 0; i < before.size(); ++i) {
        known_.emplace(before[i].get(), &old->custom[i]);
      }
    }
  }

  Document Write() && {
    const std::vector<ResourceTypeRef> builtin = Only(false, made_.types);
    made_.custom.resize(custom_.size());
    made_.json = kHead;
    Add(&Part::definitions, made_.builtin, old_ == nullptr ? nullptr : &old_->builtin, [&] {
      OpenApiSchemas schemas(OpenApiVersion::kV2);
      for (const ResourceTypeRef& type : builtin) {
        schemas.Add(*type);
      }
      return WithoutBraces(schemas.Take());
    });
    AddCustom(&Part::definitions, [](const ResourceTypeRef& type) { return DefinitionsOf(*type); });
    made_.json += kPaths;
    Add(&Part::paths, made_.builtin, old_ == nullptr ? nullptr : &old_->builtin,
        [&] { return PathsOf(builtin); });
    AddCustom(&Part::paths, [](const ResourceTypeRef& type) { return PathsOf({type}); });
    made_.json += "}}";
    made_.etag = EtagOf(made_.json);
    return std::move(made_);
  }

 private:
  template <class F>
  void Add(Range Part::* range, Part& part, const Part* known, F make) {
    const std::string made = known == nullptr ? make() : std::string();
    const std::string_view text =
        known == nullptr
            ? std::string_view(made)
            : std::string_view(old_->json).substr((known->*range).begin, (known->*range).size);
    part.*range = {.begin = made_.json.size(), .size = text.size()};
    made_.json += text;
  }

  template <class F>
  void AddCustom(Range Part::* range, F make) {
    for (std::size_t i = 0; i < custom_.size(); ++i) {
      const auto known = known_.find(custom_[i].get());
      made_.json += ",";
      Add(range, made_.custom[i], known == known_.end() ? nullptr : known->second,
          [&] { return make(custom_[i]); });
    }
  }

  const Document* const old_;
  const std::vector<ResourceTypeRef> custom_;
  std::unordered_map<const ResourceType*, const Part*> known_{};
  Document made_{};
};

OpenApiV2::DocumentRef OpenApiV2::DocumentOf(const std::vector<ResourceTypeRef>& types) {
  base::MutexLock lock(mu_);
  if (document_ == nullptr || document_->types != types) {
    document_ = std::make_shared<const Document>(Writer(document_.get(), types).Write());
  }
  return document_;
}

std::shared_ptr<const std::string> OpenApiV2::MessageOf(const DocumentRef& document) {
  base::MutexLock lock(mu_);
  if (message_of_ != document) {
    const auto tree = JsonTree::Parse(document->json);
    message_ = std::make_shared<const std::string>(tree ? OpenApiMessage(*tree) : std::string());
    message_of_ = document;
  }
  return message_;
}

std::optional<http::Response> OpenApiV2::Serve(const http::Request& request,
                                               const std::vector<ResourceTypeRef>& types) {
  if (request.path != "/openapi/v2") {
    return std::nullopt;
  }
  http::Response response;
  response.headers.emplace_back("Vary", "Accept");
  const auto message = WantsMessage(request.Header("Accept"));
  if (!message) {
    response.status = 406;
    return response;
  }
  const DocumentRef document = DocumentOf(types);
  response.content_type = *message ? kMessageType : kJsonType;
  response.headers.emplace_back("Etag", document->etag);
  if (HasCopy(request.Header("If-None-Match"), document->etag)) {
    response.status = 304;
    return response;
  }
  response.body = *message ? *MessageOf(document) : document->json;
  return response;
}

}  // namespace kubexx::apiserver
