#include "kubexx/cache/typed_event.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/labels.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/decode.h"
#include "kubexx/cache/indexer_set.h"
#include "kubexx/cache/internal/informer/packed_event.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/lister.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/cache/typed_object.h"
#include "kubexx/codec/codec.h"

namespace kubexx::cache {
namespace {

using api::core::v1::Pod;
using api::core::v1::PodSpec;
using api::meta::v1::ObjectMeta;
using Type = RawEvent::Type;

Pod PodOn(const std::string& node, const std::string& version) {
  Pod pod;
  pod.metadata.namespace_ = "ns";
  pod.metadata.name = "a";
  pod.metadata.resource_version = version;
  pod.metadata.labels["app"] = "web";
  pod.spec.node_name = node;
  return pod;
}

class ObjectFieldsTest : public ::testing::Test {
 protected:
  EntryRef Packed(const Object& object) { return *store_->Pack(object); }
  static Object AsJson(const Pod& pod) {
    Object object = EncodeObject(pod);
    object.encoding = codec::Encoding::kJson;
    object.bytes = codec::EncodeJson(pod);
    return object;
  }
  PackedEvent Event(Type type, EntryRef object, EntryRef old) const {
    return {store_, type, std::move(object), std::move(old), RawEvent::Flags()};
  }
  // The fields are valid as long as an event refers to them.
  static std::string NodeOf(const apimachinery::Result<ObjectFields<Pod>>& fields) {
    return std::string(fields.value().Text(&Pod::spec, &PodSpec::node_name).value());
  }

  std::shared_ptr<PackedStore> store_ = std::make_shared<PackedStore>();
};

TEST_F(ObjectFieldsTest, ThoseOfAnEventAreOfItsTwoStates) {
  for (const bool json : {false, true}) {
    const auto encode = [json](const Pod& pod) { return json ? AsJson(pod) : EncodeObject(pod); };
    const PackedEvent event =
        Event(Type::kUpdate, Packed(encode(PodOn("new", "2"))), Packed(encode(PodOn("old", "1"))));
    EXPECT_EQ(NodeOf(FieldsOf<Pod>(event)), "new");
    EXPECT_EQ(NodeOf(OldFieldsOf<Pod>(event)), "old");
    EXPECT_TRUE(FieldsOf<Pod>(event)
                    ->SameAs(*OldFieldsOf<Pod>(event), &Pod::metadata, &ObjectMeta::labels)
                    .value());
    const PackedEvent added = Event(Type::kAdd, Packed(encode(PodOn("only", "1"))), {});
    EXPECT_EQ(NodeOf(OldFieldsOf<Pod>(added)), "only");
  }
}

TEST_F(ObjectFieldsTest, BytesThatAreNotPackedAreReadWhereTheyLie) {
  const EntryRef raw = Entry::WithBytes(*Packed(EncodeObject(PodOn("n", "1"))),
                                        {.bytes = "not packed, and read by nobody"});
  const PackedEvent event = Event(Type::kAdd, raw, {});
  EXPECT_EQ(event.encoded()->bytes.data(), raw->packed().data());
}

TEST_F(ObjectFieldsTest, PackedBytesAreUnpackedOnce) {
  Pod pod = PodOn("node", "1");
  pod.metadata.annotations["long"] = std::string(2000, 'x');
  const EntryRef packed = Packed(EncodeObject(pod));
  ASSERT_TRUE(packed->compressed());
  const PackedEvent event = Event(Type::kAdd, packed, {});
  const auto first = event.encoded();
  EXPECT_EQ(first->bytes, EncodeObject(pod).bytes);
  EXPECT_EQ(event.encoded()->bytes.data(), first->bytes.data());
  EXPECT_EQ(event.object().bytes.data(), first->bytes.data());
}

TEST_F(ObjectFieldsTest, DamagedBytesAreAnErrorThatNamesTheObject) {
  Pod pod = PodOn("node", "1");
  pod.metadata.annotations["long"] = std::string(2000, 'x');
  const EntryRef damaged =
      Entry::WithBytes(*Packed(EncodeObject(pod)), {.compressed = true, .bytes = "damaged"});
  const PackedEvent event = Event(Type::kAdd, damaged, {});
  const auto fields = FieldsOf<Pod>(event);
  ASSERT_FALSE(fields.has_value());
  EXPECT_NE(fields.error().ToString().find("ns/a"), std::string::npos);
}

TEST_F(ObjectFieldsTest, JsonThatIsNoObjectOfTheTypeIsAnError) {
  Object object = AsJson(PodOn("n", "1"));
  object.bytes = R"({"metadata":{"name":"a"},"spec":[]})";
  EXPECT_FALSE(FieldsOf<Pod>(object).has_value());
  EXPECT_FALSE(FieldsOf<Pod>(Event(Type::kAdd, Packed(object), {})).has_value());
}

// The metadata can be read, but the spec cannot.
TEST_F(ObjectFieldsTest, FieldsCanBeReadBesideOneThatCannot) {
  Object object = EncodeObject(PodOn("n", "1"));
  object.bytes += std::string("\x12\x02\x52\x05", 4);  // a spec with too long a node name
  ASSERT_FALSE(DecodeObject<Pod>(object).has_value());
  const auto fields = FieldsOf<Pod>(object);
  EXPECT_EQ(fields->Entry("app", &Pod::metadata, &ObjectMeta::labels).value(), "web");
  EXPECT_FALSE(fields->Text(&Pod::spec, &PodSpec::node_name).has_value());
}

TEST(IndexFieldByPathTest, SelectsObjectsByTheField) {
  const auto source = std::make_shared<testing::FakeSource>();
  for (int i = 0; i < 10; ++i) {
    Pod pod = PodOn(i % 2 == 0 ? "even" : "odd", std::to_string(i + 1));
    pod.metadata.name = "pod-" + std::to_string(i);
    source->PutObject(EncodeObject(pod));
  }
  Pod pending = PodOn("", "11");
  pending.metadata.name = "pending";
  source->PutObject(EncodeObject(pending));
  const auto informer = std::make_shared<SharedInformer<Pod>>(
      source, InformerOptions{.name = "pods", .use_watch_list = false});
  ASSERT_TRUE(
      informer->AddIndexers(IndexField<Pod>("spec.nodeName", &Pod::spec, &PodSpec::node_name)));
  informer->Start();
  ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  const auto select = [&](const std::string& node) {
    return Lister<Pod>(informer)
        .List({.fields = apimachinery::FieldSelector::FromMap({{"spec.nodeName", node}})})
        .value()
        .size();
  };
  EXPECT_EQ(select("even"), 5U);
  EXPECT_EQ(select("none"), 0U);
  EXPECT_EQ(select(""), 1U);
  EXPECT_EQ(informer->IndexValues("spec.nodeName").size(), 2U);
}

}  // namespace
}  // namespace kubexx::cache
