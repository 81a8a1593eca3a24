/// @file
/// ListSource: the interface for list responses of both encodings.
#ifndef KUBEXX_CODEC_INTERNAL_LIST_SOURCE_H_
#define KUBEXX_CODEC_INTERNAL_LIST_SOURCE_H_

#include <memory>
#include <string_view>

#include "kubexx/codec/answer_type.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"

namespace kubexx::codec::internal {

/// Like ListReader, for one encoding. It is not called again after an error.
class ListSource {
 public:
  ListSource() = default;
  ListSource(const ListSource&) = delete;
  ListSource& operator=(const ListSource&) = delete;
  virtual ~ListSource() = default;
  virtual apimachinery::Result<void> Feed(std::string_view chunk, ListReader::ItemSink sink) = 0;
  virtual apimachinery::Result<ListMeta> Finish() = 0;
  /// The list's own type, as far as it has been read.
  virtual const TypeMeta& type() const = 0;
  /// Whether the list has a member or field for its items. May be true of every list of an encoding
  /// that leaves out empty ones.
  virtual bool has_items() const = 0;
};

std::unique_ptr<ListSource> MakeJsonListSource(std::size_t max_item_bytes, KeptMemory memory);
std::unique_ptr<ListSource> MakeProtobufListSource(std::size_t max_item_bytes, KeptMemory memory);

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_LIST_SOURCE_H_
