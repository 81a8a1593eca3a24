/// @file
/// One reload list, compiled.
#ifndef KUBEXX_RELOADER_PLAN_PATTERN_LIST_H_
#define KUBEXX_RELOADER_PLAN_PATTERN_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace kubexx::reloader {

/// An item of a reload list that is skipped, because it is not a regular expression or exceeds a
/// limit, or an annotation whose value is not among the allowed ones, or whose name is mistyped.
struct BadItem {
  std::string item{};
  std::string error{};
  enum class What : std::uint8_t {
    kItem,   ///< of a reload list; a plan's `item` names the annotation, too
    kValue,  ///< `item` is an annotation with its value
    kName,   ///< `item` is the name of an annotation
    /// `item` is an annotation and the source that it names, which the operator does not see.
    kSource,
  } what = What::kItem;
  bool operator==(const BadItem&) const = default;
};

/// The value of a reload annotation: names, and regular expressions in Go's (RE2) syntax that are
/// used as `^item$` without grouping, so "a|b" means `^a` or `b$`. Immutable and thread-safe.
///
/// Everybody who may write a workload chooses the text, and all workloads share the process. So the
/// work is bounded, whatever the text: expressions count in their order until one of the limits is
/// reached, and the rest of them is one bad item. Names always count.
class PatternList {
 public:
  /// The largest number of expressions.
  static constexpr std::size_t kMaxPatterns = 64;
  /// The largest size of all expressions together. It bounds what compiling them takes, also when
  /// they are refused after that.
  static constexpr std::size_t kMaxPatternBytes = 4096;
  /// What an expression may take of memory, for its program and for matching, in bytes. One whose
  /// program alone takes more is a bad item.
  static constexpr std::size_t kMaxPatternMemory = 64 << 10;
  /// The largest number of RE2's instructions of all expressions together. The time that a match
  /// is at most proportional to this number and to the length of the name.
  static constexpr std::size_t kMaxInstructions = 2048;

  /// Compiles `text`, the value of an annotation, of which it keeps a copy.
  explicit PatternList(std::string_view text);
  ~PatternList();
  PatternList(const PatternList&) = delete;
  PatternList& operator=(const PatternList&) = delete;

  /// Whether an item is `name` or matches it.
  bool Matches(std::string_view name) const;

  /// How many steps Matches takes at most for a name of this size: a few nanoseconds each.
  std::size_t StepsFor(std::string_view name) const { return (instructions_ + 1) * name.size(); }

  /// What is skipped, each with the reason and, where one is exceeded, the limit.
  const std::vector<BadItem>& bad_items() const { return bad_items_; }

  /// The largest size that the list can have in memory, in bytes, after any number of matches.
  std::size_t bytes() const { return bytes_; }

 private:
  /// Compiles one expression. Returns why the list ends here, or an empty text.
  std::string Add(std::string_view item);

  const std::string text_;
  std::vector<std::string_view> names_;  ///< of text_, sorted
  std::vector<std::unique_ptr<const re2::RE2>> patterns_;
  std::vector<BadItem> bad_items_;
  std::size_t count_ = 0;          ///< of expressions, with the bad ones
  std::size_t pattern_bytes_ = 0;  ///< of expressions, with the bad ones
  std::size_t instructions_ = 0;
  std::size_t bytes_ = 0;
};

/// Whether compiling a reload list takes well below a millisecond, as far as can be told without
/// doing it: it is short, repeats nothing by a number and names no class of Unicode.
bool IsQuicklyCompiled(std::string_view list);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_PLAN_PATTERN_LIST_H_
