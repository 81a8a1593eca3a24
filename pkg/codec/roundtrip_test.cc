// Every kind that upstream publishes test data for, through both codecs and back.

#include <gtest/gtest.h>

#include <cctype>
#include <memory>

#include "kubexx/api/registry.gen.h"
#include "kubexx/api/testing/round_trip_kinds.gen.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/codec/testing/fields_check.h"
#include "kubexx/codec/testing/testdata.h"

namespace kubexx::codec {
namespace {

using apimachinery::ReadFile;
using testing::CanonicalJson;
using testing::Hex;

constexpr std::string_view kTestdata = KUBEXX_TESTDATA;

class RoundTrip : public ::testing::TestWithParam<api::RoundTripKind> {
 protected:
  using Object = std::unique_ptr<void, void (*)(void*)>;

  void SetUp() override {
    ASSERT_FALSE(kTestdata.empty()) << "the build found no test data: hack/testdata says why";
    schema_ = api::Registry().Find(GetParam().api_version, GetParam().kind);
    ASSERT_NE(schema_, nullptr) << "not in api::Registry()";
    const std::string path = std::string(kTestdata) + "/" + std::string(GetParam().file);
    const auto pb = ReadFile(path + ".pb");
    const auto json = ReadFile(path + ".json");
    ASSERT_TRUE(pb && json) << "cannot read " << path;
    pb_ = *pb;
    json_ = *json;
  }

  Object New() const { return {schema_->create(), schema_->destroy}; }

  Object FromPb() {
    Object object = New();
    const auto envelope = ReadEnvelope(pb_);
    EXPECT_TRUE(envelope.has_value());
    const auto result = DecodeProtobuf(*schema_, envelope->raw, object.get());
    EXPECT_TRUE(result.has_value()) << result.error().ToString();
    return object;
  }

  std::string ToPb(const Object& object) const {
    std::string raw;
    EncodeProtobuf(*schema_, object.get(), raw);
    std::string out;
    WriteEnvelope(*schema_, raw, out);
    return out;
  }

  std::string ToJson(const Object& object) const {
    std::string out;
    EncodeJson(*schema_, object.get(), out);
    return out;
  }

  const TypeSchema* schema_ = nullptr;
  std::string pb_;
  std::string json_;
};

TEST_P(RoundTrip, ProtobufComesBackByteForByte) { EXPECT_EQ(Hex(ToPb(FromPb())), Hex(pb_)); }

TEST_P(RoundTrip, EachFieldIsTheSameWhenItIsReadAlone) {
  const auto envelope = ReadEnvelope(pb_);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(testing::FieldsCheck(envelope->raw).Difference(*schema_, FromPb().get()), "");
}

TEST_P(RoundTrip, JsonComesBackEqual) {
  const Object object = New();
  const auto result = DecodeJson(*schema_, json_, object.get());
  ASSERT_TRUE(result.has_value()) << result.error().ToString();
  EXPECT_EQ(CanonicalJson(ToJson(object)), CanonicalJson(json_));
}

TEST_P(RoundTrip, ProtobufReadsAsTheJson) {
  EXPECT_EQ(CanonicalJson(ToJson(FromPb())), CanonicalJson(json_));
}

TEST_P(RoundTrip, JsonReadsAsTheProtobuf) {
  const Object object = New();
  const auto result = DecodeJson(*schema_, json_, object.get());
  ASSERT_TRUE(result.has_value()) << result.error().ToString();
  EXPECT_EQ(Hex(ToPb(object)), Hex(pb_));
}

TEST_P(RoundTrip, EveryTruncationOfTheMessageEndsWithoutACrash) {
  // A cut between two fields is a valid message, so only the absence of crashes and overreads can
  // be asserted.
  const std::string raw(ReadEnvelope(pb_)->raw);
  const std::size_t step = raw.size() / 64 + 1;
  for (std::size_t size = 0; size < raw.size(); size += step) {
    const Object object = New();
    const auto exact = std::make_unique<char[]>(size);  // so that the sanitizer sees an overread
    raw.copy(exact.get(), size);
    const auto result = DecodeProtobuf(*schema_, {exact.get(), size}, object.get());
    EXPECT_TRUE(result.has_value() || result.error().reason == apimachinery::Reason::kMalformed);
  }
}

std::string TestName(const ::testing::TestParamInfo<api::RoundTripKind>& info) {
  std::string name(info.param.file);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      c = '_';
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, RoundTrip, ::testing::ValuesIn(api::kRoundTripKinds), TestName);

TEST(RoundTripKinds, AreAllThatUpstreamPublishes) {
  EXPECT_EQ(std::size(api::kRoundTripKinds), 185u);
}

}  // namespace
}  // namespace kubexx::codec
