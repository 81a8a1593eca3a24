# Names that two files of one package declare in anonymous namespaces of one namespace: two of its library, or two of its
# tests. Such files do not compile in one batch (cmake/kubexx_precompile.cmake), and a file that is added changes which batch
# others are in. And functions there that have the name of one in a header of the package: in a batch another file's calls of
# that one may find them, since they are overloads then, and mean something else. The headers come as files, too.
FNR == 1 {
  inside = 0
  declaration = outer = ""
  target = FILENAME
  kind = target ~ /\.h$/ ? "header" : target ~ /_test\.cc$/ ? "test" : target ~ /_bench\.cc$/ ? "bench" : "library"
  sub(/(\/internal)?\/[^\/]*$/, "", target)
  target = package_of(target)
  package = target
  target = target " " kind
}
/^namespace [A-Za-z_0-9:]+ \{/ { outer = $2 }
/^namespace \{/ { inside = 1; declaration = ""; next }
/^\}  \/\/ namespace$/ { inside = 0 }
(!inside && kind != "header") || /^ *\/\// || /^#/ { next }
# A declaration begins at the margin and goes on until its body, its value or its end.
/^[A-Za-z]/ && declaration == "" { declaration = $0; line = FNR }
/^ / && declaration != "" { rest = $0; sub(/^ +/, " ", rest); declaration = declaration rest }
declaration == "" || declaration !~ /[{;=]/ || (declaration ~ /=/ && declaration !~ /[{;]/ && declaration ~ /\([^)]*$/) { next }
{
  note(declaration)
  declaration = ""
}

# package_of(FOLDER): the package that FOLDER is a room of (kubexx_package's ROOMS): the next one above that has a CMakeLists.txt.
function package_of(folder,   above, line) {
  if (folder in packages) return packages[folder]
  above = folder
  while (above ~ /^pkg\/[^\/]+\// && above !~ /\/testing$/ && (getline line < (above "/CMakeLists.txt")) < 0) sub(/\/[^\/]*$/, "", above)
  close(above "/CMakeLists.txt")
  packages[folder] = above
  return above
}

function note(text,   name, key, count, words) {
  if (text ~ /^using [A-Za-z_]+ = /) {
    split(text, words, " ")
    key = target " " outer " " words[2]
    if (key in aliases && aliases[key] != text) print FILENAME ":" line ": " words[2] " is something else in " where[key]
    aliases[key] = text
    where[key] = FILENAME
    return
  }
  if (text ~ /^(using|TEST|TYPED_TEST|INSTANTIATE|MATCHER|BENCHMARK|KX_|namespace|static_assert|extern)/) return
  sub(/^template <[^{;(]*> */, "", text)
  if (match(text, /^(class|struct|enum class|enum) [A-Za-z_0-9]+/)) {
    if (text ~ /^[^{]*;/) return
    count = split(substr(text, RSTART, RLENGTH), words, " ")
    name = words[count]
  } else if (match(text, /^[^({=]*[ *&]k[A-Z][A-Za-z0-9]*(\[[^]]*\])*( =|\{|;)/)) {
    name = substr(text, RSTART, RLENGTH)
    sub(/(\[[^]]*\])*( =|\{|;)$/, "", name)
    sub(/.*[ *&]/, "", name)
  } else if (match(text, /^[^(={]*\(/)) {
    name = substr(text, RSTART, RLENGTH - 1)
    if (name ~ /::[A-Za-z_0-9~]+$/ && name !~ / /) return
    sub(/.*[ *&]/, "", name)
    if (name ~ /::/ || name ~ /^KX_/) return # a member, or a macro
    if (name == "") return
    if (kind == "header") of_header[package " " outer " " name] = FILENAME
    else if (kind == "library") of_file[package " " outer " " name] = FILENAME ":" line ": " name
    name = name "(" types(substr(text, RSTART + RLENGTH))
  }
  if (name == "" || kind == "header") return
  key = target " " outer " " name
  if (key in where && where[key] != FILENAME) print FILENAME ":" line ": " name " is in " where[key] " too"
  where[key] = FILENAME
}

END {
  for (key in of_file) {
    if (key in of_header) print of_file[key] " is declared in " of_header[key] " too"
  }
}

# types(TEXT): of the parameters that TEXT begins with, without their names and values.
function types(text,   depth, i, c, parameter, all) {
  depth = 1
  for (i = 1; i <= length(text); i++) {
    c = substr(text, i, 1)
    if (c ~ /[(<[{]/) depth++
    if (c ~ /[])>}]/) depth--
    if (depth == 0 || (c == "," && depth == 1)) {
      sub(/ = .*/, "", parameter)
      sub(/^ +/, "", parameter)
      if (parameter ~ /[ *&][A-Za-z_0-9]+$/) sub(/ ?[A-Za-z_0-9]+$/, "", parameter)
      all = all parameter (depth == 0 ? ")" : ", ")
      parameter = ""
      if (depth == 0) return all
    } else {
      parameter = parameter c
    }
  }
  return all
}
