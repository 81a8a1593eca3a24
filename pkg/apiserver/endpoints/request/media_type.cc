#include "kubexx/apiserver/endpoints/request/media_type.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <system_error>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/base/text/trim.h"

namespace kubexx::apiserver {
namespace {

std::string_view WithoutBlanks(std::string_view text) { return base::Trim(text, " "); }

/// Returns the text before the separator. `rest` becomes the text after it.
std::string_view Next(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

struct Clause {
  MediaType media{};
  float quality = 1;
  bool any_type() const { return media.type.starts_with("*/"); }
  bool any_subtype() const { return media.type.ends_with("/*"); }
};

float QualityOf(std::string_view text) {
  float quality = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quality);
  return error == std::errc() && end == text.data() + text.size() ? quality : 0;
}

void ReadParameters(std::string_view rest, Clause& clause) {
  while (!rest.empty()) {
    std::string_view value = Next(rest, ';');
    const std::string_view name = WithoutBlanks(Next(value, '='));
    if (value.empty() || value.find('=') < value.size() - 1) {
      continue;
    }
    value = value.substr(0, value.find('='));
    if (name == "q") {
      clause.quality = QualityOf(value);
    } else {
      clause.media.parameters.insert_or_assign(std::string(name),
                                               std::string(WithoutBlanks(value)));
    }
  }
}

std::optional<Clause> ReadClause(std::string_view text) {
  std::string_view subtype = Next(text, ';');
  const std::string_view type = WithoutBlanks(Next(subtype, '/'));
  if (subtype.empty() && type == "*") {
    subtype = "*";
  }
  if (subtype.empty() || subtype.find('/') < subtype.size() - 1) {
    return std::nullopt;
  }
  Clause clause;
  clause.media.type =
      std::string(type) + "/" + std::string(WithoutBlanks(subtype.substr(0, subtype.find('/'))));
  ReadParameters(text, clause);
  return clause;
}

/// At most so many clauses are sorted by insertion.
constexpr std::size_t kFewClauses = 12;

/// A clause that names a type comes before one that does not, whatever their qualities are. That is
/// not an order, so the result depends on the algorithm by which the clauses are sorted.
bool GoesBefore(const Clause& a, const Clause& b) {
  return a.quality > b.quality || (!a.any_type() && b.any_type()) ||
         (!a.any_subtype() && b.any_subtype());
}

void Sort(std::vector<Clause>& clauses) {
  if (clauses.size() > kFewClauses) {
    std::ranges::stable_sort(clauses, std::ranges::greater(), &Clause::quality);
    return;
  }
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    for (std::size_t k = i; k > 0 && GoesBefore(clauses[k], clauses[k - 1]); --k) {
      std::swap(clauses[k], clauses[k - 1]);
    }
  }
}

/// Returns the form that the parameters of the media type describe for `encoding`.
std::optional<AnswerForm> FormFor(const MediaType& media, codec::Encoding encoding,
                                  const Offer& offer) {
  const std::string_view stream = media.Parameter("stream");
  const std::string_view server_version = media.Parameter("sv");
  if ((!stream.empty() && stream != "watch") ||
      (!server_version.empty() && server_version != "v1")) {
    return std::nullopt;
  }
  AnswerForm form{.encoding = encoding};
  const std::string_view as = media.Parameter("as");
  const std::string_view version = media.Parameter("v");
  if (as.empty() && version.empty() && media.Parameter("g").empty()) {
    return encoding == codec::Encoding::kJson || offer.protobuf ? std::optional(form)
                                                                : std::nullopt;
  }
  if (media.Parameter("g") != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) {
    return std::nullopt;
  }
  form.beta = version == "v1beta1";
  if (as == "Table") {
    form.view = View::kTable;
    return encoding == codec::Encoding::kJson && offer.tables ? std::optional(form) : std::nullopt;
  }
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
    form.view = as.ends_with("List") ? View::kPartialMetadataList : View::kPartialMetadata;
    return form;
  }
  return std::nullopt;
}

}  // namespace

std::string_view MediaType::Parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

bool MediaType::Takes(std::string_view offered) const {
  const std::string_view all = type;
  return all == offered || all == "*/*" ||
         (all.ends_with("/*") && offered.starts_with(all.substr(0, all.size() - 1)));
}

std::vector<MediaType> ParseAccept(std::string_view header) {
  std::vector<Clause> clauses;
  while (!header.empty()) {
    if (auto clause = ReadClause(WithoutBlanks(Next(header, ',')))) {
      clauses.push_back(std::move(*clause));
    }
  }
  Sort(clauses);
  std::vector<MediaType> types;
  types.reserve(clauses.size());
  for (Clause& clause : clauses) {
    types.push_back(std::move(clause.media));
  }
  return types;
}

std::string AnswerForm::ContentType() const {
  return std::string(encoding == codec::Encoding::kJson ? kJsonType : kProtobufType);
}

std::string ContentTypeOf(const http::Request& request) {
  const std::string_view header = request.Header("Content-Type");
  return base::ToLower(base::Trim(header.substr(0, header.find(';'))));
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

Offer OfferOf(const ResourceType& type, const Subresource* subresource) {
  Offer offer;
  offer.protobuf = type.schema != nullptr;
  offer.tables = !type.is_review && (subresource == nullptr || subresource->verbs != kPosted);
  return offer;
}

std::optional<AnswerForm> Negotiate(std::string_view accept, const Offer& offer) {
  if (accept.empty()) {
    return AnswerForm();
  }
  for (const MediaType& media : ParseAccept(accept)) {
    for (const codec::Encoding encoding : {codec::Encoding::kJson, codec::Encoding::kProtobuf}) {
      if (!media.Takes(encoding == codec::Encoding::kJson ? kJsonType : kProtobufType)) {
        continue;
      }
      if (const auto form = FormFor(media, encoding, offer)) {
        return form;
      }
    }
  }
  return std::nullopt;
}

apimachinery::Result<RowObject> RowObjectOf(std::string_view include_object) {
  if (include_object.empty() || include_object == "Metadata") {
    return RowObject::kMetadata;
  }
  if (include_object == "Object") {
    return RowObject::kObject;
  }
  if (include_object == "None") {
    return RowObject::kNone;
  }
  return apimachinery::Fail(
      apimachinery::Reason::kBadRequest,
      "Unable to convert to Table as requested: includeObject: Invalid value: "
      "\"" +
          std::string(include_object) + "\": must be 'Metadata', 'Object', 'None', or empty");
}

}  // namespace kubexx::apiserver
