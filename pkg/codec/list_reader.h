/// @file
/// ListReader: reads a list response while it arrives, one object at a time.
#ifndef KUBEXX_CODEC_LIST_READER_H_
#define KUBEXX_CODEC_LIST_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/answer_type.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// The metadata of a list, as in meta/v1 ListMeta.
struct ListMeta {
  std::string resource_version{};
  std::string continue_{};
  std::int64_t remaining_item_count = 0;
};

/// The type of a list's items: the kind of the list without "List". Empty if the list does not name
/// it before its items.
struct ItemType {
  std::string api_version{};
  std::string kind{};
};

/// Reads a list, which is protobuf in its "k8s\0" envelope, or JSON, incrementally. Keeps at most
/// one item in memory, of `max_item_bytes` at most. Not thread-safe.
class ListReader {
 public:
  /// Receives an item: its protobuf message without an envelope, or its JSON text, which may be any
  /// value, as "null". `bytes` are only valid during the call.
  using ItemSink = base::FunctionRef<apimachinery::Result<void>(std::string_view bytes)>;

  explicit ListReader(Encoding encoding, std::size_t max_item_bytes = 64 << 20,
                      KeptMemory memory = KeptMemory::kWiped);
  ListReader(ListReader&&) noexcept;
  ListReader& operator=(ListReader&&) noexcept;
  ~ListReader();

  /// From now on Feed and Finish return kMalformed for a response that is not a list of `wanted`,
  /// as CheckListType. No item of such a list is given to the sink, unless the response names its
  /// kind after its items. To be called before Feed.
  void Expect(WantedType wanted);

  /// Reads the next bytes of the response. An error of `sink` ends the reading and is returned.
  apimachinery::Result<void> Feed(std::string_view chunk, ItemSink sink);

  /// Returns the type of the list's items. Items of a built-in type do not name it themselves.
  /// `sink` may call it.
  ItemType item_type() const;

  /// To be called at the end of the response. Returns the list's metadata, or kMalformed if the
  /// list is incomplete.
  apimachinery::Result<ListMeta> Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_LIST_READER_H_
