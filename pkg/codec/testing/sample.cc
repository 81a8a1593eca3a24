#include "kubexx/codec/testing/sample.h"

#include <cstddef>

namespace kubexx::codec {
namespace testing {
namespace {

extern const TypeSchema kInner;

template <class T>
void* Create() {
  return new T();
}
template <class T>
void Destroy(void* object) {
  delete static_cast<T*>(object);
}

template <class C>
constexpr const ContainerOps* kOps = &kContainerOps<C>;

#define KX_FIELD(type, member, name, tag, kind, cardinality, flags, message)                 \
  FieldSchema {                                                                              \
    name, tag, Kind::kind, Cardinality::cardinality, flags, offsetof(type, member), message, \
        nullptr                                                                              \
  }
#define KX_CONTAINER(type, member, name, tag, kind, cardinality, flags, message)             \
  FieldSchema {                                                                              \
    name, tag, Kind::kind, Cardinality::cardinality, flags, offsetof(type, member), message, \
        kOps<decltype(type::member)>                                                         \
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

constexpr FieldSchema kInnerFields[] = {
    KX_FIELD(Inner, name, "name", 1, kString, kPlain, kNoFlags, nullptr),
    KX_FIELD(Inner, port, "port", 2, kInt32, kPlain, kOmitEmpty, nullptr),
    KX_CONTAINER(Inner, next, "next", 3, kMessage, kOptional, kOmitEmpty, &kInner),
    KX_CONTAINER(Inner, children, "children", 4, kMessage, kRepeated, kOmitEmpty, &kInner),
};
constexpr TypeSchema kInner{
    "testing.Inner", "", "", "", kInnerFields, JsonForm::kObject, Create<Inner>, Destroy<Inner>};

constexpr FieldSchema kInlinedFields[] = {
    KX_FIELD(Inlined, inlined_text, "inlinedText", 1, kString, kPlain, kOmitEmpty, nullptr),
    KX_CONTAINER(Inlined, inlined_message, "inlinedMessage", 2, kMessage, kOptional, kOmitEmpty,
                 &kInner),
};
constexpr TypeSchema kInlined{
    "testing.Inlined", "", "", "", kInlinedFields, JsonForm::kObject, Create<Inlined>,
    Destroy<Inlined>};

constexpr FieldSchema kSampleFields[] = {
    KX_FIELD(Sample, flag, "flag", 1, kBool, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, int32, "int32", 2, kInt32, kPlain, kNoFlags, nullptr),
    KX_FIELD(Sample, int64, "int64", 3, kInt64, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, uint32, "uint32", 4, kUint32, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, uint64, "uint64", 5, kUint64, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, number, "number", 6, kDouble, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, text, "text", 7, kString, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, bytes, "bytes", 8, kBytes, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, inner, "inner", 9, kMessage, kPlain, kOmitEmpty, &kInner),
    KX_CONTAINER(Sample, opt_int, "optInt", 10, kInt32, kOptional, kOmitEmpty, nullptr),
    KX_CONTAINER(Sample, opt_text, "optText", 11, kString, kOptional, kNoFlags, nullptr),
    KX_CONTAINER(Sample, opt_inner, "optInner", 12, kMessage, kOptional, kOmitEmpty, &kInner),
    KX_CONTAINER(Sample, ints, "ints", 13, kInt64, kRepeated, kOmitEmpty, nullptr),
    KX_CONTAINER(Sample, texts, "texts", 14, kString, kRepeated, kNoFlags, nullptr),
    KX_CONTAINER(Sample, inners, "inners", 15, kMessage, kRepeated, kOmitEmpty, &kInner),
    KX_CONTAINER(Sample, labels, "labels", 16, kString, kMap, kOmitEmpty, nullptr),
    KX_CONTAINER(Sample, data, "data", 17, kBytes, kMap, kOmitEmpty, nullptr),
    KX_CONTAINER(Sample, by_name, "byName", 18, kMessage, kMap, kOmitEmpty, &kInner),
    KX_CONTAINER(Sample, extra, "extra", 19, kStringList, kMap, kOmitEmpty, nullptr),
    KX_FIELD(Sample, quantity, "quantity", 20, kQuantity, kPlain, kNoFlags, nullptr),
    KX_FIELD(Sample, time, "time", 21, kTime, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, micro_time, "microTime", 22, kMicroTime, kPlain, kOmitEmpty, nullptr),
    KX_FIELD(Sample, duration, "duration", 23, kDuration, kPlain, kNoFlags, nullptr),
    KX_FIELD(Sample, int_or_string, "intOrString", 24, kIntOrString, kPlain, kNoFlags, nullptr),
    KX_FIELD(Sample, raw, "raw", 25, kRawExtension, kPlain, kNoFlags, nullptr),
    KX_CONTAINER(Sample, fields, "fields", 26, kFieldsV1, kOptional, kOmitEmpty, nullptr),
    KX_CONTAINER(Sample, value, "value", 27, kJsonValue, kOptional, kOmitEmpty, nullptr),
    KX_FIELD(Sample, inlined, "inlined", 28, kMessage, kPlain, kInline, &kInlined),
    KX_FIELD(Sample, omit_zero_time, "omitZeroTime", 29, kTime, kPlain, kOmitZero, nullptr),
    KX_FIELD(Sample, omit_zero_inner, "omitZeroInner", 30, kMessage, kPlain, kOmitZero, &kInner),
    KX_CONTAINER(Sample, date_time, "dateTime", 31, kDateTime, kOptional, kOmitEmpty, nullptr),
};
constexpr TypeSchema kSample{"testing.Sample", "example.com",     "v1",           "Sample",
                             kSampleFields,    JsonForm::kObject, Create<Sample>, Destroy<Sample>};

#pragma GCC diagnostic pop

}  // namespace
}  // namespace testing

template <>
const TypeSchema& SchemaOf<testing::Inner>() {
  return testing::kInner;
}
template <>
const TypeSchema& SchemaOf<testing::Sample>() {
  return testing::kSample;
}

}  // namespace kubexx::codec
