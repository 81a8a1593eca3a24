#include "kubexx/apiserver/endpoints/validation/pods/file_sources.h"

#include <set>
#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/env_validation.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kMaxMode = 0777;
constexpr std::int64_t kShortestToken = 600;
constexpr std::int64_t kLongestToken = std::int64_t{1} << 32U;
constexpr std::string_view kFileFields =
    "metadata.annotations|metadata.labels|metadata.name|metadata.namespace|metadata.uid";

void CheckFileMode(const JsonTree& object, std::string_view member, const FieldPath& path,
                   FieldCauses& causes) {
  if (const auto mode = IntAt(object, member); mode && (*mode < 0 || *mode > kMaxMode)) {
    causes.Invalid(path.Of(member), std::to_string(*mode),
                   "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

void CheckItem(const JsonTree& item, const FieldPath& path, FieldCauses& causes) {
  NeedTexts(item, {"key", "path"}, path, causes);
  CheckFilePath(item.TextAt("path"), path.Of("path"), causes);
  CheckFileMode(item, "mode", path, causes);
}

void CheckItems(const JsonTree& source, std::string_view name, const FieldPath& path,
                FieldCauses& causes) {
  NeedText(source, name, path, causes);
  CheckFileMode(source, "defaultMode", path, causes);
  ForEachOf(source, "items", path,
            [&](const JsonTree& item, const FieldPath& here) { CheckItem(item, here, causes); });
}

/// Checks a file with the value of a field. kube-apiserver reports its faults without an index.
void CheckFieldFile(const JsonTree& file, const FieldPath& path, FieldCauses& causes) {
  NeedText(file, "path", path, causes);
  CheckFilePath(file.TextAt("path"), path.Of("path"), causes);
  const JsonTree* const field = GivenAt(file, "fieldRef");
  const JsonTree* const resource = GivenAt(file, "resourceFieldRef");
  if (field != nullptr) {
    CheckFieldReference(*field, kFileFields, path.Member("fieldRef"), causes);
    if (resource != nullptr) {
      causes.Invalid(path.Text(), QuotedJson("resource"),
                     "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource != nullptr) {
    CheckResourceReference(*resource, /*of_volume=*/true, path.Member("resourceFieldRef"), causes);
  } else {
    causes.Required(path.Text(), "one of fieldRef and resourceFieldRef is required");
  }
  CheckFileMode(file, "mode", path, causes);
}

void CheckToken(const JsonTree& token, const FieldPath& at, const FieldPath& path,
                FieldCauses& causes) {
  if (const auto seconds = IntAt(token, "expirationSeconds")) {
    if (*seconds < kShortestToken) {
      causes.Invalid(at.Of("expirationSeconds"), std::to_string(*seconds),
                     "may not specify a duration less than 10 minutes");
    } else if (*seconds > kLongestToken) {
      causes.Invalid(at.Of("expirationSeconds"), std::to_string(*seconds),
                     "may not specify a duration larger than 2^32 seconds");
    }
  }
  if (NeedText(token, "path", path, causes)) {
    CheckFilePath(token.TextAt("path"), path.Of("path"), causes);
  }
}

/// The sources of one volume. Two of them must not make the same file.
class Projection {
 public:
  Projection(const FieldPath& path, FieldCauses& causes) : path_(path), causes_(causes) {}

  void CheckSource(const JsonTree& source, const FieldPath& here) {
    int sources = 0;
    for (const std::string_view kind : {"secret", "configMap"}) {
      IfGiven(source, kind, here, [&](const JsonTree& one, const FieldPath& at) {
        ++sources;
        NeedText(one, "name", at, causes_);
        ForEachOf(one, "items", at, [&](const JsonTree& item, const FieldPath& of_item) {
          CheckItem(item, of_item, causes_);
          Take(item.TextAt("path"));
        });
      });
    }
    IfGiven(source, "downwardAPI", here, [&](const JsonTree& one, const FieldPath& at) {
      ++sources;
      for (const JsonTree& file : ListAt(one, "items")) {
        CheckFieldFile(file, at, causes_);
        Take(file.TextAt("path"));
      }
    });
    IfGiven(source, "serviceAccountToken", here, [&](const JsonTree& one, const FieldPath& at) {
      ++sources;
      CheckToken(one, at, path_, causes_);
    });
    for (const std::string_view kind : {"clusterTrustBundle", "podCertificate"}) {
      sources += GivenAt(source, kind) == nullptr ? 0 : 1;
    }
    if (sources > 1) {
      causes_.Forbidden(here.Text(), "may not specify more than 1 volume type per source");
    }
  }

 private:
  void Take(std::string_view place) {
    if (!place.empty() && !places_.insert(place).second) {
      causes_.Invalid(path_.Text(), QuotedJson(place), "conflicting duplicate paths");
    }
  }

  const FieldPath& path_;
  FieldCauses& causes_;
  std::set<std::string_view> places_{};
};

}  // namespace

void CheckFileSource(const JsonTree& source, const FieldPath& path, FieldCauses& causes) {
  const std::string_view kind = path.Last();
  if (kind == "secret") {
    CheckItems(source, "secretName", path, causes);
    return;
  }
  if (kind == "configMap") {
    CheckItems(source, "name", path, causes);
    return;
  }
  CheckFileMode(source, "defaultMode", path, causes);
  if (kind == "downwardAPI") {
    for (const JsonTree& file : ListAt(source, "items")) {
      CheckFieldFile(file, path, causes);
    }
    return;
  }
  Projection projection(path, causes);
  ForEachOf(source, "sources", path,
            [&](const JsonTree& one, const FieldPath& here) { projection.CheckSource(one, here); });
}

}  // namespace kubexx::apiserver
