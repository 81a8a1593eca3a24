// What `kubexx-reloader preview` is asked about: files, the standard input, or the folders of
// `kubectl diff`.
#ifndef KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_INPUT_H_
#define KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_INPUT_H_

#include <map>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/kubectl_diff.h"

namespace kubexx {

/// The files that describe objects as they would be.
struct PreviewInput {
  std::vector<reloader::InputText> after{};
  /// The objects as they are, only from `kubectl diff`: in a Secret the values are masked there.
  std::vector<reloader::InputText> before{};
  /// Files that a diff changes and that describe no objects, each with a reason.
  std::vector<std::string> left_out{};
};

/// Reads the files; "-" is the standard input. Where a file is a unified diff, what counts are the
/// files that it changes, as they would be after it: they are looked for from the current folder
/// and from the top of its Git repository. Fails with kInvalidConfig when a file cannot be read,
/// when the input is too long, or when a file is neither what it was before the diff nor after it.
apimachinery::Result<PreviewInput> ReadPreviewFiles(const std::vector<std::string>& files);

/// Reads the two folders that `kubectl diff` gives to the program in KUBECTL_EXTERNAL_DIFF.
apimachinery::Result<PreviewInput> ReadPreviewFolders(const std::string& before,
                                                      const std::string& after);

/// Whether both are folders.
bool AreFolders(const std::vector<std::string>& paths);

/// What is masked in the Secrets of the input.
apimachinery::Result<std::map<reloader::SourceId, reloader::MaskedData>> MaskedSecretsIn(
    const PreviewInput& input, const reloader::DescribedSources& after,
    const std::string& namespace_);

}  // namespace kubexx

#endif  // KUBEXX_CMD_KUBEXX_RELOADER_PREVIEW_INPUT_H_
