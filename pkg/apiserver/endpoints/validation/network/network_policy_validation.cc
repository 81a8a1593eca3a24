#include "kubexx/apiserver/endpoints/validation/network/network_policy_validation.h"

#include <string>
#include <string_view>

#include "kubexx/apiserver/endpoints/checks/address_checks.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/ip_address.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::size_t kMaxTypes = 2;

void CheckPolicyPort(const JsonTree& port, const FieldPath& path, FieldCauses& causes) {
  CheckChoice(port, "protocol", "TCP|UDP|SCTP", path, causes);
  const JsonTree* const from = GivenAt(port, "port");
  const auto to = IntAt(port, "endPort");
  const auto refuse_end = [&](std::string_view why) {
    if (to) {
      causes.Invalid(path.Of("endPort"), std::to_string(*to), why);
    }
  };
  if (from == nullptr) {
    refuse_end("may not be specified when `port` is not specified");
    return;
  }
  CheckPortOrName(from, path.Of("port"), causes);
  const auto number = from->AsInt();
  if (!number) {
    refuse_end("may not be specified when `port` is non-numeric");
  } else if (to) {
    if (*to < *number) {
      causes.Invalid(path.Of("endPort"), std::to_string(*number),
                     "must be greater than or equal to `port`");
    }
    CheckPortNumber(*to, path.Of("endPort"), causes);
  }
}

void CheckBlock(const JsonTree& block, const FieldPath& path, FieldCauses& causes) {
  if (!NeedText(block, "cidr", path, causes)) {
    return;
  }
  const std::string_view text = block.TextAt("cidr");
  const auto range = ParseOldCidr(text);
  CheckAddressRange(text, path.Of("cidr"), causes);
  if (!range) {
    return;
  }
  ForEachOf(block, "except", path, [&](const JsonTree& one, const FieldPath& here) {
    const std::string* const except = one.AsString();
    const std::string_view of_except = except == nullptr ? std::string_view() : *except;
    const auto inner = ParseOldCidr(of_except);
    CheckAddressRange(of_except, here.Text(), causes);
    if (inner && !IsWithin(*inner, *range)) {
      causes.Invalid(here.Text(), one.ToJson(), "must be a strict subset of `cidr`");
    }
  });
}

void CheckPeer(const JsonTree& peer, const FieldPath& path, FieldCauses& causes) {
  int selectors = 0;
  for (const std::string_view member : {"podSelector", "namespaceSelector"}) {
    if (const JsonTree* const selector = GivenAt(peer, member)) {
      ++selectors;
      CheckLabelSelector(selector, path.Of(member), causes);
    }
  }
  const JsonTree* const block = GivenAt(peer, "ipBlock");
  if (block != nullptr) {
    CheckBlock(*block, path.Member("ipBlock"), causes);
  }
  if (selectors == 0 && block == nullptr) {
    causes.Required(path.Text(), "must specify a peer");
  } else if (selectors > 0 && block != nullptr) {
    causes.Forbidden(path.Text(), "may not specify both ipBlock and another peer");
  }
}

}  // namespace

void CheckNetworkPolicy(const JsonTree& spec, FieldCauses& causes) {
  const FieldPath at("spec");
  CheckLabelSelector(spec.Find("podSelector"), "spec.podSelector", causes);
  for (const auto& [direction, peers] :
       {std::pair<std::string_view, std::string_view>("ingress", "from"), {"egress", "to"}}) {
    ForEachOf(spec, direction, at, [&](const JsonTree& rule, const FieldPath& here) {
      ForEachOf(rule, "ports", here, [&](const JsonTree& port, const FieldPath& of_port) {
        CheckPolicyPort(port, of_port, causes);
      });
      ForEachOf(rule, peers, here, [&](const JsonTree& peer, const FieldPath& of_peer) {
        CheckPeer(peer, of_peer, causes);
      });
    });
  }
  if (ListAt(spec, "policyTypes").size() > kMaxTypes) {
    causes.Invalid(at.Of("policyTypes"), spec.Find("policyTypes")->ToJson(),
                   "may not specify more than two policyTypes");
    return;
  }
  ForEachOf(spec, "policyTypes", at, [&](const JsonTree& one, const FieldPath& here) {
    const std::string* const type = one.AsString();
    if (type == nullptr || !IsAmong(*type, "Ingress|Egress")) {
      AddNotSupported(type == nullptr ? std::string_view() : *type, "Ingress|Egress", here.Text(),
                      causes);
    }
  });
}

}  // namespace kubexx::apiserver
