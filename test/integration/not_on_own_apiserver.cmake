# The integration tests that do not run against kubexx-apiserver, each with what is missing there. What docs/apiserver.md
# does not list as missing has no place here.
set(KUBEXX_NOT_ON_OWN_APISERVER
)
