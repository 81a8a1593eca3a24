package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// emitConstants writes constants.gen.h of each group version of the module k8s.io/api: its exported string
// constants, which are the values of its enumerations and well-known names. Go's core/v1.PodRunning is
// core::v1::kPodRunning.
func emitConstants(out output, m *model, api string) {
	for _, path := range sortedKeys(m.packages) {
		folder, ok := strings.CutPrefix(path, "k8s.io/api/")
		if !ok {
			continue
		}
		constants := stringConstants(filepath.Join(api, folder))
		p := m.packages[path]
		for _, r := range p.resources {
			check(constants[r.object.gvk.Kind+"Resource"] == "", "%s: the constant %sResource is taken", path, r.object.gvk.Kind)
		}
		if len(constants) == 0 {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "namespace kubexx::api::%s {\n\n", p.namespace())
		for _, name := range sortedKeys(constants) {
			fmt.Fprintf(&b, "inline constexpr char k%s[] = %s;\n", title(name), strconv.Quote(constants[name]))
		}
		fmt.Fprintf(&b, "\n}  // namespace kubexx::api::%s\n", p.namespace())
		out.header(p.dir()+"/constants.gen.h", b.String())
	}
}

// stringConstants reads the exported constants of a Go package whose values are string literals.
func stringConstants(dir string) map[string]string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	check(err == nil && len(files) > 0, "no Go files in %s", dir)
	constants := map[string]string{}
	for _, file := range files {
		base := filepath.Base(file)
		if strings.HasSuffix(base, "_test.go") || strings.Contains(base, "generated") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		check(err == nil, "%v", err)
		for _, declaration := range parsed.Decls {
			if group, ok := declaration.(*ast.GenDecl); ok && group.Tok == token.CONST {
				for _, spec := range group.Specs {
					addConstants(constants, spec.(*ast.ValueSpec))
				}
			}
		}
	}
	delete(constants, "GroupName") // the group is in ResourceInfo
	return constants
}

func addConstants(constants map[string]string, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if !name.IsExported() || i >= len(spec.Values) {
			continue
		}
		if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			check(err == nil, "%s: %v", name.Name, err)
			constants[name.Name] = value
		}
	}
}
