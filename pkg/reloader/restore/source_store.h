/// @file
/// The interface through which snapshots and sources are read and written whole.
#ifndef KUBEXX_RELOADER_RESTORE_SOURCE_STORE_H_
#define KUBEXX_RELOADER_RESTORE_SOURCE_STORE_H_

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/restore/source_object.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Reads and writes ConfigMaps and Secrets. Every call blocks until the API server has answered or
/// `stop` is requested. Errors are the server's. Implementations are thread-safe.
class SourceStore {
 public:
  virtual ~SourceStore() = default;

  virtual apimachinery::Result<SourceObject> Get(const SourceId& id,
                                                 const std::stop_token& stop) = 0;
  /// The objects of the source's type, in its namespace, with the label kSnapshotOf of this value.
  virtual apimachinery::Result<std::vector<SourceObject>> ListSnapshots(
      const SourceId& source, const std::string& uid, const std::stop_token& stop) = 0;
  virtual apimachinery::Result<void> Create(const SourceObject& object,
                                            const std::stop_token& stop) = 0;
  /// Replaces the object and returns its new resource version. Fails with kConflict, and changes
  /// nothing, when the stored object has another resource version than `object`.
  virtual apimachinery::Result<std::string> Update(const SourceObject& object,
                                                   const std::stop_token& stop) = 0;
  /// Deletes that very object as it was read, and none that was made or changed since under its
  /// name: then it fails with kConflict.
  virtual apimachinery::Result<void> Delete(const SourceObject& object,
                                            const std::stop_token& stop) = 0;
  /// The key of snapshots, with which they are sealed; see IsOwn. All replicas have the same. Makes
  /// it where there is none yet if `make`, and fails with kNotFound otherwise.
  virtual apimachinery::Result<apimachinery::Bytes> Key(bool make, const std::stop_token& stop) = 0;
};

/// The name of the Secret with the key of snapshots, in the operator's namespace.
inline constexpr char kSnapshotKeySecret[] = "kubexx-reloader-snapshot-key";

/// A SourceStore in the API server. `own_namespace`: where the key of snapshots is.
std::unique_ptr<SourceStore> NewSourceStore(std::shared_ptr<rest::RESTClient> client,
                                            std::string own_namespace);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RESTORE_SOURCE_STORE_H_
