#include "kubexx/codec/object_fields.h"

#include <algorithm>
#include <cstdlib>

namespace kubexx::codec {

const FieldSchema& FieldAt(const TypeSchema& schema, std::size_t offset) {
  const auto found = std::ranges::find(schema.fields, offset, &FieldSchema::offset);
  if (found == schema.fields.end()) {
    std::abort();  // a table that lacks a member of its struct is a defect of the program
  }
  return *found;
}

}  // namespace kubexx::codec
