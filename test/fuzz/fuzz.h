/// @file
/// What the fuzz targets share.
#ifndef KUBEXX_TEST_FUZZ_FUZZ_H_
#define KUBEXX_TEST_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kubexx/api/registry.gen.h"
#include "kubexx/codec/codec.h"

namespace kubexx::fuzz {

/// Ends the run with a crash report when `holds` is false.
inline void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// The input without what Take... took from its front.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  std::uint8_t TakeByte() {
    if (rest_.empty()) {
      return 0;
    }
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// An object of one of the built-in types.
class Object {
 public:
  explicit Object(const codec::TypeSchema& schema)
      : schema_(schema), object_(schema.create(), schema.destroy) {}
  const codec::TypeSchema& schema() const { return schema_; }
  void* get() const { return object_.get(); }

 private:
  const codec::TypeSchema& schema_;
  std::unique_ptr<void, void (*)(void*)> object_;
};

/// The type that two bytes of the input choose.
inline const codec::TypeSchema& TakeType(Input& input) {
  const auto types = api::Registry().types();
  const std::size_t high = input.TakeByte();
  return *types[(high << 8 | input.TakeByte()) % types.size()];
}

/// Chunks whose sizes the first byte of the input sets.
template <class F>
void InChunks(Input input, F feed) {
  const std::size_t size = std::size_t{input.TakeByte()} + 1;
  std::string_view rest = input.rest();
  while (!rest.empty()) {
    const std::string_view chunk = rest.substr(0, size);
    rest.remove_prefix(chunk.size());
    // A copy of its own, so that reads beyond the chunk are seen.
    const auto copy = std::make_unique<char[]>(chunk.size());
    chunk.copy(copy.get(), chunk.size());
    if (!feed(std::string_view(copy.get(), chunk.size()))) {
      return;
    }
  }
}

}  // namespace kubexx::fuzz

#endif  // KUBEXX_TEST_FUZZ_FUZZ_H_
