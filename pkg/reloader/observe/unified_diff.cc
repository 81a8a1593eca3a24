#include "kubexx/reloader/observe/unified_diff.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using Side = FileChange::Line::Side;

constexpr std::string_view kBefore = "--- ";
constexpr std::string_view kAfter = "+++ ";
constexpr std::string_view kHunk = "@@ -";
constexpr std::string_view kHunkOfMerge = "@@@ -";
constexpr std::string_view kNoFile = "/dev/null";

/// Gives the lines of a text one after the other, each with the newline that ends it.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t number() const { return number_; }  ///< of the line that comes next, from 1
  std::string_view Peek() const { return rest_.substr(0, EndOfLine()); }
  std::string_view Take() {
    const std::string_view line = Peek();
    rest_.remove_prefix(line.size());
    ++number_;
    return line;
  }

 private:
  std::size_t EndOfLine() const {
    const std::size_t end = rest_.find('\n');
    return end == std::string_view::npos ? rest_.size() : end + 1;
  }

  std::string_view rest_;
  std::size_t number_ = 1;
};

bool BeginsAt(const Lines& lines, std::string_view head) { return lines.Peek().starts_with(head); }

/// Whether the three lines of a head come next.
bool IsHead(Lines lines) {
  if (!lines.Take().starts_with(kBefore) || !lines.Take().starts_with(kAfter)) {
    return false;
  }
  return BeginsAt(lines, kHunk) || BeginsAt(lines, kHunkOfMerge);
}

apimachinery::Status Malformed(std::size_t line, const std::string& what) {
  return {Reason::kInvalidConfig, "line " + std::to_string(line) + ": " + what};
}

/// A name with bytes that git writes as `\303` or `\"`.
std::string Unquoted(std::string_view quoted) {
  constexpr int kOctalDigits = 3;
  std::string name;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      name += quoted[i];
      continue;
    }
    const char next = quoted[++i];
    if (next < '0' || next > '7') {
      name += next == 'n' ? '\n' : next == 't' ? '\t' : next;
      continue;
    }
    unsigned byte = 0;
    for (int digits = 0;
         digits < kOctalDigits && i < quoted.size() && quoted[i] >= '0' && quoted[i] <= '7';
         ++digits) {
      byte = byte * 8 + static_cast<unsigned>(quoted[i++] - '0');
    }
    --i;
    name += static_cast<char>(byte);
  }
  return name;
}

/// The name in a line of the head, which a time may follow; empty for no file.
std::string NameIn(std::string_view line) {
  line.remove_prefix(kBefore.size());
  while (line.ends_with('\n') || line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (line.starts_with('"')) {
    const std::size_t end = line.rfind('"');
    return end == 0 ? std::string(line) : Unquoted(line.substr(1, end - 1));
  }
  line = line.substr(0, line.find('\t'));
  return line == kNoFile ? std::string() : std::string(line);
}

/// A range of a hunk's head, "12,3" or "12".
struct Range {
  std::size_t first = 0;
  std::size_t count = 1;
};

std::optional<std::size_t> TakeNumber(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Range> TakeRange(std::string_view& text) {
  const auto first = TakeNumber(text);
  if (!first) {
    return std::nullopt;
  }
  Range range{.first = *first};
  if (text.starts_with(',')) {
    text.remove_prefix(1);
    const auto count = TakeNumber(text);
    if (!count) {
      return std::nullopt;
    }
    range.count = *count;
  }
  return range;
}

/// The two ranges in "@@ -1,2 +3,4 @@ ...".
std::optional<std::pair<Range, Range>> RangesIn(std::string_view line) {
  line.remove_prefix(kHunk.size());
  const auto before = TakeRange(line);
  if (!before || !line.starts_with(" +")) {
    return std::nullopt;
  }
  line.remove_prefix(2);
  const auto after = TakeRange(line);
  return after && line.starts_with(" @@") ? std::optional(std::pair(*before, *after))
                                          : std::nullopt;
}

Result<FileChange::Hunk> TakeHunk(Lines& lines) {
  const std::size_t head = lines.number();
  const auto ranges = RangesIn(lines.Take());
  if (!ranges) {
    return Fail(Malformed(head, "this is not the head of a hunk"));
  }
  auto [before, after] = *ranges;
  FileChange::Hunk hunk{.first_before = before.first, .first_after = after.first};
  while (before.count > 0 || after.count > 0) {
    const std::size_t number = lines.number();
    const std::string_view line = lines.Take();
    // Some tools leave out the blank of an empty line.
    const char mark = line.empty() || line == "\n" || line == "\r\n" ? ' ' : line.front();
    const std::string_view text = line.starts_with(mark) ? line.substr(1) : line;
    const bool is_before = mark == ' ' || mark == '-';
    const bool is_after = mark == ' ' || mark == '+';
    if (line.empty() || (!is_before && !is_after) || (is_before && before.count == 0) ||
        (is_after && after.count == 0)) {
      return Fail(Malformed(number, "the hunk that begins in line " + std::to_string(head) +
                                        " has other lines than its head says"));
    }
    before.count -= is_before ? 1 : 0;
    after.count -= is_after ? 1 : 0;
    hunk.lines.push_back({.side = is_before && is_after ? Side::kBoth
                                  : is_before           ? Side::kBefore
                                                        : Side::kAfter,
                          .text = std::string(text)});
    if (!lines.at_end() && BeginsAt(lines, "\\")) {  // "\ No newline at end of file"
      lines.Take();
      if (hunk.lines.back().text.ends_with('\n')) {
        hunk.lines.back().text.pop_back();
      }
    }
  }
  return hunk;
}

/// The file as lines, each with its newline.
std::vector<std::string_view> LinesOf(std::string_view content) {
  std::vector<std::string_view> all;
  for (Lines lines(content); !lines.at_end();) {
    all.push_back(lines.Take());
  }
  return all;
}

/// Where the hunk stands in a file of this side, from 0. Of a side without lines the head names the
/// line before it.
std::size_t PlaceOf(const FileChange::Hunk& hunk, Side side) {
  std::size_t count = 0;
  for (const FileChange::Line& line : hunk.lines) {
    count += line.side == Side::kBoth || line.side == side ? 1 : 0;
  }
  const std::size_t first = side == Side::kBefore ? hunk.first_before : hunk.first_after;
  return count == 0 || first == 0 ? first : first - 1;
}

/// The number of lines that all hunks have of this side, if the file has them where they should be.
/// A side without lines is found nowhere, as nothing would show it.
std::optional<std::size_t> LinesFound(const FileChange& change,
                                      const std::vector<std::string_view>& file, Side side) {
  std::size_t found = 0;
  for (const FileChange::Hunk& hunk : change.hunks) {
    std::size_t place = PlaceOf(hunk, side);
    for (const FileChange::Line& line : hunk.lines) {
      if (line.side != Side::kBoth && line.side != side) {
        continue;
      }
      if (place >= file.size() || file[place] != line.text) {
        return std::nullopt;
      }
      ++place;
      ++found;
    }
  }
  return found == 0 ? std::nullopt : std::optional(found);
}

}  // namespace

bool IsUnifiedDiff(std::string_view text) {
  for (Lines lines(text); !lines.at_end(); lines.Take()) {
    if (BeginsAt(lines, kBefore) && IsHead(lines)) {
      return true;
    }
  }
  return false;
}

Result<std::vector<FileChange>> ParseUnifiedDiff(std::string_view text) {
  std::vector<FileChange> changes;
  for (Lines lines(text); !lines.at_end();) {
    if (!BeginsAt(lines, kBefore) || !IsHead(lines)) {
      if (BeginsAt(lines, kHunkOfMerge)) {
        return Fail(Malformed(lines.number(),
                              "this is the diff of a merge; make one between two revisions"));
      }
      lines.Take();
      continue;
    }
    FileChange change{.before = NameIn(lines.Take())};
    change.after = NameIn(lines.Take());
    while (!lines.at_end() && BeginsAt(lines, kHunk)) {
      KX_ASSIGN_OR_RETURN(FileChange::Hunk hunk, TakeHunk(lines));
      change.hunks.push_back(std::move(hunk));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

Result<std::string> FileAfter(const FileChange& change, std::string_view content) {
  const std::vector<std::string_view> file =
      change.before.empty() ? std::vector<std::string_view>() : LinesOf(content);
  const auto before_found = LinesFound(change, file, Side::kBefore);
  const auto after_found = LinesFound(change, file, Side::kAfter);
  if (!change.before.empty() && !before_found && !after_found) {
    return Fail(
        Reason::kInvalidConfig,
        "is neither as it was before the change in the diff nor as it is after it, as far "
        "as the lines around the change show; a diff without such lines (-U0) shows nothing");
  }
  if (!change.before.empty() && after_found && *after_found >= before_found.value_or(0)) {
    return std::string(content);
  }
  std::string after;
  std::size_t next = 0;
  for (const FileChange::Hunk& hunk : change.hunks) {
    const std::size_t place = PlaceOf(hunk, Side::kBefore);
    for (; next < place && next < file.size(); ++next) {
      after += file[next];
    }
    for (const FileChange::Line& line : hunk.lines) {
      after += line.side == Side::kBefore ? std::string_view() : std::string_view(line.text);
      next += line.side == Side::kAfter ? 0 : 1;
    }
  }
  for (; next < file.size(); ++next) {
    after += file[next];
  }
  return after;
}

}  // namespace kubexx::reloader
