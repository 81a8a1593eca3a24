#include "kubexx/apimachinery/object_key.h"

#include "kubexx/base/keyed_hash.h"

std::size_t std::hash<kubexx::apimachinery::ObjectKey>::operator()(
    const kubexx::apimachinery::ObjectKey& key) const noexcept {
  return kubexx::base::KeyedHash(key.name, kubexx::base::KeyedHash(key.namespace_));
}
