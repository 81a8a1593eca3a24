// Command codegen writes the C++ code of the built-in Kubernetes API; hack/codegen runs it.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the repository")
	discovery := flag.String("discovery", "", "api/discovery of the Go module k8s.io/kubernetes")
	openapi := flag.String("openapi", "", "api/openapi-spec/v3 of the Go module k8s.io/kubernetes")
	api := flag.String("api", "", "folder of the Go module k8s.io/api")
	verify := flag.Bool("verify", false, "compare only; exit 1 when something differs")
	flag.Parse()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(os.Stderr, "codegen:", r)
			os.Exit(1)
		}
	}()

	m := loadModel()
	m.checkComplete(*api)
	m.loadResources(*discovery)
	out := output{}
	for _, p := range m.sortedPackages() {
		emitTypes(out, p)
		emitSchema(out, p)
		emitResources(out, p)
	}
	emitConstants(out, m, *api)
	emitClientset(out, m)
	emitMerge(out, m, *openapi)
	emitRegistry(out, m, m.loadRoundTripKinds(filepath.Join(*api, "testdata/HEAD")))

	different := apply(*root, out, *verify)
	fmt.Printf("codegen: %d group versions, %d structs, %d root kinds, %d files, %d of them different\n",
		len(m.packages), len(m.objects), len(m.roots()), len(out), len(different))
	if *verify && len(different) > 0 {
		for _, path := range different {
			fmt.Fprintln(os.Stderr, "  out of date:", path)
		}
		fmt.Fprintln(os.Stderr, "codegen: the committed code is not what the generator writes; run hack/codegen and commit the result")
		os.Exit(1)
	}
}

// apply brings the *.gen.* files under root to the state of out, or only tells which differ.
func apply(root string, out output, verify bool) []string {
	var different []string
	for path, want := range out {
		file := filepath.Join(root, path)
		if have, err := os.ReadFile(file); err == nil && string(have) == want {
			continue
		}
		different = append(different, path)
		if !verify {
			check(os.MkdirAll(filepath.Dir(file), 0o755) == nil, "cannot create the folder of %s", file)
			check(os.WriteFile(file, []byte(want), 0o644) == nil, "cannot write %s", file)
		}
	}
	for _, folder := range []string{"pkg/api", "pkg/kubernetes", "pkg/informers", "pkg/reloadpolicy", "examples"} {
		_ = filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".gen.h") && !strings.HasSuffix(file, ".gen.cc") {
				return nil
			}
			path, err := filepath.Rel(root, file)
			check(err == nil, "%v", err)
			if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), banner) {
				return nil // kubexx-codegen's
			}
			if _, ok := out[path]; !ok {
				different = append(different, path)
				if !verify {
					check(os.Remove(file) == nil, "cannot remove %s", file)
				}
			}
			return nil
		})
	}
	sort.Strings(different)
	return different
}
