#include "kubexx/apiserver/endpoints/validation/pods/probe_validation.h"

#include <algorithm>
#include <string>

#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/base/ascii.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

bool IsHeaderName(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return base::IsAlphanumeric(c) || c == '-'; });
}

void CheckHttpGet(const JsonTree& get, const FieldPath& path, FieldCauses& causes) {
  CheckPortOrName(get.Find("port"), path.Of("port"), causes);
  CheckChoice(get, "scheme", "HTTP|HTTPS", path, causes);
  for (const JsonTree& header : ListAt(get, "httpHeaders")) {
    if (const std::string_view name = header.TextAt("name"); !IsHeaderName(name)) {
      causes.Invalid(path.Of("httpHeaders"), QuotedJson(name),
                     "must have only letters, digits and '-'");
    }
  }
}

void CheckSleep(const JsonTree& sleep, std::int64_t most, const FieldPath& path,
                FieldCauses& causes) {
  if (const std::int64_t seconds = IntAt(sleep, "seconds").value_or(0);
      seconds < 0 || seconds > most) {
    causes.Invalid(path.Text(), std::to_string(seconds),
                   "must be non-negative and less than terminationGracePeriodSeconds (" +
                       std::to_string(most) + ")");
  }
}

/// Checks that exactly one action is given.
void CheckHandler(const JsonTree& handler, std::int64_t grace_seconds, const FieldPath& path,
                  FieldCauses& causes) {
  bool any = false;
  for (const std::string_view kind : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const JsonTree* const found = GivenAt(handler, kind);
    if (found == nullptr) {
      continue;
    }
    const FieldPath here = path.Member(kind);
    if (any) {
      causes.Forbidden(here.Text(), "may not specify more than 1 handler type");
      continue;
    }
    any = true;
    if (kind == "exec") {
      if (ListAt(*found, "command").empty()) {
        causes.Required(here.Of("command"));
      }
    } else if (kind == "httpGet") {
      CheckHttpGet(*found, here, causes);
    } else if (kind == "sleep") {
      CheckSleep(*found, grace_seconds, here, causes);
    } else {
      CheckPortOrName(found->Find("port"), here.Of("port"), causes);
    }
  }
  if (!any) {
    causes.Required(path.Text(), "must specify a handler type");
  }
}

/// Only a readiness probe may ask for success more than once, and only the others end a container.
void CheckProbe(const JsonTree& probe, bool of_readiness, std::int64_t grace_seconds,
                const FieldPath& path, FieldCauses& causes) {
  CheckHandler(probe, grace_seconds, path, causes);
  for (const std::string_view number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                        "successThreshold", "failureThreshold"}) {
    CheckLeast(probe, number, 0, path, causes);
  }
  const auto grace = IntAt(probe, "terminationGracePeriodSeconds");
  if (grace && *grace <= 0) {
    causes.Invalid(path.Of("terminationGracePeriodSeconds"), std::to_string(*grace),
                   "must be greater than 0");
  }
  if (of_readiness) {
    if (grace) {
      causes.Invalid(path.Of("terminationGracePeriodSeconds"), std::to_string(*grace),
                     "must not be set for readinessProbes");
    }
  } else if (const auto successes = IntAt(probe, "successThreshold");
             successes && *successes != 1) {
    causes.Invalid(path.Of("successThreshold"), std::to_string(*successes), "must be 1");
  }
}

void CheckLifecycle(const JsonTree& lifecycle, std::int64_t grace_seconds, const FieldPath& path,
                    FieldCauses& causes) {
  for (const std::string_view hook : {"postStart", "preStop"}) {
    IfGiven(lifecycle, hook, path, [&](const JsonTree& handler, const FieldPath& here) {
      CheckHandler(handler, grace_seconds, here, causes);
    });
  }
}

}  // namespace

void CheckProbes(const JsonTree& container, std::int64_t grace_seconds, const FieldPath& path,
                 FieldCauses& causes) {
  IfGiven(container, "lifecycle", path, [&](const JsonTree& lifecycle, const FieldPath& here) {
    CheckLifecycle(lifecycle, grace_seconds, here, causes);
  });
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    IfGiven(container, probe, path, [&](const JsonTree& found, const FieldPath& here) {
      CheckProbe(found, probe == "readinessProbe", grace_seconds, here, causes);
    });
  }
}

}  // namespace kubexx::apiserver
