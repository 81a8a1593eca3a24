#include "kubexx/codec/internal/json_span.h"

#include <array>
#include <string_view>

namespace kubexx::codec::internal {
namespace {

enum class Class : std::uint8_t { kOther, kQuote, kOpen, kClose };

constexpr auto kClasses = [] {
  std::array<Class, 256> classes{};
  classes['"'] = Class::kQuote;
  classes['{'] = classes['['] = Class::kOpen;
  classes['}'] = classes[']'] = Class::kClose;
  return classes;
}();

bool EndsScalar(char c) { return std::string_view(",]} \n\r\t").find(c) != std::string_view::npos; }

}  // namespace

bool JsonSpan::Begin(char first) {
  depth_ = 0;
  in_string_ = false;
  escaped_ = false;
  switch (first) {
    case '{':
    case '[':
      shape_ = Shape::kContainer;
      return true;
    case '"':
      shape_ = Shape::kString;
      return true;
    default:
      shape_ = Shape::kScalar;
      return first == '-' || first == 't' || first == 'f' || first == 'n' ||
             (first >= '0' && first <= '9');
  }
}

const char* JsonSpan::Feed(const char* p, const char* end) {
  switch (shape_) {
    case Shape::kContainer:
      return FeedContainer(p, end);
    case Shape::kString:
      if (!in_string_ && p != end) {
        in_string_ = true;
        ++p;
      }
      p = FeedString(p, end);
      return in_string_ ? nullptr : p;
    case Shape::kScalar:
      break;
  }
  while (p != end && !EndsScalar(*p)) {
    ++p;
  }
  return p == end ? nullptr : p;
}

// Up to and with the closing quote, or to the end.
const char* JsonSpan::FeedString(const char* p, const char* end) {
  while (p != end) {
    const char c = *p++;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return p;
    }
  }
  return p;
}

const char* JsonSpan::FeedContainer(const char* p, const char* end) {
  while (p != end) {
    if (in_string_) {
      p = FeedString(p, end);
      continue;
    }
    switch (kClasses[static_cast<unsigned char>(*p++)]) {
      case Class::kOther:
        break;
      case Class::kQuote:
        in_string_ = true;
        break;
      case Class::kOpen:
        ++depth_;
        break;
      case Class::kClose:
        if (--depth_ == 0) {
          return p;
        }
        break;
    }
  }
  return nullptr;
}

}  // namespace kubexx::codec::internal
