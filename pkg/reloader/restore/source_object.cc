#include "kubexx/reloader/restore/source_object.h"

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/reloader/model/value_digests.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;

}  // namespace

SourceObject::SourceObject(SourceObject&& other) noexcept : object_(std::move(other.object_)) {
  other.Wipe();
}

SourceObject& SourceObject::operator=(const SourceObject& other) {
  if (this != &other) {
    Wipe();
    object_ = other.object_;
  }
  return *this;
}

SourceObject& SourceObject::operator=(SourceObject&& other) noexcept {
  if (this != &other) {
    Wipe();
    object_ = std::move(other.object_);
    other.Wipe();
  }
  return *this;
}

SourceObject SourceObject::Empty(const SourceId& id) {
  SourceObject result =
      id.type == SourceType::kSecret ? SourceObject(Secret()) : SourceObject(ConfigMap());
  result.metadata().namespace_ = id.key.namespace_;
  result.metadata().name = id.key.name;
  return result;
}

api::meta::v1::ObjectMeta& SourceObject::metadata() {
  return std::visit([](auto& each) -> api::meta::v1::ObjectMeta& { return each.metadata; },
                    object_);
}

const api::meta::v1::ObjectMeta& SourceObject::metadata() const {
  return std::visit(
      [](const auto& each) -> const api::meta::v1::ObjectMeta& { return each.metadata; }, object_);
}

bool SourceObject::is_immutable() const {
  return std::visit([](const auto& each) { return each.immutable.value_or(false); }, object_);
}

void SourceObject::MakeImmutable() {
  std::visit([](auto& each) { each.immutable = true; }, object_);
}

Digest SourceObject::DigestOfAll() const {
  return std::visit([](const auto& each) { return ValueDigestsOf(each).whole; }, object_);
}

void SourceObject::TakeData(const SourceObject& other) {
  if (auto* secret = std::get_if<Secret>(&object_)) {
    if (const auto* from = std::get_if<Secret>(&other.object_)) {
      secret->data = from->data;
    }
  } else if (auto* config_map = std::get_if<ConfigMap>(&object_)) {
    if (const auto* from = std::get_if<ConfigMap>(&other.object_)) {
      config_map->data = from->data;
      config_map->binary_data = from->binary_data;
    }
  }
}

void SourceObject::AddData(const SourceObject& other) {
  const auto add = [](auto& to, const auto& from) {
    for (const auto& [key, value] : from) {
      to.insert_or_assign(key, value);
    }
  };
  if (auto* secret = std::get_if<Secret>(&object_)) {
    if (const auto* from = std::get_if<Secret>(&other.object_)) {
      add(secret->data, from->data);
    }
  } else if (auto* config_map = std::get_if<ConfigMap>(&object_)) {
    if (const auto* from = std::get_if<ConfigMap>(&other.object_)) {
      // A key is in one of the two only.
      std::erase_if(config_map->data,
                    [&](const auto& each) { return from->binary_data.contains(each.first); });
      std::erase_if(config_map->binary_data,
                    [&](const auto& each) { return from->data.contains(each.first); });
      add(config_map->data, from->data);
      add(config_map->binary_data, from->binary_data);
    }
  }
}

void SourceObject::Wipe() {
  // Bytes wipe themselves. The annotation of kubectl apply contains the data once more.
  if (auto* secret = std::get_if<Secret>(&object_)) {
    for (auto& [key, value] : secret->metadata.annotations) {
      apimachinery::Wipe(value);
    }
    for (auto& [key, value] : secret->string_data) {
      apimachinery::Wipe(value);
    }
  }
}

}  // namespace kubexx::reloader
