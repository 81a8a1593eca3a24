#include "kubexx/apiserver/endpoints/validation/network/ingress_validation.h"

#include <string>
#include <string_view>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxControllerBytes = 250;
constexpr std::string_view kIngressClassAnnotation = "kubernetes.io/ingress.class";

/// Parts that are forbidden in paths that are compared as they are, because they would have no
/// meaning there.
constexpr std::string_view kBadInPath[] = {"//", "/./", "/../", "%2f", "%2F"};
constexpr std::string_view kBadAtEnd[] = {"/..", "/."};

/// Checks a reference to an object of another type in the same namespace.
void CheckLocalReference(const JsonTree& reference, const FieldPath& path, FieldCauses& causes) {
  if (GivenAt(reference, "apiGroup") != nullptr) {
    CheckDnsSubdomain(reference.TextAt("apiGroup"), path.Of("apiGroup"), causes);
  }
  for (const std::string_view member : {"kind", "name"}) {
    if (NeedText(reference, member, path, causes)) {
      CheckSegment(reference.TextAt(member), path.Of(member), causes);
    }
  }
}

void CheckBackend(const JsonTree& backend, const FieldPath& path, FieldCauses& causes) {
  const JsonTree* const resource = GivenAt(backend, "resource");
  const JsonTree* const service = GivenAt(backend, "service");
  if ((resource == nullptr) == (service == nullptr)) {
    causes.Invalid(path.Text(), QuotedJson(""),
                   resource == nullptr ? "resource or service backend is required"
                                       : "cannot set both resource and service backends");
    return;
  }
  if (resource != nullptr) {
    CheckLocalReference(*resource, path.Member("resource"), causes);
    return;
  }
  const FieldPath at = path.Member("service");
  if (NeedText(*service, "name", at, causes)) {
    CheckDnsLabelAt(*service, "name", at, causes);
  }
  const JsonTree* const port = GivenAt(*service, "port");
  const std::string_view name = port == nullptr ? std::string_view() : port->TextAt("name");
  const std::int64_t number = port == nullptr ? 0 : IntAt(*port, "number").value_or(0);
  if (!name.empty() && number != 0) {
    causes.Invalid(path.Text(), QuotedJson(""), "cannot set both port name & port number");
  } else if (!name.empty()) {
    CheckPortName(name, at.Of("port.name"), causes);
  } else if (number != 0) {
    CheckPortNumber(number, at.Of("port.number"), causes);
  } else {
    causes.Required(path.Text(), "port name or number is required");
  }
}

void CheckPath(const JsonTree& one, const FieldPath& path, FieldCauses& causes) {
  const std::string_view type = one.TextAt("pathType");
  const std::string_view text = one.TextAt("path");
  const auto add = [&](const std::string& why) {
    causes.Invalid(path.Of("path"), QuotedJson(text), why);
  };
  if (GivenAt(one, "pathType") == nullptr) {
    causes.Required(path.Of("pathType"), "pathType must be specified");
    return;
  }
  const bool compared = type == "Exact" || type == "Prefix";
  if (!compared && type != "ImplementationSpecific") {
    AddNotSupported(type, "Exact|ImplementationSpecific|Prefix", path.Of("pathType"), causes);
  } else if (!text.starts_with('/') && (compared || !text.empty())) {
    add("must be an absolute path");
  }
  if (compared) {
    for (const std::string_view bad : kBadInPath) {
      if (text.find(bad) != std::string_view::npos) {
        add("must not contain '" + std::string(bad) + "'");
      }
    }
    for (const std::string_view bad : kBadAtEnd) {
      if (text.ends_with(bad)) {
        add("cannot end with '" + std::string(bad) + "'");
      }
    }
  }
  CheckBackend(PartAt(one, "backend"), path.Member("backend"), causes);
}

/// Checks a DNS name, whose first label may be "*".
void CheckHostName(std::string_view host, const std::string& field, FieldCauses& causes) {
  if (host.find('*') == std::string_view::npos) {
    CheckDnsSubdomain(host, field, causes);
  } else if (!host.starts_with("*.") || !apimachinery::IsDnsSubdomain(host.substr(2))) {
    causes.Invalid(field, QuotedJson(host), "must be a DNS subdomain, with '*' as its first label");
  }
}

void CheckIngressRule(const JsonTree& rule, const FieldPath& path, FieldCauses& causes) {
  if (const std::string_view host = rule.TextAt("host"); !host.empty()) {
    if (!BytesOfOldAddress(host).empty()) {
      causes.Invalid(path.Of("host"), QuotedJson(host), "must be a DNS name, not an IP address");
    }
    CheckHostName(host, path.Of("host"), causes);
  }
  IfGiven(rule, "http", path, [&](const JsonTree& http, const FieldPath& at) {
    if (ListAt(http, "paths").empty()) {
      causes.Required(at.Of("paths"));
    }
    ForEachOf(http, "paths", at,
              [&](const JsonTree& one, const FieldPath& here) { CheckPath(one, here, causes); });
  });
}

void CheckTls(const JsonTree& spec, const FieldPath& path, FieldCauses& causes) {
  ForEachOf(spec, "tls", path, [&](const JsonTree& tls, const FieldPath& here) {
    ForEachOf(tls, "hosts", here, [&](const JsonTree& host, const FieldPath& at) {
      const std::string* const name = host.AsString();
      CheckHostName(name == nullptr ? std::string_view() : std::string_view(*name), at.Text(),
                    causes);
    });
    CheckDnsSubdomainAt(tls, "secretName", here, causes);
  });
}

}  // namespace

void CheckIngress(const JsonTree* old, const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("spec");
  const JsonTree& spec = PartAt(object, "spec");
  if (ListAt(spec, "rules").empty() && GivenAt(spec, "defaultBackend") == nullptr) {
    causes.Invalid("spec", "null", "either `defaultBackend` or `rules` must be specified");
  }
  IfGiven(spec, "defaultBackend", at, [&](const JsonTree& backend, const FieldPath& here) {
    CheckBackend(backend, here, causes);
  });
  ForEachOf(spec, "rules", at, [&](const JsonTree& rule, const FieldPath& here) {
    CheckIngressRule(rule, here, causes);
  });
  CheckTls(spec, at, causes);
  const JsonTree* const name = GivenAt(spec, "ingressClassName");
  if (name == nullptr) {
    return;
  }
  CheckDnsSubdomain(spec.TextAt("ingressClassName"), at.Of("ingressClassName"), causes);
  const JsonTree* const annotation =
      object.At({"metadata", "annotations", kIngressClassAnnotation});
  if (old == nullptr && annotation != nullptr && *annotation != *name) {
    causes.Invalid("annotations." + std::string(kIngressClassAnnotation), annotation->ToJson(),
                   "must match `ingressClassName` when both are specified");
  }
}

void CheckIngressClass(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  const std::string_view controller = spec.TextAt("controller");
  if (controller.size() > kMaxControllerBytes) {
    causes.TooLong(at.Of("controller"), kMaxControllerBytes);
  }
  CheckDomainPath(controller, at.Of("controller"), causes);
  IfGiven(spec, "parameters", at, [&](const JsonTree& parameters, const FieldPath& here) {
    CheckLocalReference(parameters, here, causes);
    const std::string_view scope = parameters.TextAt("scope");
    const JsonTree* const namespace_ = GivenAt(parameters, "namespace");
    if (GivenAt(parameters, "scope") == nullptr) {
      causes.Required(here.Of("scope"));
    } else if (scope == "Namespace" && namespace_ == nullptr) {
      causes.Required(here.Of("namespace"), "`parameters.scope` is set to 'Namespace'");
    } else if (scope == "Namespace") {
      CheckDnsLabel(parameters.TextAt("namespace"), here.Of("namespace"), causes);
    } else if (scope == "Cluster" && namespace_ != nullptr) {
      causes.Forbidden(here.Of("namespace"), "`parameters.scope` is set to 'Cluster'");
    } else {
      CheckChoice(parameters, "scope", "Cluster|Namespace", here, causes);
    }
  });
}

}  // namespace kubexx::apiserver
