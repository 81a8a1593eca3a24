#include "kubexx/reloader/plan/pattern_list.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "kubexx/base/utf8.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

/// The memory that an expression of up to kFewInstructions takes. This is enough for nearly all
/// expressions.
constexpr std::size_t kUsualMemory = 16 << 10;
constexpr std::size_t kFewInstructions = 64;

std::unique_ptr<const re2::RE2> Compile(std::string_view item, std::size_t memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<std::int64_t>(memory));
  return std::make_unique<const re2::RE2>("^" + std::string(item) + "$", options);
}

/// Returns an item for a message. A long item is cut.
std::string ShownItem(std::string_view item) {
  constexpr std::size_t kShownBytes = 100;
  return item.size() <= kShownBytes ? std::string(item) : base::CutUtf8(item, kShownBytes) + "...";
}

std::string TooMany(std::size_t limit, std::string_view of) {
  return "the regular expressions of an annotation may have at most " + std::to_string(limit) +
         std::string(of) + "; shorten them, or name the sources";
}

}  // namespace

PatternList::PatternList(std::string_view text) : text_(text) {
  std::string reason;
  std::size_t refused = 0;
  AnyItem(text_, [&](std::string_view item) {
    if (IsPlainItem(item)) {
      if (!item.empty()) {
        names_.push_back(item);
      }
      return false;
    }
    if (reason.empty()) {
      reason = Add(item);
      if (!reason.empty()) {
        bad_items_.push_back({.item = ShownItem(item)});
      }
    } else {
      ++refused;
    }
    return false;
  });
  if (!reason.empty()) {
    bad_items_.back().error =
        (refused == 0 ? "" : "skipped, as the other " + std::to_string(refused) + " after it: ") +
        reason;
  }
  std::ranges::sort(names_);
  names_.shrink_to_fit();
  bytes_ += sizeof(*this) + text_.size() + names_.size() * sizeof(std::string_view);
  for (const BadItem& bad : bad_items_) {
    bytes_ += sizeof(bad) + bad.item.size() + bad.error.size();
  }
}

PatternList::~PatternList() = default;

std::string PatternList::Add(std::string_view item) {
  if (++count_ > kMaxPatterns) {
    return "an annotation may have at most " + std::to_string(kMaxPatterns) +
           " regular expressions; unite them by `|`, or name the sources";
  }
  pattern_bytes_ += item.size();
  if (pattern_bytes_ > kMaxPatternBytes) {
    return TooMany(kMaxPatternBytes, " bytes together");
  }
  std::size_t memory = kMaxPatternMemory;
  auto pattern = Compile(item, memory);
  if (!pattern->ok()) {
    const bool is_large = pattern->error_code() == re2::RE2::ErrorPatternTooLarge;
    bad_items_.push_back({.item = ShownItem(item),
                          .error = is_large
                                       ? "a regular expression may take at most " +
                                             std::to_string(kMaxPatternMemory >> 10) +
                                             " KiB of memory; repeat less, by {n}, and less of it"
                                       : ShownItem(pattern->error())});
    return {};
  }
  const auto size = static_cast<std::size_t>(pattern->ProgramSize());
  if (instructions_ + size > kMaxInstructions) {
    return TooMany(kMaxInstructions, " instructions of RE2 together");
  }
  if (size <= kFewInstructions) {
    if (auto small = Compile(item, kUsualMemory); small->ok()) {
      memory = kUsualMemory;
      pattern = std::move(small);
    }
  }
  instructions_ += size;
  bytes_ += memory + sizeof(re2::RE2) + 2 * item.size();
  patterns_.push_back(std::move(pattern));
  return {};
}

bool PatternList::Matches(std::string_view name) const {
  return std::ranges::binary_search(names_, name) ||
         std::ranges::any_of(patterns_, [&](const auto& pattern) {
           return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern);
         });
}

bool IsQuicklyCompiled(std::string_view list) {
  constexpr std::size_t kShort = 512;
  return list.size() <= kShort && list.find('{') == std::string_view::npos &&
         list.find("\\p") == std::string_view::npos && list.find("\\P") == std::string_view::npos;
}

}  // namespace kubexx::reloader
