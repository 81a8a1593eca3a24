// The cells of tables, as kube-apiserver 1.36 fills them.
#include "kubexx/apiserver/endpoints/response/table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "kubexx/apiserver/resources/builtin_types.h"
#include "kubexx/apiserver/resources/table_cells.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

/// The row of an object of the built-in type, cells divided by " | ", without its age.
std::string RowOf(std::string_view resource, std::string_view version, const std::string& json) {
  for (const ResourceTypeRef& type : BuiltinTypes()) {
    if (type->QualifiedPlural() != resource || type->version != version) {
      continue;
    }
    const auto table = TableOf(*type, {}, json);
    const auto tree = table ? JsonTree::Parse(*table) : apimachinery::Fail(table.error());
    if (!tree) {
      return tree.error().message;
    }
    std::string row;
    const auto cells = tree->At({"rows", "0", "cells"})->elements();
    const auto columns = tree->At({"columnDefinitions"})->elements();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i].TextAt("name") != "Age") {
        row += (row.empty() ? "" : " | ") +
               (cells[i].AsString() == nullptr ? cells[i].ToJson() : *cells[i].AsString());
      }
    }
    return row;
  }
  return "no such type";
}

/// One with the status; two containers.
std::string PodWith(const std::string& status, const std::string& metadata = R"("name":"p")",
                    const std::string& spec = "") {
  return R"({"metadata":{)" + metadata + R"(},"spec":{"containers":[{"name":"a"},{"name":"b"}])" +
         spec + R"(},"status":{)" + status + "}}";
}
std::string PodRow(const std::string& pod) { return RowOf("pods", "v1", pod); }

constexpr const char* kRest = " | <none> | <none> | <none> | <none>";

TEST(PodTableTest, ARunningPodTellsWhichContainersAreReady) {
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running","podIP":"10.0.0.1","containerStatuses":[
      {"name":"a","ready":true,"state":{"running":{}}},{"name":"b","state":{"running":{}}}])",
                           R"("name":"p")", R"(,"nodeName":"n")")),
            "p | 1/2 | Running | 0 | 10.0.0.1 | n | <none> | <none>");
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Pending")")), std::string("p | 0/2 | Pending | 0") + kRest);
}

TEST(PodTableTest, AContainerThatWaitsOrHasEndedTellsWhy) {
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running","containerStatuses":[
      {"name":"a","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])")),
            std::string("p | 0/2 | CrashLoopBackOff | 3") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Failed","containerStatuses":[
      {"name":"a","state":{"terminated":{"exitCode":2}}}])")),
            std::string("p | 0/2 | ExitCode:2 | 0") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Failed","containerStatuses":[
      {"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}])")),
            std::string("p | 0/2 | Signal:9 | 0") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running","containerStatuses":[
      {"name":"a","state":{"terminated":{"reason":"Completed"}}},
      {"name":"b","ready":true,"state":{"running":{}}}])")),
            std::string("p | 1/2 | NotReady | 0") + kRest);
}

TEST(PodTableTest, InitContainersGoFirst) {
  const std::string spec =
      R"(,"initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"}])";
  const std::string name = R"("name":"p")";
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Pending","initContainerStatuses":[
      {"name":"s","started":true,"ready":true,"state":{"running":{}}},
      {"name":"i","restartCount":1,"state":{"running":{}}}])",
                           name, spec)),
            std::string("p | 1/3 | Init:1/2 | 1") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Pending","initContainerStatuses":[
      {"name":"s","state":{"terminated":{"exitCode":1,"reason":"Error"}}}])",
                           name, spec)),
            std::string("p | 0/3 | Init:Error | 0") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running","initContainerStatuses":[
      {"name":"s","started":true,"restartCount":2,"state":{"running":{}}},
      {"name":"i","restartCount":5,"state":{"terminated":{"exitCode":0}}}],"containerStatuses":[
      {"name":"a","ready":true,"state":{"running":{}}}])",
                           name, spec)),
            std::string("p | 1/3 | Running | 2") + kRest);
}

TEST(PodTableTest, OneThatGoesIsTerminatingUnlessItHasEnded) {
  const std::string going = R"("name":"p","deletionTimestamp":"2026-01-01T00:00:00Z")";
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running")", going)),
            std::string("p | 0/2 | Terminating | 0") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Succeeded")", going)),
            std::string("p | 0/2 | Succeeded | 0") + kRest);
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Running","reason":"NodeLost")", going)),
            std::string("p | 0/2 | Unknown | 0") + kRest);
}

TEST(PodTableTest, GatesAndSchedulingAreTold) {
  EXPECT_EQ(PodRow(PodWith(R"("phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","reason":"SchedulingGated"},
      {"type":"example.com/up","status":"True"}])",
                           R"("name":"p")",
                           R"(,"readinessGates":[{"conditionType":"example.com/up"},
                               {"conditionType":"example.com/in"}])")),
            "p | 0/2 | SchedulingGated | 0 | <none> | <none> | <none> | 1/2");
}

TEST(WorkloadTableTest, SelectorsAreWrittenOut) {
  EXPECT_EQ(RowOf("replicasets.apps", "v1", R"({"metadata":{"name":"r"},"spec":{"replicas":3,
      "selector":{"matchLabels":{"b":"1"},"matchExpressions":[
      {"key":"a","operator":"In","values":["y","x"]},{"key":"c","operator":"DoesNotExist"},
      {"key":"d","operator":"Exists"},{"key":"e","operator":"NotIn","values":["z"]}]},
      "template":{"spec":{"containers":[{"name":"m","image":"i:1"},{"name":"n","image":"j"}]}}},
      "status":{"replicas":2,"readyReplicas":1}})"),
            "r | 3 | 2 | 1 | m,n | i:1,j | a in (x,y),b=1,!c,d,e notin (z)");
  EXPECT_EQ(RowOf("replicationcontrollers", "v1", R"({"metadata":{"name":"r"},"spec":{"replicas":1,
      "selector":{"b":"2","a":"1"},"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}}})"),
            "r | 1 | 0 | 0 | m | i | a=1,b=2");
}

TEST(WorkloadTableTest, JobsTellHowFarTheyAre) {
  const auto job = [](const std::string& spec, const std::string& status) {
    return RowOf("jobs.batch", "v1",
                 R"({"metadata":{"name":"j"},"spec":{)" + spec + R"(},"status":{)" + status + "}}");
  };
  EXPECT_EQ(job(R"("completions":3)", R"("succeeded":3,"startTime":"2026-01-01T00:00:00Z",
                   "completionTime":"2026-01-01T00:03:05Z",
                   "conditions":[{"type":"Complete","status":"True"}])"),
            "j | Complete | 3/3 | 3m5s |  |  | <none>");
  EXPECT_EQ(job(R"("parallelism":4)", ""), "j | Running | 0/1 of 4 |  |  |  | <none>");
  EXPECT_EQ(job(R"("parallelism":1)", R"("conditions":[{"type":"Suspended","status":"True"}])"),
            "j | Suspended | 0/1 |  |  |  | <none>");
}

TEST(WorkloadTableTest, CronJobsTellTheirSchedule) {
  EXPECT_EQ(RowOf("cronjobs.batch", "v1", R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily",
      "suspend":false,"jobTemplate":{"spec":{"template":{"spec":{"containers":[
      {"name":"m","image":"i"}]}}}}},"status":{"active":[{}]}})"),
            "c | @daily | <none> | False | 1 | <none> | m | i | <none>");
}

TEST(WorkloadTableTest, RevisionsTellWhoseTheyAre) {
  EXPECT_EQ(RowOf("controllerrevisions.apps", "v1", R"({"metadata":{"name":"r","ownerReferences":[
      {"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","controller":true}]},
      "revision":4})"),
            "r | statefulset.apps/web | 4");
}

TEST(AutoscalerTableTest, TargetsAreToldInBothVersions) {
  EXPECT_EQ(RowOf("horizontalpodautoscalers.autoscaling", "v2", R"({"apiVersion":"autoscaling/v2",
      "metadata":{"name":"h"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"minReplicas":1,"maxReplicas":5,
      "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization",
      "averageUtilization":50}}},{"type":"Pods","pods":{"metric":{"name":"m"},"target":
      {"type":"AverageValue","averageValue":"7"}}},{"type":"External","external":{"target":
      {"value":"9"}}}]},"status":{"currentReplicas":2,"currentMetrics":[{"type":"Resource",
      "resource":{"name":"cpu","current":{"averageUtilization":40}}}]}})"),
            "h | Deployment/d | cpu: 40%/50%, <unknown>/7 + 1 more... | 1 | 5 | 2");
  EXPECT_EQ(RowOf("horizontalpodautoscalers.autoscaling", "v1", R"({"apiVersion":"autoscaling/v1",
      "metadata":{"name":"h"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":5,
      "targetCPUUtilizationPercentage":50},"status":{"currentReplicas":0}})"),
            "h | Deployment/d | cpu: <unknown>/50% | <unset> | 5 | 0");
}

TEST(NetworkTableTest, ServicesTellWhereTheyAre) {
  EXPECT_EQ(RowOf("services", "v1", R"({"metadata":{"name":"s"},"spec":{"type":"LoadBalancer",
      "clusterIP":"10.0.0.1","externalIPs":["1.2.3.4"],"selector":{"b":"2","a":"1"},"ports":[
      {"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]},
      "status":{"loadBalancer":{"ingress":[{"hostname":"h"},{"ip":"5.6.7.8"}]}}})"),
            "s | LoadBalancer | 10.0.0.1 | 5.6.7.8,h,1.2.3.4 | 80:30080/TCP,53/UDP | a=1,b=2");
  EXPECT_EQ(RowOf("services", "v1", R"({"metadata":{"name":"s"},"spec":{"type":"LoadBalancer"}})"),
            "s | LoadBalancer | <none> | <pending> | <none> | <none>");
}

TEST(NetworkTableTest, OfManyEndpointsThreeAreShown) {
  EXPECT_EQ(RowOf("endpoints", "v1", R"({"metadata":{"name":"e"},"subsets":[{"addresses":[
      {"ip":"10.0.0.1"},{"ip":"fd00::1"}],"ports":[{"port":80},{"port":81}]}]})"),
            "e | 10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...");
  EXPECT_EQ(RowOf("endpoints", "v1", R"({"metadata":{"name":"e"}})"), "e | <none>");
  EXPECT_EQ(RowOf("endpointslices.discovery.k8s.io", "v1", R"({"metadata":{"name":"e"},
      "addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"name":"x"},{}]})"),
            "e | IPv4 | x,* | 10.0.0.1");
}

TEST(NetworkTableTest, IngressesTellTheirHosts) {
  EXPECT_EQ(RowOf("ingresses.networking.k8s.io", "v1", R"({"metadata":{"name":"i"},"spec":{"tls":[
      {}],"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}]}})"),
            "i | <none> | a,b,c + 1 more... |  | 80, 443");
}

TEST(StorageTableTest, AClaimTellsWhatItGotOnceItIsBound) {
  EXPECT_EQ(RowOf("persistentvolumeclaims", "v1", R"({"metadata":{"name":"c"},"spec":{
      "volumeName":"v","storageClassName":"fast","volumeMode":"Block"},"status":{"phase":"Bound",
      "capacity":{"storage":"1Gi"},"accessModes":["ReadOnlyMany","ReadWriteOnce"]}})"),
            "c | Bound | v | 1Gi | RWO,ROX | fast | <unset> | Block");
  EXPECT_EQ(RowOf("persistentvolumeclaims", "v1", R"({"metadata":{"name":"c"},"status":{
      "phase":"Pending"}})"),
            "c | Pending |  |  |  |  | <unset> | <unset>");
}

TEST(StorageTableTest, TheDefaultClassIsMarked) {
  EXPECT_EQ(RowOf("storageclasses.storage.k8s.io", "v1", R"({"metadata":{"name":"s","annotations":{
      "storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"})"),
            "s (default) | p | Delete | Immediate | false");
}

TEST(ClusterTableTest, NodesTellTheirRoles) {
  EXPECT_EQ(RowOf("nodes", "v1", R"({"metadata":{"name":"n","labels":{"kubernetes.io/role":"z",
      "node-role.kubernetes.io/worker":""}},"spec":{"unschedulable":true},"status":{"conditions":[
      {"type":"Ready","status":"False"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
      "nodeInfo":{"kubeletVersion":"v1.36.0","osImage":"Debian"}}})"),
            "n | NotReady,SchedulingDisabled | worker,z | v1.36.0 | 10.0.0.1 | <none> | Debian | "
            "<unknown> | <unknown>");
}

TEST(ClusterTableTest, BindingsTellWhomTheyAreFor) {
  EXPECT_EQ(RowOf("rolebindings.rbac.authorization.k8s.io", "v1", R"({"metadata":{"name":"b"},
      "roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"User",
      "name":"v"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","namespace":"n",
      "name":"s"}]})"),
            "b | Role/r | u, v | g | n/s");
}

TEST(ClusterTableTest, RequestsForCertificatesTellHowTheyWereDecided) {
  EXPECT_EQ(RowOf("certificatesigningrequests.certificates.k8s.io", "v1", R"({"metadata":{
      "name":"c"},"spec":{"signerName":"example.com/s","username":"jane","expirationSeconds":3600},
      "status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}})"),
            "c | example.com/s | jane | 60m | Approved,Issued");
}

TEST(EventTableTest, BothGroupsSayTheSame) {
  const std::string core = R"({"metadata":{"name":"e"},"type":"Normal","reason":"R",
      "message":" done\n","involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec"},
      "source":{"component":"kubelet","host":"n"}})";
  const std::string other = R"({"metadata":{"name":"e"},"type":"Normal","reason":"R",
      "note":" done\n","regarding":{"kind":"Pod","name":"p","fieldPath":"spec"},
      "deprecatedSource":{"component":"kubelet","host":"n"}})";
  const std::string row =
      "<unknown> | Normal | R | pod/p | spec | kubelet, n | done | <unknown> | 1 | e";
  EXPECT_EQ(RowOf("events", "v1", core), row);
  EXPECT_EQ(RowOf("events.events.k8s.io", "v1", other), row);
}

TEST(TableTest, OtherTypesHaveTheTimeOfCreation) {
  EXPECT_EQ(RowOf("roles.rbac.authorization.k8s.io", "v1",
                  R"({"metadata":{"name":"r","creationTimestamp":"2026-01-01T00:00:00Z"}})"),
            "r | 2026-01-01T00:00:00Z");
}

TEST(TableTest, AgesAreShort) {
  using std::chrono::hours;
  using std::chrono::seconds;
  EXPECT_EQ(HumanDuration(seconds(-5)), "<invalid>");
  EXPECT_EQ(HumanDuration(seconds(119)), "119s");
  EXPECT_EQ(HumanDuration(seconds(185)), "3m5s");
  EXPECT_EQ(HumanDuration(seconds(3600)), "60m");
  EXPECT_EQ(HumanDuration(hours(5)), "5h");
  EXPECT_EQ(HumanDuration(hours(49)), "2d1h");
  EXPECT_EQ(HumanDuration(hours(24 * 100)), "100d");
  EXPECT_EQ(HumanDuration(hours(24 * 800)), "2y70d");
}

}  // namespace
}  // namespace kubexx::apiserver
