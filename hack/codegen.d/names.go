package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// sortedKeys are the keys of a map in ascending order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// cppKeywords are the words that get a trailing underscore as a member name. The last two are macros of GNU dialects, which
// a project that uses the library may be compiled as.
var cppKeywords = func() map[string]bool {
	words := `alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t
char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue
co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix`
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}()

// snakeWords splits a lowerCamelCase name: "clusterIPs" is cluster, ips; "podIP" is pod, ip;
// "x-kubernetes-map-type" is x, kubernetes, map, type.
func snakeWords(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i := 0; i < len(runes); i++ {
		switch {
		case !unicode.IsLetter(runes[i]) && !unicode.IsDigit(runes[i]):
			flush(i)
			start = i + 1
		case unicode.IsUpper(runes[i]) && i > start:
			if !unicode.IsUpper(runes[i-1]) {
				flush(i)
			} else if i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !isPluralOfAcronym(runes, i) {
				flush(i)
			}
		}
	}
	flush(len(runes))
	return words
}

// isPluralOfAcronym tells whether the capital at i ends an acronym in the plural: the P of "clusterIPs".
func isPluralOfAcronym(runes []rune, i int) bool {
	return runes[i+1] == 's' && (i+2 == len(runes) || unicode.IsUpper(runes[i+2]))
}

// irregular are names that the rules of snakeWords would split badly.
var irregular = map[string]string{
	"jSONSchemas":     "json_schemas",
	"openAPIV3Schema": "open_api_v3_schema",
}

// memberName is the C++ member of a JSON name.
func memberName(name string) string {
	if member, ok := irregular[name]; ok {
		return member
	}
	member := strings.Join(snakeWords(name), "_")
	if cppKeywords[member] {
		member += "_"
	}
	return member
}

// title makes the first letter upper-case.
func title(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}

// pluralName gives the CamelCase plural of a kind from the resource's lower-case one:
// NetworkPolicy and networkpolicies give NetworkPolicies.
func pluralName(kind, plural string) string {
	n := 0
	lower := strings.ToLower(kind)
	for n < len(lower) && n < len(plural) && lower[n] == plural[n] {
		n++
	}
	return kind[:n] + plural[n:]
}
