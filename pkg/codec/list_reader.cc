#include "kubexx/codec/list_reader.h"

#include "kubexx/codec/internal/list_source.h"

namespace kubexx::codec {

class ListReader::Impl {
 public:
  explicit Impl(std::unique_ptr<internal::ListSource> source_in) : source(std::move(source_in)) {}
  std::unique_ptr<internal::ListSource> source;
  bool failed = false;
};

ListReader::ListReader(Encoding encoding, std::size_t max_item_bytes, KeptMemory memory)
    : impl_(std::make_unique<Impl>(
          encoding == Encoding::kJson ? internal::MakeJsonListSource(max_item_bytes, memory)
                                      : internal::MakeProtobufListSource(max_item_bytes, memory))) {
}
ListReader::ListReader(ListReader&&) noexcept = default;
ListReader& ListReader::operator=(ListReader&&) noexcept = default;
ListReader::~ListReader() = default;

apimachinery::Result<void> ListReader::Feed(std::string_view chunk, ItemSink sink) {
  if (impl_->failed) {
    return apimachinery::Fail(apimachinery::Malformed("", "the list could not be read"));
  }
  auto result = impl_->source->Feed(chunk, sink);
  impl_->failed = !result.has_value();
  return result;
}

ItemType ListReader::item_type() const { return impl_->source->item_type(); }

apimachinery::Result<ListMeta> ListReader::Finish() {
  if (impl_->failed) {
    return apimachinery::Fail(apimachinery::Malformed("", "the list could not be read"));
  }
  return impl_->source->Finish();
}

}  // namespace kubexx::codec
