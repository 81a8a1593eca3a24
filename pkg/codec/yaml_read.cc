#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>

#include "kubexx/codec/base64.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/yaml_scalar.h"
#include "kubexx/codec/yaml.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using internal::ResolvedScalar;
using internal::ScalarType;

// The JSON that is made, with what is kept of it for aliases, is at most so much larger than the
// text: a tree of it takes twenty times its own size again. Without aliases {a,b}, which is
// {"a":null,"b":null}, grows most, not quite to the fourfold. Honest files repeat little; the rest
// is for small ones that do.
constexpr std::size_t kGrowthFactor = 4;
constexpr std::size_t kGrowthFloor = 1 << 20;

constexpr std::size_t kMaxDuplicates = 100;

constexpr std::string_view kBadKey = "a key must be a string, number or boolean";

// "?" is the tag of an unquoted scalar, "!" that of a quoted one. Nothing when the text does not
// fit its tag.
std::optional<ResolvedScalar> Resolve(std::string_view tag, const std::string& text) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  if (tag == "?" || tag.empty()) {
    return internal::ResolvePlainScalar(text);
  }
  if (!tag.starts_with(kPrefix)) {
    return ResolvedScalar{ScalarType::kString, text};
  }
  tag.remove_prefix(kPrefix.size());
  if (tag == "binary") {
    ResolvedScalar resolved;
    return DecodeBase64(text, resolved.text) ? std::optional(resolved) : std::nullopt;
  }
  if (tag != "int" && tag != "bool" && tag != "null" && tag != "float") {
    return ResolvedScalar{ScalarType::kString, text};
  }
  auto resolved = internal::ResolvePlainScalar(text);
  const bool fits = (tag == "int" && resolved.type == ScalarType::kInteger) ||
                    (tag == "bool" && resolved.type == ScalarType::kBool) ||
                    (tag == "null" && resolved.type == ScalarType::kNull) ||
                    (tag == "float" && (resolved.type == ScalarType::kFloat ||
                                        resolved.type == ScalarType::kInteger));
  return fits ? std::optional(resolved) : std::nullopt;
}

/// A value that is complete.
struct Value {
  std::string json{};
  std::optional<std::string> key{};  ///< its text as a key; only scalars have one
};

/// Turns the parser's events into JSON texts, one a document. Errors leave as
/// YAML::ParserException, which the parser lets through.
class JsonBuilder : public YAML::EventHandler {
 public:
  /// `duplicates` may be null.
  JsonBuilder(std::size_t max_made, std::vector<std::string>* duplicates)
      : max_made_(max_made), duplicates_(duplicates) {}

  std::vector<std::string> Take() && { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp 0.7 returns empty documents without end when a document begins with a stray ',' or
    // the like.
    if (mark.pos <= last_start_) {
      throw YAML::ParserException(mark, "unexpected character");
    }
    last_start_ = mark.pos;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // One that is left out has the place of what comes next, to the parser.
    const bool is_value = !frames_.empty() && frames_.back().is_map && frames_.back().key;
    CountMade(4, mark);
    Deliver({"null", {}}, anchor, is_value ? frames_.back().key_mark : mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(false, anchor, mark);
  }
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(true, anchor, mark);
  }
  void OnMapEnd() override;

 private:
  /// A list or map that is being filled.
  struct Frame {
    bool is_map = false;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark{};
    std::string elements{};                        // of a list, comma-separated
    std::map<std::string, std::string> members{};  // of a map
    std::vector<std::string> merges{};             // values of its << keys
    std::optional<std::string> key{};              // waiting for its value
    std::string shown_key{};                       // the same as messages have it
    YAML::Mark key_mark{};
    bool key_is_merge = false;
  };

  bool ExpectsKey() const {
    return !frames_.empty() && frames_.back().is_map && !frames_.back().key;
  }
  void Open(bool is_map, YAML::anchor_t anchor, const YAML::Mark& mark);
  void Deliver(Value value, YAML::anchor_t anchor, const YAML::Mark& mark);
  /// Of JSON that was not there before.
  void CountMade(std::size_t bytes, const YAML::Mark& mark);
  void Merge(Frame& frame, std::string_view json);
  void Complain(const Frame& frame, const YAML::Mark& mark);

  std::size_t max_made_;
  std::vector<std::string>* duplicates_;
  std::size_t made_ = 0;
  int last_start_ = -1;
  std::vector<Frame> frames_{};
  std::map<YAML::anchor_t, Value> anchors_{};
  std::vector<std::string> documents_{};
};

void JsonBuilder::CountMade(std::size_t bytes, const YAML::Mark& mark) {
  made_ += bytes + 1;  // a comma or a colon after it
  if (made_ > max_made_) {
    throw YAML::ParserException(mark, "the document grows too large by its aliases");
  }
}

void JsonBuilder::Open(bool is_map, YAML::anchor_t anchor, const YAML::Mark& mark) {
  if (ExpectsKey()) {
    throw YAML::ParserException(mark, std::string(kBadKey));
  }
  if (frames_.size() >= static_cast<std::size_t>(internal::kMaxJsonDepth)) {
    throw YAML::ParserException(mark, "nested too deeply");
  }
  CountMade(2, mark);  // the brackets
  Frame& frame = frames_.emplace_back();
  frame.is_map = is_map;
  frame.anchor = anchor;
  frame.mark = mark;
}

void JsonBuilder::Deliver(Value value, YAML::anchor_t anchor, const YAML::Mark& mark) {
  if (anchor != 0) {
    CountMade(value.json.size(), mark);
    anchors_[anchor] = value;
  }
  if (frames_.empty()) {
    if (value.json != "null") {
      documents_.push_back(std::move(value.json));
    }
    return;
  }
  Frame& frame = frames_.back();
  if (!frame.is_map) {
    frame.elements += frame.elements.empty() ? "" : ",";
    frame.elements += value.json;
  } else if (!frame.key) {
    if (!value.key) {
      throw YAML::ParserException(mark, std::string(kBadKey));
    }
    frame.key = std::move(value.key);
    frame.shown_key = std::move(value.json);
    frame.key_mark = mark;
  } else if (frame.key_is_merge) {
    frame.merges.push_back(std::move(value.json));
    frame.key_is_merge = false;
    frame.key.reset();
  } else {
    Complain(frame, mark);
    frame.members[std::move(*frame.key)] = std::move(value.json);
    frame.key.reset();
  }
}

void JsonBuilder::Complain(const Frame& frame, const YAML::Mark& mark) {
  if (duplicates_ != nullptr && documents_.empty() && duplicates_->size() < kMaxDuplicates &&
      frame.members.contains(*frame.key)) {
    duplicates_->push_back("line " + std::to_string(mark.line + 1) + ": key " + frame.shown_key +
                           " already set in map");
  }
}

void JsonBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    throw YAML::ParserException(mark, "an alias inside of what it refers to");
  }
  CountMade(found->second.json.size(), mark);
  Deliver(found->second, 0, mark);
}

void JsonBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& text) {
  const auto resolved = Resolve(tag, text);
  if (!resolved) {
    throw YAML::ParserException(mark, "the value does not fit its tag");
  }
  const bool is_string = resolved->type == ScalarType::kString;
  if (!is_string && resolved->text.empty()) {
    throw YAML::ParserException(
        mark, ExpectsKey() ? std::string(kBadKey) : "JSON has no infinity and no NaN");
  }
  if (ExpectsKey() && tag == "?" && text == "<<") {
    frames_.back().key_is_merge = true;
  }
  Value value;
  if (is_string) {
    internal::AppendQuoted(resolved->text, value.json);
  } else {
    value.json = resolved->text;
  }
  CountMade(value.json.size(), mark);
  if (resolved->type != ScalarType::kNull) {
    value.key = resolved->text;
  }
  Deliver(std::move(value), anchor, mark);
}

void JsonBuilder::OnSequenceEnd() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Deliver({"[" + frame.elements + "]", {}}, frame.anchor, frame.mark);
}

// Members of the map itself come before those that it merges, and earlier merges before later ones.
void JsonBuilder::Merge(Frame& frame, std::string_view json) {
  const auto add = [&frame](std::string_view key, std::string_view value) {
    frame.members.try_emplace(std::string(key), value);
    return true;
  };
  const bool ok = json.starts_with('[')
                      ? internal::ForEachElement(json,
                                                 [&add](std::string_view element) {
                                                   return internal::ForEachMember(element, add);
                                                 })
                      : internal::ForEachMember(json, add);
  if (!ok) {
    throw YAML::ParserException(frame.mark, "a merge key needs a map");
  }
}

void JsonBuilder::OnMapEnd() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  for (const std::string& merge : frame.merges) {
    Merge(frame, merge);
  }
  std::string json = "{";
  for (const auto& [key, value] : frame.members) {
    json += json.size() > 1 ? "," : "";
    internal::AppendQuoted(key, json);
    json += ':';
    json += value;
  }
  json += '}';
  Deliver({std::move(json), {}}, frame.anchor, frame.mark);
}

/// Whether so many lists and maps begin that do not end, wherever these characters stand:
/// yaml-cpp's scanner keeps hundreds of bytes for each, and reads all of them before JsonBuilder
/// sees the first.
bool OpensTooMuch(std::string_view yaml) {
  constexpr std::int64_t kMost = 100'000;
  std::int64_t open = 0;
  for (const char c : yaml) {
    open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    open = std::max<std::int64_t>(open, 0);
    if (open > kMost) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> YamlToJson(std::string_view yaml,
                                            std::vector<std::string>* duplicates) {
  if (OpensTooMuch(yaml)) {
    return Fail(Malformed("", "there are many more [ and { than ] and }"));
  }
  try {
    JsonBuilder builder(yaml.size() * kGrowthFactor + kGrowthFloor, duplicates);
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder).Take();
  } catch (const YAML::Exception& e) {
    const std::string line =
        e.mark.is_null() ? "" : "line " + std::to_string(e.mark.line + 1) + ": ";
    return Fail(Malformed("", line + e.msg));
  }
}

}  // namespace kubexx::codec
