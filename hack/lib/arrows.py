"""Arrows between names, as pairs (from, to): what hack/architecture asks of them."""
import collections


def followers(arrows):
    """Of each node that has arrows, the nodes that they lead to."""
    after = collections.defaultdict(list)
    for start, end in sorted(arrows):
        after[start].append(end)
    return after


def reached(after, start):
    """The nodes that at least one arrow leads to from `start`, each with the one before it on a shortest path."""
    before = {}
    todo = collections.deque([start])
    while todo:
        node = todo.popleft()
        for end in after.get(node, []):
            if end not in before:
                before[end] = node
                todo.append(end)
    return before


def circle(arrows):
    """The nodes of one circle, a shortest through its first node, which comes again at the end; None when there is none."""
    after = followers(arrows)
    for start in sorted(after):
        before = reached(after, start)
        if start in before:
            path = [start, before[start]]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
    return None


def without_shortcuts(arrows):
    """Of arrows without a circle those that do not follow from others."""
    after = followers(arrows)
    return sorted((start, end) for start, end in arrows if not any(end in reached(after, other) for other in after[start] if other != end))
