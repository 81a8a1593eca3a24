"""Asks both servers what they say of their API: discovery in both of its forms, and OpenAPI v3. forms.py calls it."""

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def _member(answer, name):
    """What has gone meanwhile, as groups of other tests do, has none."""
    return answer.body.get(name, []) if answer.code == 200 else []


def _aggregated(side):
    """Each resource by group, version and name, with its subresources by their names."""
    found = {}
    for path in ("/api", "/apis"):
        for group in side.ask("GET", path, accept=_AGGREGATED).body["items"]:
            for version in group["versions"]:
                for resource in version["resources"]:
                    resource["subresources"] = {one["subresource"]: one for one in resource.get("subresources", [])}
                    name = f"{group['metadata'].get('name', '')}/{version['version']}/{resource['resource']}"
                    found[name] = resource
    return found


def _legacy(side):
    """Each resource and subresource by group, version and name, without what compare_storage looks at."""
    found = {}
    groups = side.ask("GET", "/apis").body["groups"]
    for path in ["/api/v1"] + ["/apis/" + version["groupVersion"] for group in groups for version in group["versions"]]:
        for resource in _member(side.ask("GET", path), "resources"):
            resource.pop("storageVersionHash", None)
            found[f"{path}/{resource['name']}"] = resource
    return found


def _shared(documents):
    return sorted(documents[0].keys() & documents[1].keys())


def listable(sides):
    """The paths of all resources that both have and that can be listed."""
    found = [{path for path, resource in _legacy(side).items() if "list" in resource["verbs"]} for side in sides]
    return sorted(found[0] & found[1])


def compare_discovery(comparison):
    """What both say of the resources that both have."""
    found = [_legacy(side) for side in comparison.sides]
    for name in _shared(found):
        comparison.same(f"the resource {name}", *(resources[name] for resources in found))
    found = [_aggregated(side) for side in comparison.sides]
    for name in _shared(found):
        subresources = [resources[name].pop("subresources") for resources in found]
        comparison.same(f"the aggregated resource {name}", *(resources[name] for resources in found))
        for part in _shared(subresources):
            comparison.same(f"the aggregated resource {name}/{part}", *(parts[part] for parts in subresources))


def _empty(schema, path):
    """What is there in a schema, at any depth, and empty. Clients of Go leave it out when they write the document again."""
    for key, value in schema.items():
        if key in ("items", "additionalProperties"):
            if isinstance(value, dict):
                yield from _empty(value, f"{path}/{key}")
            continue
        if value in ({}, []):
            yield f"{path}/{key}"
        if key == "properties":
            for name, one in value.items():
                yield from _empty(one, f"{path}/{name}")
        if isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    yield from _empty(one, f"{path}/{key}")


def compare_v3(comparison):
    """Which members the built-in types have, and that the documents survive a client that reads and writes them."""
    indexes = [side.ask("GET", "/openapi/v3").body["paths"] for side in comparison.sides]
    for path in _shared(indexes):
        if path not in ("api/v1",) and not path.startswith("apis/"):
            continue
        found = [dict(_member(side.ask("GET", index[path]["serverRelativeURL"]), "components")).get("schemas", {})
                 for side, index in zip(comparison.sides, indexes)]
        for name in _shared(found):
            comparison.same(f"the members of {name} in {path}", *(sorted(schemas[name]["properties"]) if "properties" in schemas[name] else None
                                                                  for schemas in found))
        empty = [one for name, schema in found[1].items() for one in _empty(schema, name)]
        comparison.same(f"what is empty in {path}", [], empty)
