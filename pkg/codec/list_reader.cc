#include "kubexx/codec/list_reader.h"

#include <optional>
#include <utility>

#include "kubexx/codec/internal/list_source.h"

namespace kubexx::codec {

class ListReader::Impl {
 public:
  explicit Impl(std::unique_ptr<internal::ListSource> source_in) : source(std::move(source_in)) {}

  apimachinery::Result<void> Feed(std::string_view chunk, ItemSink sink) {
    if (!unchecked) {
      return source->Feed(chunk, sink);
    }
    return source->Feed(chunk, [this, &sink](std::string_view bytes) -> apimachinery::Result<void> {
      if (unchecked && !source->type().kind.empty() && !source->type().api_version.empty()) {
        KX_RETURN_IF_ERROR(CheckListType(*unchecked, source->type(), true));
        unchecked.reset();
      }
      return sink(bytes);
    });
  }
  apimachinery::Result<ListMeta> Finish() {
    KX_ASSIGN_OR_RETURN(ListMeta meta, source->Finish());
    if (unchecked) {
      KX_RETURN_IF_ERROR(CheckListType(*unchecked, source->type(), source->has_items()));
    }
    return meta;
  }

  std::unique_ptr<internal::ListSource> source;
  std::optional<WantedType> unchecked{};  ///< what is wanted, until the list's type has been seen
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

void ListReader::Expect(WantedType wanted) { impl_->unchecked = std::move(wanted); }

apimachinery::Result<void> ListReader::Feed(std::string_view chunk, ItemSink sink) {
  if (impl_->failed) {
    return apimachinery::Fail(apimachinery::Malformed("", "the list could not be read"));
  }
  auto result = impl_->Feed(chunk, sink);
  impl_->failed = !result.has_value();
  return result;
}

ItemType ListReader::item_type() const {
  constexpr std::string_view kSuffix = "List";
  const TypeMeta& list = impl_->source->type();
  return {list.api_version, list.kind.ends_with(kSuffix)
                                ? list.kind.substr(0, list.kind.size() - kSuffix.size())
                                : std::string()};
}

apimachinery::Result<ListMeta> ListReader::Finish() {
  if (impl_->failed) {
    return apimachinery::Fail(apimachinery::Malformed("", "the list could not be read"));
  }
  return impl_->Finish();
}

}  // namespace kubexx::codec
