#include <charconv>
#include <cstdint>
#include <string>

#include "kubexx/codec/internal/gather.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_span.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/list_source.h"

namespace kubexx::codec::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;

constexpr std::size_t kMaxListKeyBytes = 256;

std::string_view TextFrom(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

Result<ListMeta> ParseListMeta(std::string_view text) {
  ListMeta meta;
  const bool ok =
      text == "null" || ForEachMember(text, [&meta](std::string_view key, std::string_view value) {
        if (key == "resourceVersion") {
          return ReadString(value, meta.resource_version);
        }
        if (key == "continue") {
          return ReadString(value, meta.continue_);
        }
        if (key == "remainingItemCount" && value != "null") {
          const char* const end = value.data() + value.size();
          const auto parsed = std::from_chars(value.data(), end, meta.remaining_item_count);
          return parsed.ec == std::errc() && parsed.ptr == end;
        }
        return true;
      });
  if (!ok) {
    return Fail(Malformed("metadata", "malformed list metadata"));
  }
  return meta;
}

/// Follows the object around the items character by character; items and the values of other
/// members are handed to a JsonSpan as a whole.
class JsonListSource : public ListSource {
 public:
  JsonListSource(std::size_t max_item_bytes, KeptMemory memory) : gather_(max_item_bytes, memory) {}

  Result<void> Feed(std::string_view chunk, ListReader::ItemSink sink) override;
  Result<ListMeta> Finish() override;
  const TypeMeta& type() const override { return type_; }
  bool has_items() const override { return has_items_; }

 private:
  enum class State : std::uint8_t {
    kStart,       // before the list's {
    kFirstKey,    // a key or }
    kKey,         // a key
    kInKey,       // inside of a key's quotes
    kColon,       // the : behind a key
    kValue,       // the first character of a member's value
    kInValue,     // inside of a value other than the items
    kAfterValue,  // , or }
    kFirstItem,   // an item or ]
    kItem,        // an item
    kInItem,      // inside of an item
    kAfterItem,   // , or ]
    kDone,        // behind the list
  };

  bool InToken() const {
    return state_ == State::kInKey || state_ == State::kInValue || state_ == State::kInItem;
  }
  /// One character between tokens. False when it does not belong there. Sets `consumed` unless the
  /// character begins a value.
  bool Punctuation(char c, bool& consumed);
  bool BeginValue(char c, bool& consumed);
  Result<const char*> Token(const char* p, const char* end, ListReader::ItemSink sink);
  Result<void> EndToken(std::string_view text, ListReader::ItemSink sink);
  void SetType(std::string_view text);
  bool KeepsValue() const {
    return key_ == "metadata" || key_ == "items" || key_ == "kind" || key_ == "apiVersion";
  }
  apimachinery::Status Where(std::string_view what) const;

  State state_ = State::kStart;
  JsonSpan span_{};
  Gather gather_;
  std::string key_{};
  std::string metadata_{};
  TypeMeta type_{};
  bool has_items_ = false;
  std::uint64_t items_ = 0;
};

apimachinery::Status JsonListSource::Where(std::string_view what) const {
  const bool in_items = state_ == State::kItem || state_ == State::kInItem ||
                        state_ == State::kFirstItem || state_ == State::kAfterItem;
  return Malformed(in_items ? "items[" + std::to_string(items_) + "]" : "", std::string(what));
}

bool JsonListSource::BeginValue(char c, bool& consumed) {
  has_items_ = has_items_ || key_ == "items";
  if (key_ == "items" && c == '[') {
    state_ = State::kFirstItem;
    return true;
  }
  if (key_ == "items" && c != 'n') {
    return false;
  }
  state_ = State::kInValue;
  consumed = false;
  return span_.Begin(c);
}

bool JsonListSource::Punctuation(char c, bool& consumed) {
  consumed = true;
  switch (state_) {
    case State::kStart:
      state_ = State::kFirstKey;
      return c == '{';
    case State::kFirstKey:
      if (c == '}') {
        state_ = State::kDone;
        return true;
      }
      [[fallthrough]];
    case State::kKey:
      state_ = State::kInKey;
      consumed = false;
      return c == '"' && span_.Begin(c);
    case State::kColon:
      state_ = State::kValue;
      return c == ':';
    case State::kValue:
      return BeginValue(c, consumed);
    case State::kAfterValue:
      state_ = c == ',' ? State::kKey : State::kDone;
      return c == ',' || c == '}';
    case State::kFirstItem:
      if (c == ']') {
        state_ = State::kAfterValue;
        return true;
      }
      [[fallthrough]];
    case State::kItem:
      // What is no object concerns one item only, and the sink refuses it.
      state_ = State::kInItem;
      consumed = false;
      return span_.Begin(c);
    case State::kAfterItem:
      state_ = c == ',' ? State::kItem : State::kAfterValue;
      return c == ',' || c == ']';
    default:
      return false;
  }
}

// A kind that is no string counts as missing.
void JsonListSource::SetType(std::string_view text) {
  std::string value;
  if (ReadString(text, value)) {
    (key_ == "apiVersion" ? type_.api_version : type_.kind) = std::move(value);
  }
}

Result<void> JsonListSource::EndToken(std::string_view text, ListReader::ItemSink sink) {
  switch (state_) {
    case State::kInKey: {
      state_ = State::kColon;
      key_.clear();
      if (text.size() > kMaxListKeyBytes ||
          ScanString(text.data(), text.data() + text.size()) == nullptr) {
        return Fail(Malformed("", "bad key in the list"));
      }
      AppendUnquoted(text, key_);
      return {};
    }
    case State::kInItem:
      ++items_;
      state_ = State::kAfterItem;
      return sink(text);
    default:
      state_ = State::kAfterValue;
      if (key_ == "metadata") {
        metadata_ = text;
      } else if (key_ == "kind" || key_ == "apiVersion") {
        SetType(text);
      } else if (key_ == "items" && text != "null") {
        return Fail(Malformed("items", "expected an array"));
      }
      return {};
  }
}

Result<const char*> JsonListSource::Token(const char* p, const char* end,
                                          ListReader::ItemSink sink) {
  const char* const stop = span_.Feed(p, end);
  const bool kept = state_ != State::kInValue || KeepsValue();
  if (stop == nullptr) {
    if (kept && !gather_.Add(TextFrom(p, end))) {
      return Fail(Where("larger than " + std::to_string(gather_.limit()) + " bytes"));
    }
    return end;
  }
  std::string_view text;
  if (kept && !gather_.Complete(TextFrom(p, stop), text)) {
    return Fail(Where("larger than " + std::to_string(gather_.limit()) + " bytes"));
  }
  KX_RETURN_IF_ERROR(EndToken(text, sink));
  gather_.Clear();
  return stop;
}

Result<void> JsonListSource::Feed(std::string_view chunk, ListReader::ItemSink sink) {
  const char* p = chunk.data();
  const char* const end = p + chunk.size();
  while (p != end) {
    if (InToken()) {
      KX_ASSIGN_OR_RETURN(p, Token(p, end, sink));
      continue;
    }
    p = SkipSpace(p, end);
    if (p == end) {
      break;
    }
    bool consumed = false;
    if (!Punctuation(*p, consumed)) {
      return Fail(Where(state_ == State::kDone ? "text behind the list" : "malformed JSON list"));
    }
    p += consumed ? 1 : 0;
  }
  return {};
}

Result<ListMeta> JsonListSource::Finish() {
  if (state_ != State::kDone) {
    return Fail(Where("the list ends too early"));
  }
  return metadata_.empty() ? ListMeta{} : ParseListMeta(metadata_);
}

}  // namespace

std::unique_ptr<ListSource> MakeJsonListSource(std::size_t max_item_bytes, KeptMemory memory) {
  return std::make_unique<JsonListSource>(max_item_bytes, memory);
}

}  // namespace kubexx::codec::internal
