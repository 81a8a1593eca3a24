/// @file
/// Sample: a small type with a field of every kind and cardinality, for tests of the codecs.
#ifndef KUBEXX_CODEC_TESTING_SAMPLE_H_
#define KUBEXX_CODEC_TESTING_SAMPLE_H_

#include "kubexx/codec/schema.h"

namespace kubexx::codec::testing {

/// A message that is part of Sample and of itself.
struct Inner {
  std::string name{};
  std::int32_t port = 0;
  apimachinery::Box<Inner> next{};
  std::vector<Inner> children{};
  bool operator==(const Inner&) const = default;
};

/// A message that JSON inlines into Sample.
struct Inlined {
  std::string inlined_text{};
  apimachinery::Box<Inner> inlined_message{};
  bool operator==(const Inlined&) const = default;
};

/// The root kind Sample of example.com/v1.
struct Sample {
  bool flag = false;
  std::int32_t int32 = 0;
  std::int64_t int64 = 0;
  std::uint32_t uint32 = 0;
  std::uint64_t uint64 = 0;
  double number = 0;
  std::string text{};
  apimachinery::Bytes bytes{};
  Inner inner{};
  std::optional<std::int32_t> opt_int{};
  std::optional<std::string> opt_text{};
  apimachinery::Box<Inner> opt_inner{};
  std::vector<std::int64_t> ints{};
  std::vector<std::string> texts{};
  std::vector<Inner> inners{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, apimachinery::Bytes> data{};
  std::map<std::string, Inner> by_name{};
  std::map<std::string, std::vector<std::string>> extra{};
  apimachinery::Quantity quantity{};
  apimachinery::Time time{};
  apimachinery::MicroTime micro_time{};
  apimachinery::Duration duration{};
  apimachinery::IntOrString int_or_string{};
  apimachinery::RawExtension raw{};
  std::optional<apimachinery::FieldsV1> fields{};
  std::optional<apimachinery::JsonValue> value{};
  Inlined inlined{};
  apimachinery::Time omit_zero_time{};
  Inner omit_zero_inner{};
  std::optional<apimachinery::DateTime> date_time{};
  bool operator==(const Sample&) const = default;
};

}  // namespace kubexx::codec::testing

template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::codec::testing::Inner>();
template <>
const kubexx::codec::TypeSchema& kubexx::codec::SchemaOf<kubexx::codec::testing::Sample>();

#endif  // KUBEXX_CODEC_TESTING_SAMPLE_H_
