/// @file
/// Takes a list response apart as it arrives, one object at a time.
#ifndef KUBEXX_CODEC_LIST_READER_H_
#define KUBEXX_CODEC_LIST_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// meta/v1 ListMeta.
struct ListMeta {
  std::string resource_version{};
  std::string continue_{};
  std::int64_t remaining_item_count = 0;
};

/// The type of a list's items: its own kind without "List". Empty when the list does not say it
/// before its items.
struct ItemType {
  std::string api_version{};
  std::string kind{};
};

/// Incremental reader of a list (protobuf with its "k8s\0" envelope, or JSON). Holds at most one
/// item; memory is bounded by the largest item, at most `max_item_bytes`. Not thread-safe.
class ListReader {
 public:
  /// `bytes` are the item's message (protobuf, no envelope) or its JSON text, valid during the call
  /// only.
  using ItemSink = base::FunctionRef<apimachinery::Result<void>(std::string_view bytes)>;

  explicit ListReader(Encoding encoding, std::size_t max_item_bytes = 64 << 20);
  ListReader(ListReader&&) noexcept;
  ListReader& operator=(ListReader&&) noexcept;
  ~ListReader();

  /// Consumes the next bytes of the response. An error of `sink` ends reading and is returned.
  apimachinery::Result<void> Feed(std::string_view chunk, ItemSink sink);

  /// The type of the items of a JSON list, which do not name it themselves when it is a built-in
  /// one. `sink` may call it.
  ItemType item_type() const;

  /// Call at the end of the response: the list's metadata, or kMalformed when the list is
  /// incomplete.
  apimachinery::Result<ListMeta> Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_LIST_READER_H_
