#include "kubexx/apiserver/endpoints/call/field_validation.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "kubexx/apiserver/endpoints/call/field_tracking.h"
#include "kubexx/base/text/join.h"
#include "kubexx/base/utf8.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

/// As in kube-apiserver: when there are more bytes than this, each warning is cut, and the last
/// ones are left out.
constexpr std::size_t kMaxWarningBytes = 4096;
constexpr std::size_t kMaxCutWarningBytes = 256;
using managedfields::Type;

using Faults = std::vector<std::string>;

constexpr std::size_t kMaxFaults = 100;
/// The path of each fault may be as long as the object.
constexpr std::size_t kMaxFaultBytes = 256 << 10;

bool IsEnough(const Faults& faults) {
  std::size_t bytes = 0;
  for (const std::string& fault : faults) {
    bytes += fault.size();
  }
  return faults.size() >= kMaxFaults || bytes >= kMaxFaultBytes;
}

/// Makes a path one step longer during its own lifetime.
class Longer {
 public:
  Longer(std::string& path, std::string_view member) : path_(path), size_(path.size()) {
    path.append(path.empty() ? "" : ".").append(member);
  }
  Longer(std::string& path, std::size_t index) : path_(path), size_(path.size()) {
    path.append("[").append(std::to_string(index)).append("]");
  }
  Longer(const Longer&) = delete;
  Longer& operator=(const Longer&) = delete;
  ~Longer() { path_.resize(size_); }

 private:
  std::string& path_;
  const std::size_t size_;
};

/// Returns no type for a member that is not kept.
Type MemberOf(const Type& type, std::string_view name) {
  return type.Prunes(name) ? Type() : type.Member(name);
}

void CollectUnknown(const Type& type, const JsonTree& value, std::string& path, Faults& faults) {
  if (IsEnough(faults)) {
    return;
  }
  if (!type) {
    faults.push_back("unknown field \"" + path + "\"");
    return;
  }
  for (const JsonTree::Member& member : value.members()) {
    const Longer longer(path, member.key);
    CollectUnknown(MemberOf(type, member.key), member.value, path, faults);
  }
  const Type element_type = value.IsArray() ? type.Element() : Type();
  for (std::size_t i = 0; i < value.elements().size(); ++i) {
    const Longer longer(path, i);
    CollectUnknown(element_type, value.elements()[i], path, faults);
  }
}

/// Reads valid JSON and collects faults in the keys of its objects.
class FaultFinder {
 public:
  explicit FaultFinder(std::string_view json) : json_(json) {}

  Faults Run(const Type& type) {
    Value(type);
    return std::move(faults_);
  }

 private:
  /// Returns the next character after white space and separators, or 0 at the end.
  char Next() {
    at_ = std::min(json_.find_first_not_of(" \t\r\n,:", at_), json_.size());
    return at_ < json_.size() ? json_[at_] : '\0';
  }

  /// Returns the string without its quotes. Escapes stay as they are.
  std::string_view String() {
    const std::size_t begin = ++at_;
    while (at_ < json_.size() && json_[at_] != '"') {
      at_ += json_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, json_.size());
    return json_.substr(begin, at_++ - begin);
  }

  void Complain(const char* what) {
    if (!in_unknown_ && !IsEnough(faults_)) {
      faults_.push_back(what + (" field \"" + path_) + "\"");
    }
  }

  void Members(const Type& type) {
    std::set<std::string_view> seen;
    while (Next() == '"') {
      const std::string_view key = String();
      const Longer longer(path_, key);
      if (!seen.insert(key).second) {
        Complain("duplicate");
      }
      Value(in_unknown_ ? Type() : MemberOf(type, key));
    }
    ++at_;
  }

  void Elements(const Type& type) {
    const Type element = in_unknown_ ? Type() : type.Element();
    for (std::size_t i = 0; Next() != ']' && Next() != '\0'; ++i) {
      const Longer longer(path_, i);
      Value(element);
    }
    ++at_;
  }

  void Value(const Type& type) {
    const bool first_unknown = !type && !in_unknown_;
    if (first_unknown) {
      Complain("unknown");
      in_unknown_ = true;
    }
    const char first = Next();
    if (first == '{') {
      ++at_;
      Members(type);
    } else if (first == '[') {
      ++at_;
      Elements(type);
    } else if (first == '"') {
      String();
    } else {
      at_ = std::min(json_.find_first_of(",]} \t\r\n", at_), json_.size());
    }
    in_unknown_ = in_unknown_ && !first_unknown;
  }

  std::string_view json_;
  std::size_t at_ = 0;
  bool in_unknown_ = false;  // below a field that the type does not have
  std::string path_;
  Faults faults_;
};

std::string StrictError(const Faults& faults) {
  return "strict decoding error: " + base::Join(faults, ", ");
}

/// Formats the faults as go-yaml's error.
std::string YamlError(const Faults& duplicates) {
  std::string text = "yaml: unmarshal errors:";
  for (const std::string& duplicate : duplicates) {
    text += "\n  " + duplicate;
  }
  return text;
}

void Append(Faults more, Faults& faults) {
  faults.insert(faults.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

enum class Directive : std::uint8_t { kIgnore, kWarn, kStrict };

Result<Directive> DirectiveOf(const Call& call) {
  const std::string_view given = Param(call.query, "fieldValidation");
  if (given == "Ignore") {
    return Directive::kIgnore;
  }
  if (given == "Strict") {
    return Directive::kStrict;
  }
  if (given.empty() || given == "Warn") {
    return Directive::kWarn;
  }
  return Fail(BadParameter(call, "FieldValueNotSupported",
                           "Unsupported value: " + JsonTree(given).ToJson() +
                               ": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
                           "fieldValidation"));
}

}  // namespace

Result<void> CheckFieldValidation(const Call& call) {
  KX_RETURN_IF_ERROR(DirectiveOf(call));
  return {};
}

Faults UnknownFields(const Type& type, const JsonTree& object) {
  Faults faults;
  std::string path;
  CollectUnknown(type, object, path, faults);
  return faults;
}

Faults FieldFaults(const Type& type, std::string_view json) { return FaultFinder(json).Run(type); }

Result<Faults> CheckFields(const Call& call, const ResourceType& type, std::string_view json,
                           const Faults& duplicates) {
  KX_ASSIGN_OR_RETURN(const Directive directive, DirectiveOf(call));
  if (directive == Directive::kIgnore) {
    return Faults();
  }
  Faults faults = duplicates;
  if (directive == Directive::kStrict && !duplicates.empty()) {
    faults = {YamlError(duplicates)};
  }
  Append(FieldFaults(MergeTypeOf(type), json), faults);
  if (directive == Directive::kStrict && !faults.empty()) {
    return Fail(Reason::kBadRequest, type.kind + " in version \"" + type.version +
                                         "\" cannot be handled as a " + type.kind + ": " +
                                         StrictError(faults));
  }
  return faults;
}

Result<Faults> CheckPatched(const Call& call, const ResourceType& type, const JsonTree& patched) {
  KX_ASSIGN_OR_RETURN(const Directive directive, DirectiveOf(call));
  if (directive == Directive::kIgnore) {
    return Faults();
  }
  Faults faults = FieldFaults(Type::Anything(), call.request.body);
  Append(UnknownFields(MergeTypeOf(type), patched), faults);
  if (directive == Directive::kStrict && !faults.empty()) {
    const std::string message =
        "Invalid value: " + JsonTree(call.request.body).ToJson() + ": " + StrictError(faults);
    Status status(Reason::kInvalid, " \"\" is invalid: patch: " + message, 422);
    status.details.causes.push_back(
        {.reason = "FieldValueInvalid", .message = message, .field = "patch"});
    return Fail(std::move(status));
  }
  return faults;
}

Result<Faults> CheckApplied(const Call& call, const Faults& duplicates) {
  KX_ASSIGN_OR_RETURN(const Directive directive, DirectiveOf(call));
  if (directive == Directive::kStrict && !duplicates.empty()) {
    return Fail(Reason::kBadRequest, "error strict decoding YAML: error converting YAML to JSON: " +
                                         YamlError(duplicates));
  }
  return directive == Directive::kIgnore ? Faults() : duplicates;
}

void AddWarnings(const Faults& warnings, http::Response& response) {
  std::size_t total = 0;
  for (const std::string& warning : warnings) {
    total += warning.size();
  }
  const bool cut = total > kMaxWarningBytes;
  total = 0;
  for (const std::string& warning : warnings) {
    const std::string text = cut && warning.size() > kMaxCutWarningBytes
                                 ? base::ToValidUtf8(warning.substr(0, kMaxCutWarningBytes)) + "..."
                                 : warning;
    total += text.size();
    if (total > kMaxWarningBytes) {
      break;
    }
    response.headers.emplace_back("Warning", "299 - " + JsonTree(text).ToJson());
  }
}

}  // namespace kubexx::apiserver
