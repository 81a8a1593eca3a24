#include "kubexx/codec/object_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/testing/fields_check.h"
#include "kubexx/codec/testing/sample.h"

namespace kubexx::codec {
namespace {

using testing::Inner;
using testing::Sample;

Sample SampleWithInners() {
  Sample sample;
  sample.int32 = -7;
  sample.text = "text";
  sample.inner = {"inner", 80, Inner{"next", 5, {}, {}}, {{"child", 1, {}, {}}}};
  sample.opt_text = "";
  sample.opt_inner = Inner{"optional", 1, {}, {}};
  sample.texts = {"a", "", "b"};
  sample.inners = {{"first", 1, {}, {}}, {"second", 2, {}, {}}};
  sample.labels = {{"app", "web"}, {"none", ""}};
  sample.time = {1136214245};
  return sample;
}

// The same questions to the fields of protobuf and of a decoded object.
class FieldsTest : public ::testing::TestWithParam<bool> {
 protected:
  Fields<Sample> Of(const Sample& sample) {
    if (GetParam()) {
      object_ = sample;
      return Fields<Sample>(object_);
    }
    bytes_ = EncodeProtobuf(sample);
    return Fields<Sample>(std::string_view(bytes_));
  }

  std::string bytes_;
  Sample object_;
};

TEST_P(FieldsTest, GetReturnsTheMember) {
  const Sample sample = SampleWithInners();
  const Fields<Sample> fields = Of(sample);
  EXPECT_EQ(fields.Get(&Sample::int32).value(), -7);
  EXPECT_EQ(fields.Get(&Sample::inner).value(), sample.inner);
  EXPECT_EQ(fields.Get(&Sample::inner, &Inner::next).value(), sample.inner.next);
  EXPECT_EQ(fields.Get(&Sample::inner, &Inner::next, &Inner::port).value(), 5);
  EXPECT_EQ(fields.Get(&Sample::texts).value(), sample.texts);
  EXPECT_EQ(fields.Get(&Sample::labels).value(), sample.labels);
  EXPECT_EQ(fields.Get(&Sample::time).value(), sample.time);
}

TEST_P(FieldsTest, WhatIsMissingIsEmpty) {
  const Fields<Sample> fields = Of(Sample());
  EXPECT_EQ(fields.Get(&Sample::opt_inner, &Inner::port).value(), 0);
  EXPECT_FALSE(fields.Get(&Sample::opt_inner).value().has_value());
  EXPECT_EQ(fields.Text(&Sample::opt_inner, &Inner::name).value(), "");
  EXPECT_EQ(fields.OptionalText(&Sample::opt_text).value(), std::nullopt);
  EXPECT_EQ(fields.Entry("app", &Sample::labels).value(), std::nullopt);
  EXPECT_TRUE(fields
                  .ForEach(
                      [](const Fields<Inner>&) -> apimachinery::Result<void> {
                        return apimachinery::Fail(apimachinery::Malformed("", "called"));
                      },
                      &Sample::opt_inner, &Inner::children)
                  .has_value());
}

TEST_P(FieldsTest, TextsAreViews) {
  const Fields<Sample> fields = Of(SampleWithInners());
  EXPECT_EQ(fields.Text(&Sample::text).value(), "text");
  EXPECT_EQ(fields.Text(&Sample::opt_inner, &Inner::name).value(), "optional");
  EXPECT_EQ(fields.OptionalText(&Sample::opt_text).value(), "");
  EXPECT_EQ(fields.Entry("app", &Sample::labels).value(), "web");
  EXPECT_EQ(fields.Entry("none", &Sample::labels).value(), "");
  EXPECT_EQ(fields.Entry("other", &Sample::labels).value(), std::nullopt);
}

TEST_P(FieldsTest, ForEachGoesOverTheElementsUntilAnError) {
  const Fields<Sample> fields = Of(SampleWithInners());
  std::vector<std::string> names;
  const auto add = [&names](const Fields<Inner>& inner) -> apimachinery::Result<void> {
    KX_ASSIGN_OR_RETURN(const std::string_view name, inner.Text(&Inner::name));
    names.emplace_back(name);
    return {};
  };
  EXPECT_TRUE(fields.ForEach(add, &Sample::inners).has_value());
  EXPECT_TRUE(fields.ForEach(add, &Sample::inner, &Inner::children).has_value());
  EXPECT_EQ(names, (std::vector<std::string>{"first", "second", "child"}));
  const auto refuse = [&](const Fields<Inner>& inner) -> apimachinery::Result<void> {
    KX_RETURN_IF_ERROR(add(inner));
    return apimachinery::Fail(apimachinery::Malformed("", "enough"));
  };
  EXPECT_EQ(fields.ForEach(refuse, &Sample::inners).error().message, "enough");
  EXPECT_EQ(names.size(), 4U);
}

TEST_P(FieldsTest, SameAsComparesValues) {
  const Sample sample = SampleWithInners();
  Sample other = sample;
  other.inner.port = 81;
  other.text = "longer";
  const Fields<Sample> fields = Of(sample);
  const std::string bytes = EncodeProtobuf(other);
  const Fields<Sample> others{std::string_view(bytes)};
  EXPECT_TRUE(fields.SameAs(others, &Sample::labels).value());
  EXPECT_TRUE(fields.SameAs(others, &Sample::inner, &Inner::children).value());
  EXPECT_FALSE(fields.SameAs(others, &Sample::inner).value());
  EXPECT_FALSE(fields.SameAs(others, &Sample::inner, &Inner::port).value());
  EXPECT_FALSE(fields.SameAs(others, &Sample::text).value());
}

INSTANTIATE_TEST_SUITE_P(Sources, FieldsTest, ::testing::Bool(), [](const auto& each) {
  return each.param ? std::string("Decoded") : std::string("Protobuf");
});

// As a decoder joins them: of values the last counts, lists and maps get longer, structs are
// merged.
TEST(ProtobufFields, OccurrencesAreJoinedAsTheDecoderJoinsThem) {
  Sample first = SampleWithInners();
  Sample second;
  second.text = "later";
  second.inner.port = 443;
  second.opt_inner = Inner{"", 9, {}, {}};
  second.inners = {{"third", 3, {}, {}}};
  second.labels = {{"app", "db"}, {"tier", "back"}};
  const std::string bytes = EncodeProtobuf(first) + EncodeProtobuf(second);
  const auto whole = DecodeProtobuf<Sample>(bytes);
  ASSERT_TRUE(whole.has_value());
  ASSERT_EQ(whole->inners.size(), 3U);
  EXPECT_EQ(testing::FieldsCheck(bytes).Difference(SchemaOf<Sample>(), &*whole), "");
  const Fields<Sample> fields{std::string_view(bytes)};
  EXPECT_EQ(fields.Entry("app", &Sample::labels).value(), "db");
  EXPECT_EQ(fields.Get(&Sample::inner, &Inner::port).value(), 443);
}

// {"app" without a value} after {"app": "web"}.
TEST(ProtobufFields, AnEntryWithoutAValueKeepsTheOneThatIsThere) {
  Sample sample;
  sample.labels = {{"app", "web"}};
  const FieldSchema& labels = FieldOf(&Sample::labels);
  std::string bytes = EncodeProtobuf(sample);
  const std::uint64_t tag = static_cast<std::uint64_t>(labels.tag) << 3 | 2;
  ASSERT_GE(tag, 0x80U);
  bytes.push_back(static_cast<char>((tag & 0x7f) | 0x80));
  bytes.push_back(static_cast<char>(tag >> 7));
  bytes += std::string("\x05\x0a\x03") + "app";
  const auto whole = DecodeProtobuf<Sample>(bytes);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->labels.at("app"), "web");
  const Fields<Sample> fields{std::string_view(bytes)};
  EXPECT_EQ(fields.Entry("app", &Sample::labels).value(), "web");
}

TEST(ProtobufFields, BadBytesAreNamed) {
  std::string bytes = EncodeProtobuf(SampleWithInners());
  bytes.resize(bytes.size() - 1);
  const Fields<Sample> fields{std::string_view(bytes)};
  EXPECT_FALSE(fields.Get(&Sample::int32).has_value());
  EXPECT_FALSE(fields.Text(&Sample::text).has_value());
  EXPECT_FALSE(fields.Entry("app", &Sample::labels).has_value());
  EXPECT_FALSE(fields.SameAs(fields, &Sample::text).has_value());

  // `inner` with a name that is longer than it.
  const Fields<Sample> bad{std::string_view("\x4a\x02\x0a\x05")};
  const FieldSchema& inner = FieldOf(&Sample::inner);
  ASSERT_EQ(inner.tag, 9U);
  const auto text = bad.Text(&Sample::inner, &Inner::name);
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().ToString().find("inner.name"), std::string::npos)
      << text.error().ToString();
}

}  // namespace
}  // namespace kubexx::codec
