# The integration tests that do not run against kubexx-apiserver, each with what is different there: see docs/apiserver.md.
# Patterns of --gtest_filter.
set(KUBEXX_NOT_ON_OWN_APISERVER
  # Not about the API server: they run etcd, and once is enough.
  EtcdStorage*
  # Authorization by roles.
  AuthFilterIntegrationTest.OnlyThoseWithTheRoleReadMetrics
  NamespacesClusterTest.AForbiddenAndAMissingNamespaceStopNoOther
  ReloaderKinds.RollsEveryKindWithTheRightsOfTheOriginalsChart
  # Tokens of service accounts, and roles for them.
  RotationTest.*
  # Anonymous users, whom kube-apiserver knows and then forbids everything.
  RestIntegrationTest.WrongCredentialsAreUnauthorized
  # A history that is forgotten on demand, as with etcd's compaction.
  */CacheHistoryTest.*
  # Validation of specs beyond their types.
  RestIntegrationTest.ReportsTheServersErrors
  # Schemas of custom resources.
  ReloadPolicyIntegration.TheApiServerRefusesWhatTheSchemaForbids
  # That a Scale cannot be applied to a custom resource: here it can.
  ClientsTest.ScaleClientScalesBuiltInAndCustomResources
  # Other subresources: binding, resize, ephemeralcontainers, eviction, token, approval.
  SubresourceTest.PodsAreBoundResizedAndDebugged
  SubresourceTest.EvictionRespectsBudgets
  SubresourceTest.ServiceAccountsGetTokens
  SubresourceTest.CertificateRequestsAreApproved
  # Admission webhooks.
  WebhookIntegrationTest.*
)
