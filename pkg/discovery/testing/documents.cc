#include "kubexx/discovery/testing/documents.h"

#include "kubexx/codec/codec.h"

namespace kubexx::discovery::testing {
namespace {

Group Parse(const std::string& json) {
  auto group = codec::DecodeJson<Group>(json);
  return group ? *group : Group();
}

}  // namespace

Group CoreGroup() {
  return Parse(
      R"({"metadata":{"name":""},"versions":[{"version":"v1","freshness":"Current","resources":[)"
      R"({"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},)"
      R"("scope":"Namespaced","singularResource":"pod","verbs":["get","list"],)"
      R"("shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"status",)"
      R"("responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]}]},)"
      R"({"resource":"events","responseKind":{"group":"","version":"v1","kind":"Event"},)"
      R"("scope":"Namespaced","singularResource":"event","verbs":["list"]},)"
      R"({"resource":"nodes","responseKind":{"group":"","version":"v1","kind":"Node"},)"
      R"("scope":"Cluster","singularResource":"node","verbs":["list"]}]}]})");
}

Group AppsGroup() {
  return Parse(
      R"({"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current",)"
      R"("resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1",)"
      R"("kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment",)"
      R"("verbs":["get"],"shortNames":["deploy"],"subresources":[{"subresource":"scale",)"
      R"("responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}]},)"
      R"({"version":"v1beta1","freshness":"Current","resources":[{"resource":"deployments",)"
      R"("responseKind":{"group":"apps","version":"v1beta1","kind":"Deployment"},)"
      R"("scope":"Namespaced","singularResource":"deployment","verbs":["get"]}]}]})");
}

Group WidgetGroup() {
  return Parse(
      R"({"metadata":{"name":"example.com"},"versions":[{"version":"v1","freshness":"Current",)"
      R"("resources":[{"resource":"widgets","responseKind":{"group":"","version":"","kind":)"
      R"("Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["get"],)"
      R"("shortNames":["wd"],"subresources":[{"subresource":"scale","responseKind":{"group":)"
      R"("autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]},)"
      R"({"resource":"gone","scope":"Namespaced","singularResource":"gone","verbs":[]}]}]})");
}

std::string LegacyDocument(std::string_view target) {
  if (target == "/api") {
    return R"({"kind":"APIVersions","apiVersion":"v1","versions":["v1"]})";
  }
  if (target == "/apis") {
    return R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[)"
           R"({"groupVersion":"apps/v1beta1","version":"v1beta1"},)"
           R"({"groupVersion":"apps/v1","version":"v1"}],)"
           R"("preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},)"
           R"({"name":"metrics.example.com","versions":[{"groupVersion":"metrics.example.com/v1",)"
           R"("version":"v1"}]}]})";
  }
  if (target == "/api/v1") {
    return R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[)"
           R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",)"
           R"("verbs":["get","list"],"shortNames":["po"],"categories":["all"]},)"
           R"({"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod",)"
           R"("verbs":["get"]},{"name":"unknown/part","singularName":"","namespaced":true,)"
           R"("kind":"Part","verbs":[]},{"name":"events","singularName":"event",)"
           R"("namespaced":true,"kind":"Event","verbs":["list"]},{"name":"nodes",)"
           R"("singularName":"node","namespaced":false,"kind":"Node","verbs":["list"]}]})";
  }
  if (target == "/apis/apps/v1") {
    return R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[)"
           R"({"name":"deployments","singularName":"deployment","namespaced":true,)"
           R"("kind":"Deployment","verbs":["get"],"shortNames":["deploy"]},)"
           R"({"name":"deployments/scale","singularName":"","namespaced":true,"group":)"
           R"("autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]})";
  }
  if (target == "/apis/apps/v1beta1") {
    return R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1beta1",)"
           R"("resources":[{"name":"deployments","singularName":"deployment","namespaced":true,)"
           R"("kind":"Deployment","verbs":["get"]}]})";
  }
  return {};
}

}  // namespace kubexx::discovery::testing
