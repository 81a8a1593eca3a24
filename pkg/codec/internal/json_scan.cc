#include "kubexx/codec/internal/json_scan.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "kubexx/base/ascii.h"
#include "kubexx/base/hex.h"

namespace kubexx::codec::internal {
namespace {

const char* SkipDigits(const char* p, const char* end) {
  while (p != end && base::IsDigit(*p)) {
    ++p;
  }
  return p;
}

// At least one digit.
const char* ScanDigits(const char* p, const char* end) {
  const char* const after = SkipDigits(p, end);
  return after == p ? nullptr : after;
}

const char* ScanNumber(const char* p, const char* end) {
  if (p != end && *p == '-') {
    ++p;
  }
  if (p != end && *p == '0') {
    ++p;
  } else if (p = ScanDigits(p, end); p == nullptr) {
    return nullptr;
  }
  if (p != end && *p == '.') {
    if (p = ScanDigits(p + 1, end); p == nullptr) {
      return nullptr;
    }
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '+' || *p == '-')) {
      ++p;
    }
    return ScanDigits(p, end);
  }
  return p;
}

const char* ScanLiteral(const char* p, const char* end, std::string_view literal) {
  return std::string_view(p, static_cast<std::size_t>(end - p)).starts_with(literal)
             ? p + literal.size()
             : nullptr;
}

const char* ScanScalar(const char* p, const char* end) {
  switch (*p) {
    case '"':
      return ScanString(p, end);
    case 't':
      return ScanLiteral(p, end, "true");
    case 'f':
      return ScanLiteral(p, end, "false");
    case 'n':
      return ScanLiteral(p, end, "null");
    default:
      return ScanNumber(p, end);
  }
}

std::string_view Range(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// Walks one value and hands every token to the sink. Keeps one bit per open object or array
/// instead of recursing.
template <class Sink>
class Walker {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see objects_
  Walker(const char* p, const char* end, int max_depth, Sink sink)
      : p_(p), end_(end), max_depth_(max_depth), sink_(sink) {}

  const char* Run() {
    do {
      if (!Value() || !AfterValue()) {
        return nullptr;
      }
    } while (depth_ > 0);
    return p_;
  }

 private:
  static constexpr std::size_t kWordBits = 64;

  void Open(bool object) {
    const auto at = static_cast<std::size_t>(depth_++);
    std::uint64_t& word = objects_[at / kWordBits];
    const std::uint64_t bit = std::uint64_t{1} << at % kWordBits;
    if (at % kWordBits == 0) {
      word = 0;
    }
    word = object ? word | bit : word & ~bit;
  }
  bool InObject() const {
    const auto at = static_cast<std::size_t>(depth_ - 1);
    return (objects_[at / kWordBits] >> at % kWordBits & 1) != 0;
  }

  void Space() { p_ = SkipSpace(p_, end_); }
  bool Eat(char c) {
    if (p_ == end_ || *p_ != c) {
      return false;
    }
    sink_(Range(p_, p_ + 1));
    ++p_;
    return true;
  }

  bool Token(const char* after) {
    if (after == nullptr) {
      return false;
    }
    sink_(Range(p_, after));
    p_ = after;
    return true;
  }

  // A key, its colon and the space behind it.
  bool Key() {
    if (p_ == end_ || *p_ != '"' || !Token(ScanString(p_, end_))) {
      return false;
    }
    Space();
    if (!Eat(':')) {
      return false;
    }
    Space();
    return true;
  }

  // Goes down to the first scalar or empty container at p_ and passes it.
  bool Value() {
    while (p_ != end_ && (*p_ == '{' || *p_ == '[')) {
      const bool object = *p_ == '{';
      if (depth_ == max_depth_) {
        return false;
      }
      Open(object);
      Eat(*p_);
      Space();
      if (p_ != end_ && *p_ == (object ? '}' : ']')) {
        return true;  // AfterValue closes it
      }
      if (object && !Key()) {
        return false;
      }
    }
    return p_ != end_ && Token(ScanScalar(p_, end_));
  }

  // Closes what ends here, and gets ready for the next value if there is one.
  bool AfterValue() {
    while (depth_ > 0) {
      Space();
      const bool object = InObject();
      if (Eat(object ? '}' : ']')) {
        --depth_;
        continue;
      }
      if (!Eat(',')) {
        return false;
      }
      Space();
      return !object || Key();
    }
    return true;
  }

  const char* p_;
  const char* end_;
  int max_depth_;
  Sink sink_;
  int depth_ = 0;
  // Open sets a word when it gets to its first bit: most values are scalars, for which a kilobyte
  // would be cleared in vain.
  std::array<std::uint64_t, (kMaxPassedJsonDepth + kWordBits - 1) / kWordBits> objects_;
};

}  // namespace

const char* SkipSpace(const char* p, const char* end) {
  while (p != end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
    ++p;
  }
  return p;
}

const char* ScanString(const char* p, const char* end) {
  for (++p; p != end; ++p) {
    const char c = *p;
    if (c == '"') {
      return p + 1;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return nullptr;
    }
    if (c != '\\') {
      continue;
    }
    if (++p == end) {
      return nullptr;
    }
    if (*p == 'u') {
      if (end - p < 5 || !base::IsHexDigit(p[1]) || !base::IsHexDigit(p[2]) ||
          !base::IsHexDigit(p[3]) || !base::IsHexDigit(p[4])) {
        return nullptr;
      }
      p += 4;
    } else if (std::string_view("\"\\/bfnrt").find(*p) == std::string_view::npos) {
      return nullptr;
    }
  }
  return nullptr;
}

const char* ScanValue(const char* p, const char* end, int max_depth) {
  return Walker(p, end, max_depth, [](std::string_view) {}).Run();
}

bool IsJson(std::string_view text) {
  const char* const end = text.data() + text.size();
  const char* const after = ScanValue(SkipSpace(text.data(), end), end);
  return after != nullptr && SkipSpace(after, end) == end;
}

bool IsNumber(std::string_view text) {
  const char* const end = text.data() + text.size();
  return ScanNumber(text.data(), end) == end;
}

bool AppendCompact(std::string_view text, bool escape_html, std::string& out) {
  const std::size_t mark = out.size();
  const char* const end = text.data() + text.size();
  const char* const after =
      Walker(SkipSpace(text.data(), end), end, kMaxJsonDepth,
             [&out, escape_html](std::string_view token) {
               if (!escape_html || token.front() != '"') {
                 out += token;
                 return;
               }
               for (std::size_t i = 0; i < token.size(); ++i) {
                 const char c = token[i];
                 if (c == '<' || c == '>' || c == '&') {
                   out += "\\u00";
                   base::AppendHex(static_cast<std::uint8_t>(c), out);
                 } else if (const auto rest = token.substr(i);
                            rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
                   out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
                   i += 2;
                 } else {
                   out += c;
                 }
               }
             })
          .Run();
  if (after == nullptr || SkipSpace(after, end) != end) {
    out.resize(mark);
    return false;
  }
  return true;
}

}  // namespace kubexx::codec::internal
