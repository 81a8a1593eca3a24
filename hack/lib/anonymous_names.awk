# Names that two files of one package declare in anonymous namespaces: two of its library, or two of its tests. Such files do
# not compile in one batch (cmake/kubexx_precompile.cmake), and a file that is added changes which batch others are in.
FNR == 1 {
  inside = 0
  target = FILENAME
  kind = target ~ /_test\.cc$/ ? "test" : target ~ /_bench\.cc$/ ? "bench" : "library"
  sub(/(\/internal)?\/[^\/]*$/, "", target)
  target = target " " kind
}
/^namespace \{/ { inside = 1 }
/^\}  \/\/ namespace$/ { inside = 0 }
!inside || /^[ }#\/]/ { next }
{
  name = ""
  if (match($0, /^using [A-Za-z_]+ = /)) {
    key = target " " $2
    if (key in aliases && aliases[key] != $0) print FILENAME ":" FNR ": " $2 " is something else in " where[key]
    aliases[key] = $0
    where[key] = FILENAME
    next
  } else if (match($0, /^(class|struct|enum class|enum) [A-Za-z_0-9]+/)) {
    if ($0 ~ /^[^{]*;/) next
    count = split(substr($0, RSTART, RLENGTH), words, " ")
    name = words[count]
  } else if (match($0, /[ *&]k[A-Z][A-Za-z0-9]*(\[\])?( =|\{|\()/)) {
    name = substr($0, RSTART, RLENGTH)
    gsub(/[^A-Za-z0-9]/, "", name)
  } else if ($0 ~ /^[A-Za-z].*\) (const )?\{$/ && match($0, /[A-Za-z_0-9]+\(.*\)/)) {
    if (substr($0, RSTART - 1, 1) == ":" || $0 ~ /^(TEST|TYPED_TEST|MATCHER)/) next
    name = substr($0, RSTART, RLENGTH)
  }
  if (name == "") next
  key = target " " name
  if (key in where && where[key] != FILENAME) print FILENAME ":" FNR ": " name " is in " where[key] " too"
  where[key] = FILENAME
}
