/// @file
/// Ends namespaces: what the namespace controller does in a cluster.
#ifndef KUBEXX_APISERVER_ENDPOINTS_NAMESPACE_REAPER_H_
#define KUBEXX_APISERVER_ENDPOINTS_NAMESPACE_REAPER_H_

#include <set>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/type_registry.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver {

/// Deletes the objects of namespaces that are being deleted, and then the namespaces, at once where
/// no finalizer holds an object back and within a second or so where one did. Thread-safe.
class NamespaceReaper {
 public:
  /// Both must outlive it.
  NamespaceReaper(TypeRegistry& types, ObjectStore& objects) : types_(types), objects_(objects) {}

  /// Finds the namespaces whose deletion was begun before this process.
  apimachinery::Result<void> Load(const std::stop_token& stop);
  /// `name` is being deleted.
  void Add(const std::string& name, const std::stop_token& stop);
  /// Tries again where something is left; about once a second.
  void Tick(const std::stop_token& stop);

 private:
  /// Whether nothing is left of it.
  apimachinery::Result<bool> Reap(const std::string& name, const std::stop_token& stop);
  apimachinery::Result<bool> Proceed(const std::string& name, const std::stop_token& stop);
  apimachinery::Result<bool> Empty(const ResourceType& type, const std::string& name,
                                   const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  base::Mutex mu_;
  /// One thread at a time for each: one that is late would empty a namespace that has been made
  /// anew since.
  std::set<std::string> active_ KX_GUARDED_BY(mu_);
  std::set<std::string> pending_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_NAMESPACE_REAPER_H_
