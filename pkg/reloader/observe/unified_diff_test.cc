#include "kubexx/reloader/observe/unified_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kFileBefore[] = "a\nb\nc\nd\ne\nf\ng\nh\n";
constexpr char kFileAfter[] = "a\nB\nc\nd\ne\nf\nh\ni\n";
/// Of these two, as `git diff -U1` writes it.
constexpr char kDiff[] =
    "diff --git a/shop/web.yaml b/shop/web.yaml\n"
    "index 92dfa21..32b2e51 100644\n"
    "--- a/shop/web.yaml\n"
    "+++ b/shop/web.yaml\n"
    "@@ -1,3 +1,3 @@\n"
    " a\n"
    "-b\n"
    "+B\n"
    " c\n"
    "@@ -6,3 +6,3 @@ e\n"
    " f\n"
    "-g\n"
    " h\n"
    "+i\n";

/// The only change of a diff.
FileChange OneIn(const std::string& diff) {
  const auto changes = ParseUnifiedDiff(diff);
  EXPECT_TRUE(changes) << changes.error().message;
  EXPECT_THAT(*changes, SizeIs(1));
  return changes->front();
}

std::string After(const std::string& diff, const std::string& content) {
  const auto after = FileAfter(OneIn(diff), content);
  return after ? *after : "failed: " + after.error().message;
}

TEST(UnifiedDiff, MakesOfEitherSideTheFileAfterIt) {
  ASSERT_TRUE(IsUnifiedDiff(kDiff));
  const FileChange change = OneIn(kDiff);
  EXPECT_EQ(change.before, "a/shop/web.yaml");
  EXPECT_EQ(change.after, "b/shop/web.yaml");
  EXPECT_EQ(After(kDiff, kFileBefore), kFileAfter);
  EXPECT_EQ(After(kDiff, kFileAfter), kFileAfter);
  EXPECT_THAT(After(kDiff, "a\nx\nc\n"), HasSubstr("neither as it was before"));
  EXPECT_THAT(After(kDiff, ""), HasSubstr("neither as it was before"));
}

TEST(UnifiedDiff, IsNoOtherText) {
  EXPECT_FALSE(IsUnifiedDiff(""));
  EXPECT_FALSE(IsUnifiedDiff("--- # a document\nkind: ConfigMap\n"));
  EXPECT_FALSE(IsUnifiedDiff("--- a\n+++ b\n"));
  EXPECT_FALSE(IsUnifiedDiff("data:\n  patch: |\n    --- a\n    +++ b\n    @@ -1 +1 @@\n"))
      << "a ConfigMap with a diff in it";
  EXPECT_TRUE(IsUnifiedDiff("commit 1\n\n    words\n\n--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"));
}

TEST(UnifiedDiff, HasFilesThatAreNewAndFilesThatAreDeleted) {
  const auto changes = ParseUnifiedDiff(
      "--- /dev/null\n+++ b/new.yaml\n@@ -0,0 +1,2 @@\n+a\n+b\n"
      "--- a/old.yaml\t2026-01-01\n+++ /dev/null\t1970-01-01\n@@ -1 +0,0 @@\n-a\n");
  ASSERT_TRUE(changes);
  ASSERT_THAT(*changes, SizeIs(2));
  EXPECT_THAT((*changes)[0].before, IsEmpty());
  EXPECT_EQ(FileAfter((*changes)[0], "ignored").value_or("failed"), "a\nb\n");
  EXPECT_EQ((*changes)[1].before, "a/old.yaml");
  EXPECT_THAT((*changes)[1].after, IsEmpty());
  EXPECT_EQ(FileAfter((*changes)[1], "a\n").value_or("failed"), "");
}

TEST(UnifiedDiff, KnowsAFileWithoutANewlineAtItsEnd) {
  const std::string diff =
      "--- a\n+++ b\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
      "\\ No newline at end of file\n";
  EXPECT_EQ(After(diff, "a"), "a\nb");
  EXPECT_THAT(After(diff, "a\n"), HasSubstr("neither"));
}

TEST(UnifiedDiff, WithoutLinesAroundTheChangeGoesByThoseOfTheChange) {
  const std::string inserts = "--- a\n+++ b\n@@ -1,0 +2 @@\n+x\n";
  EXPECT_THAT(After(inserts, "a\nb\n"), HasSubstr("-U0")) << "any file would do";
  EXPECT_EQ(After(inserts, "a\nx\nb\n"), "a\nx\nb\n");
  const std::string deletes = "--- a\n+++ b\n@@ -2 +1,0 @@\n-x\n";
  EXPECT_EQ(After(deletes, "a\nx\nb\n"), "a\nb\n");
  EXPECT_THAT(After(deletes, "a\nb\n"), HasSubstr("-U0"));
}

TEST(UnifiedDiff, TakesEmptyLinesWithoutTheirBlank) {
  EXPECT_EQ(After("--- a\n+++ b\n@@ -1,2 +1,3 @@\n a\n\n+x\n", "a\n\n"), "a\n\nx\n");
}

TEST(UnifiedDiff, ReadsNamesInQuotes) {
  EXPECT_EQ(OneIn("--- \"a/p\\303\\251 \\\"q\\\".yaml\"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n").before,
            "a/p\303\251 \"q\".yaml");
}

TEST(UnifiedDiff, NamesTheLineOfWhatCannotBeRead) {
  const auto problem = [](const std::string& diff) {
    const auto changes = ParseUnifiedDiff(diff);
    return changes ? "none" : changes.error().message;
  };
  EXPECT_THAT(problem("--- a\n+++ b\n@@ -1,2 +1 @@\n-secret\n"), HasSubstr("line 5: the hunk"));
  EXPECT_THAT(problem("--- a\n+++ b\n@@ -1 +1 @@\n-a\n-secret\n"), HasSubstr("line 5: the hunk"));
  EXPECT_THAT(problem("--- a\n+++ b\n@@ -1 +1 @@\n?\n"), HasSubstr("line 4: the hunk"));
  EXPECT_THAT(problem("--- a\n+++ b\n@@ -x +1 @@\n"), HasSubstr("line 3: this is not the head"));
  EXPECT_THAT(problem("--- a\n+++ b\n@@ -99999999999999999999999 +1 @@\n"), HasSubstr("line 3"));
  EXPECT_THAT(problem("--- a\n+++ b\n@@@ -1 -1 +1 @@@\n"), HasSubstr("diff of a merge"));
}

}  // namespace
}  // namespace kubexx::reloader
