package main

import (
	"fmt"
	"strings"
)

// A struct of at most so many fields, without lists and maps, is an aggregate: its special members cost next to nothing
// to compile, and a user can write EnvVar{.name = "A", .value = "B"}.
const maxAggregateFields = 10

// aggregateFields counts the fields of o with those of the structs it holds by value. It returns more than
// maxAggregateFields when there is a list or a map among them.
func aggregateFields(o *object) int {
	count := 0
	for _, f := range o.fields {
		switch {
		case f.cardinality == "kRepeated" || f.cardinality == "kMap" || f.kind == "kStringList":
			return maxAggregateFields + 1
		case f.cardinality == "kPlain" && f.message != nil:
			count += aggregateFields(f.message)
		default:
			count++
		}
	}
	return count
}

// declareMembers writes the copy and move operations, the destructor and the comparison of the struct `name`. Those of an
// aggregate stay implicit. All others are declared here and defined once, by defineMembers: otherwise each file that uses
// a Pod compiles the copying, comparing and destroying of everything in it.
func declareMembers(b *strings.Builder, name string, aggregate bool) {
	if aggregate {
		fmt.Fprintf(b, "  bool operator==(const %s&) const = default;\n", name)
		return
	}
	for _, line := range []string{"%s();", "%[1]s(const %[1]s&);", "%[1]s(%[1]s&&) noexcept;", "%[1]s& operator=(const %[1]s&);",
		"%[1]s& operator=(%[1]s&&) noexcept;", "~%s();", "bool operator==(const %s&) const;"} {
		fmt.Fprintf(b, "  "+line+"\n", name)
	}
}

// defineMembers writes the definitions of what declareMembers declared.
func defineMembers(b *strings.Builder, name string, aggregate bool) {
	if aggregate {
		return
	}
	b.WriteString("\n")
	for _, line := range []string{"%[1]s::%[1]s() = default;", "%[1]s::%[1]s(const %[1]s&) = default;", "%[1]s::%[1]s(%[1]s&&) noexcept = default;",
		"%[1]s& %[1]s::operator=(const %[1]s& other) { return *this = %[1]s(other); }",
		"%[1]s& %[1]s::operator=(%[1]s&& other) noexcept { return kubexx::api::Replace(*this, std::move(other)); }",
		"%[1]s::~%[1]s() = default;", "bool %[1]s::operator==(const %[1]s&) const = default;"} {
		fmt.Fprintf(b, line+"\n", name)
	}
}

func isAggregate(o *object) bool { return aggregateFields(o) <= maxAggregateFields }

// isScalar says whether a C++ type has no constructor and begins with whatever is in memory.
func isScalar(element string) bool {
	return element == "bool" || element == "double" || strings.HasPrefix(element, "std::int") || strings.HasPrefix(element, "std::uint")
}

// initialiser is what stands behind a member of o. In an aggregate every member has one, so that naming only some in braces
// gives no warning; `complete` are the structs that the header has defined so far, as the element of a Box has to be. The
// other structs have constructors, and what has a constructor itself needs none: the compiler would look it up in each file.
func initialiser(o *object, f *field, complete map[*object]bool) string {
	if f.message != nil && f.message.pkg == o.pkg && !complete[f.message] {
		return ""
	}
	if isAggregate(o) || f.message == nil && f.cardinality == "kPlain" && isScalar(f.element) {
		return "{}"
	}
	return ""
}
