// The state that the program sends: records by key, kept up to date by server-sent events.
import { useEffect, useReducer } from "./html.js";

const AGAIN_MS = 3000;

export class Store {
  constructor() {
    this.records = new Map();
    // What the connection to the program is: "connecting", "live", "lost", "full" when it has no place for another page, or "out" when this
    // browser may not see the page any more.
    this.connection = "connecting";
    // How one gets in: "link", "token" for who has signed in, or "header" where a proxy does it.
    this.access = "link";
    this.listeners = new Set();
    this.scheduled = false;
    this.keysChanged = true;
    this.sources = null;
    this.version = 0;
  }

  // Calls `listener` before the next frame after each change, until the returned function is called.
  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed() {
    this.version += 1;
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    });
  }

  // A page that nobody sees gives its connection back: a browser has six for all pages of a program.
  follow() {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.events?.close();
        this.events = null;
      } else if (!this.events) {
        this.connect();
      }
    });
    this.connect();
    this.ask().then(({ access }) => {
      if (!access) return;
      this.access = access;
      this.changed();
    }).catch(() => {}); // the connection tells of that
  }

  // Asks whether this browser may see the page, and by what.
  async ask() {
    const answer = await fetch("/session");
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    return { status: answer.status, access: isJson ? (await answer.json()).by : null };
  }

  connect() {
    if (document.hidden) return;
    const events = new EventSource(this.lastId ? `/events?since=${this.lastId}` : "/events");
    this.events = events;
    events.onopen = () => this.setConnection("live");
    events.onmessage = (event) => {
      this.lastId = event.lastEventId;
      this.apply(JSON.parse(event.data));
    };
    // The program asks now and then whether this browser may still see the page.
    events.addEventListener("again", () => {
      events.close();
      this.connect();
    });
    events.onerror = () => {
      if (this.connection !== "out") this.setConnection("lost");
      // The browser tries again by itself, unless it was answered by something else than a stream.
      if (events.readyState === EventSource.CLOSED) {
        events.close();
        this.events = null;
        this.findOut();
      }
    };
  }

  async findOut() {
    try {
      const { status, access } = await this.ask();
      this.setConnection(status === 401 || status === 403 ? "out" : status === 200 ? "full" : "lost");
      if (access) this.access = access;
    } catch {
      this.setConnection("lost");
    }
    setTimeout(() => {
      if (!this.events) this.connect();
    }, AGAIN_MS);
  }

  setConnection(connection) {
    this.connection = connection;
    this.changed();
  }

  apply({ reset, set, gone }) {
    if (reset) {
      this.records.clear();
      this.keysChanged = true;
    }
    for (const [key, record] of Object.entries(set)) {
      if (!this.records.has(key)) this.keysChanged = true;
      record.key = key;
      if (key.startsWith("w/")) {
        record.text = `${record.kind}/${record.namespace}/${record.name} ${record.sources.map((each) => `${each.kind}/${each.name}`).join(" ")}`.toLowerCase();
      }
      this.records.set(key, record);
    }
    for (const key of gone) {
      this.records.delete(key);
      this.keysChanged = true;
    }
    this.sources = null;
    this.changed();
  }

  get(key) {
    return this.records.get(key);
  }

  // The records of a kind, sorted by key: "w/" for workloads, "p/" for policies, "o/" for operators.
  list(prefix) {
    if (this.keysChanged) {
      this.keys = [...this.records.keys()].sort();
      this.keysChanged = false;
    }
    return this.keys.filter((key) => key.startsWith(prefix)).map((key) => this.records.get(key));
  }

  workloads() {
    return this.list("w/");
  }

  // The sources that workloads use, each with its users; sorted.
  allSources() {
    if (this.sources === null) {
      const found = new Map();
      for (const workload of this.workloads()) {
        for (const source of workload.sources) {
          const key = `${source.kind}/${workload.namespace}/${source.name}`;
          let known = found.get(key);
          if (!known) {
            known = { key, kind: source.kind, namespace: workload.namespace, name: source.name, there: source.there, unknown: source.unknown, digest: source.digest, users: [], due: 0, text: key.toLowerCase() };
            found.set(key, known);
          }
          known.users.push({ workload, use: source });
          if (source.due) known.due += 1;
        }
      }
      this.sources = [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    }
    return this.sources;
  }
}

// Renders the calling component anew when the store has changed.
export function useStore(store) {
  const [, again] = useReducer((count) => count + 1, 0);
  useEffect(() => store.subscribe(again), [store]);
  return store;
}
