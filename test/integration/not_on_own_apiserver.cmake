# The integration tests that do not run against kubexx-apiserver, each with what is different there: see docs/apiserver.md.
# Patterns of --gtest_filter.
set(KUBEXX_NOT_ON_OWN_APISERVER
  # Not about the API server: they run etcd, and once is enough.
  EtcdStorage*
  # What is in kube-system; the server of these tests allows everything to everybody.
  AuthFilterIntegrationTest.OnlyThoseWithTheRoleReadMetrics
  NamespacesClusterTest.AForbiddenAndAMissingNamespaceStopNoOther
  ReloaderKinds.RollsEveryKindWithTheRightsOfTheOriginalsChart
  # Certificates of a cluster's authority.
  RotationTest.*
  # Anonymous users, whom kube-apiserver knows and then forbids everything.
  RestIntegrationTest.WrongCredentialsAreUnauthorized
  # A history that is forgotten on demand, as with etcd's compaction.
  */CacheHistoryTest.*
  # CEL rules of custom resources.
  ReloadPolicyIntegration.TheApiServerRefusesWhatTheSchemaForbids
  HeaderTypesTest.TheServerObeysTheRulesOfTheHeader
  # That a Scale cannot be applied to a custom resource: here it can.
  ClientsTest.ScaleClientScalesBuiltInAndCustomResources
  # The subresource resize.
  SubresourceTest.PodsAreBoundResizedAndDebugged
  # Admission policies.
  ReloaderKinds.WhatARuleForbidsConcernsThatObjectOnly
)
