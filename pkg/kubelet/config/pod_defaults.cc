#include "kubexx/kubelet/config/pod_defaults.h"

#include <string>
#include <string_view>

namespace kubexx::kubelet {
namespace {

namespace core = api::core::v1;

template <class T>
void Default(T& member, T value) {
  if (member == T{}) {
    member = std::move(value);
  }
}

template <class T>
void Default(std::optional<T>& member, T value) {
  if (!member) {
    member = std::move(value);
  }
}

/// Of "host:5000/image:tag@digest": whether each start should ask the registry again.
bool IsLatest(std::string_view image) {
  if (image.contains('@')) {
    return false;
  }
  const std::string_view name = image.substr(image.rfind('/') + 1);
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos || name.substr(colon + 1) == "latest";
}

void SetHandlerDefaults(core::HTTPGetAction* action) {
  if (action != nullptr) {
    Default(action->path, std::string("/"));
    Default(action->scheme, std::string("HTTP"));
  }
}

void SetProbeDefaults(core::Probe* probe) {
  if (probe == nullptr) {
    return;
  }
  Default(probe->timeout_seconds, 1);
  Default(probe->period_seconds, 10);
  Default(probe->success_threshold, 1);
  Default(probe->failure_threshold, 3);
  SetHandlerDefaults(probe->handler.http_get.get());
}

void SetContainerDefaults(core::Container& container, bool host_network) {
  Default(container.image_pull_policy,
          std::string(IsLatest(container.image) ? "Always" : "IfNotPresent"));
  Default(container.termination_message_path, std::string("/dev/termination-log"));
  Default(container.termination_message_policy, std::string("File"));
  for (core::ContainerPort& port : container.ports) {
    Default(port.protocol, std::string("TCP"));
    if (host_network) {
      Default(port.host_port, port.container_port);
    }
  }
  for (auto* probe :
       {&container.liveness_probe, &container.readiness_probe, &container.startup_probe}) {
    SetProbeDefaults(probe->get());
  }
  if (container.lifecycle) {
    for (auto* handler : {&container.lifecycle->post_start, &container.lifecycle->pre_stop}) {
      if (*handler) {
        SetHandlerDefaults((*handler)->http_get.get());
      }
    }
  }
  // What is limited and not asked for is asked for.
  for (const auto& [resource, limit] : container.resources.limits) {
    container.resources.requests.try_emplace(resource, limit);
  }
  for (core::EnvVar& variable : container.env) {
    if (variable.value_from && variable.value_from->field_ref) {
      Default(variable.value_from->field_ref->api_version, std::string("v1"));
    }
  }
}

}  // namespace

void SetPodDefaults(Pod& pod) {
  core::PodSpec& spec = pod.spec;
  Default(spec.restart_policy, std::string("Always"));
  Default(spec.dns_policy, std::string("ClusterFirst"));
  Default(spec.scheduler_name, std::string("default-scheduler"));
  Default(spec.termination_grace_period_seconds, std::int64_t{30});
  Default(spec.enable_service_links, true);
  spec.security_context.get_or_emplace();
  for (auto* containers : {&spec.init_containers, &spec.containers}) {
    for (core::Container& container : *containers) {
      SetContainerDefaults(container, spec.host_network);
    }
  }
  for (core::Volume& volume : spec.volumes) {
    if (volume.volume_source == core::VolumeSource{}) {
      volume.volume_source.empty_dir.emplace();
    }
  }
}

}  // namespace kubexx::kubelet
