#include "kubexx/reloader/model/key_prints.h"

#include <cstdint>
#include <functional>
#include <set>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/bytes.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

constexpr std::size_t kNameBytes = 2;
constexpr std::size_t kPrintBytes = kNameBytes + 4;
constexpr char kKnown = 'k';  // the first byte, so that the prints of no keys are known, too

void AppendBytes(std::string& packed, std::uint64_t hash, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    packed.push_back(static_cast<char>(hash >> (8 * i)));
  }
}

std::string PrintOfName(std::string_view key) {
  std::string print;
  AppendBytes(print, std::hash<std::string_view>()(key), kNameBytes);
  return print;
}

void AddPrint(std::string& packed, std::string_view key, std::string_view value) {
  packed += PrintOfName(key);
  AppendBytes(packed, std::hash<std::string_view>()(value), kPrintBytes - kNameBytes);
}

std::string_view BytesOfValue(const std::string& value) { return value; }
std::string_view BytesOfValue(const apimachinery::Bytes& value) { return value.view(); }

/// The prints of all values of these maps, which have no key in common.
template <class... Maps>
KeyPrints PrintsOfAll(const Maps&... maps) {
  KeyPrints prints;
  if ((maps.size() + ...) > KeyPrints::kMaxKeys) {
    return prints;
  }
  prints.packed.push_back(kKnown);
  const auto add = [&](const auto& map) {
    for (const auto& [key, value] : map) {
      AddPrint(prints.packed, key, BytesOfValue(value));
    }
  };
  (add(maps), ...);
  return prints;
}

/// The prints under the names that have one of these prints.
std::multiset<std::string_view> PrintsOf(const std::set<std::string>& names,
                                         const KeyPrints& prints) {
  std::multiset<std::string_view> found;
  std::string_view rest = std::string_view(prints.packed).substr(1);
  for (; rest.size() >= kPrintBytes; rest.remove_prefix(kPrintBytes)) {
    if (names.contains(std::string(rest.substr(0, kNameBytes)))) {
      found.insert(rest.substr(0, kPrintBytes));
    }
  }
  return found;
}

}  // namespace

KeyPrints KeyPrintsOf(const api::core::v1::ConfigMap& config_map) {
  return PrintsOfAll(config_map.data, config_map.binary_data);
}

KeyPrints KeyPrintsOf(const api::core::v1::Secret& secret) { return PrintsOfAll(secret.data); }

bool AreSameUnder(std::string_view keys, const KeyPrints& one, const KeyPrints& other) {
  if (one.packed.empty() || other.packed.empty()) {
    return false;
  }
  std::set<std::string> names;
  AnyItem(keys, [&](std::string_view key) {
    names.insert(PrintOfName(key));
    return false;
  });
  return PrintsOf(names, one) == PrintsOf(names, other);
}

}  // namespace kubexx::reloader
