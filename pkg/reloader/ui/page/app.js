// The page of kubexx-reloader: which view is shown, and what is true of all of them.
import { Operators } from "./operators.js";
import { Policies } from "./policies.js";
import { Source, Sources } from "./sources.js";
import { Store, useStore } from "./store.js";
import { html, render, useEffect, useRef, useState } from "./html.js";
import { When } from "./parts.js";
import { Workload } from "./workload.js";
import { Workloads } from "./workloads.js";
import { plural } from "./words.js";

const store = new Store();
const VIEWS = { workloads: "Workloads", sources: "Sources", policies: "Policies", operators: "Operators" };
const ANNOUNCE_MS = 5000;

function placeOf(hash) {
  const parts = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  return parts[0] === "" ? ["workloads"] : parts;
}

function Status() {
  useStore(store);
  const cluster = store.get("cluster");
  const view = store.get("view");
  let text = "Live";
  let state = "live";
  if (store.connection === "out" && store.access !== "link") {
    return html`<p class="status status-lost" role="status">You may not see the page any more: your token has expired, or you have lost the right. <a href="/">Sign in again</a>.</p>`;
  } else if (store.connection === "out") {
    [text, state] = ["This browser may not see the page any more. Open the link that the program has written where it runs.", "lost"];
  } else if (store.connection === "full") {
    [text, state] = ["Too many pages are open. This one follows when another one is closed.", "lost"];
  } else if (store.connection === "lost") {
    [text, state] = ["The program does not answer. The page shows what was so before, and tries again.", "lost"];
  } else if (store.connection === "connecting" || !cluster) {
    [text, state] = ["Connecting", "loading"];
  } else if (!cluster.reachable) {
    return html`<p class="status status-lost" role="status">The API server does not answer since <${When} at=${cluster.since} />: ${cluster.error}. The page shows what was so before.</p>`;
  } else if (!view?.complete) {
    [text, state] = ["Reading the cluster", "loading"];
  }
  return html`<p class=${`status status-${state}`} role="status">${text}</p>`;
}

function Gaps() {
  useStore(store);
  const view = store.get("view");
  if (!view || (view.gaps.length === 0 && view.leftOut === 0)) return null;
  return html`<section class="alert" aria-label="What is not shown">
    ${view.leftOut > 0 && html`<p>${plural(view.leftOut, "workload is", "workloads are")} not shown, because there are too many. With <code>--namespace</code> the program shows one namespace.</p>`}
    ${view.gaps.length > 0 &&
    html`<p>Not everything may be read, or has been read yet${view.namespace ? "" : html`; with <code>--namespace</code> the program asks for one namespace only`}:</p>
      <ul>${view.gaps.map((gap) => html`<li key=${gap}>${gap}</li>`)}</ul>`}
  </section>`;
}

function SignOut() {
  useStore(store);
  if (store.access !== "token" || store.connection === "out") return null;
  const signOut = async () => {
    await fetch("/session", { method: "DELETE" });
    location.replace("/");
  };
  return html`<button type="button" class="sign-out" onClick=${signOut}>Sign out</button>`;
}

// Tells a screen reader, not too often, how many workloads wait or have failed.
function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    let last = "";
    const timer = setInterval(() => {
      const count = (state) => store.workloads().filter((row) => row.state === state).length;
      const now = `${plural(count("waiting") + count("held"), "workload waits", "workloads wait")}, ${count("rolling")} rolling, ${count("failed")} failed`;
      if (now !== last && store.get("view")?.complete) setText((last = now));
    }, ANNOUNCE_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<p class="unseen" aria-live="polite">${text}</p>`;
}

function App() {
  const [place, setPlace] = useState(placeOf(location.hash));
  const isFirst = useRef(true);
  useEffect(() => {
    const onHash = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  const [view, ...rest] = place;
  const name = rest.length === 3 ? rest[2] : VIEWS[view];
  useEffect(() => {
    document.title = name ? `${name} – kubexx-reloader` : "kubexx-reloader";
    // Not at first: then the person is where the browser begins.
    if (!isFirst.current) {
      document.getElementById("heading")?.focus();
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [place.join("/")]);
  const current = { workload: "workloads", source: "sources" }[view] ?? view;
  const [kind, namespace, object] = rest;
  const shown =
    view === "workload" && rest.length === 3 ? html`<${Workload} key=${rest.join("/")} store=${store} kind=${kind} namespace=${namespace} name=${object} />`
    : view === "source" && rest.length === 3 ? html`<${Source} key=${rest.join("/")} store=${store} kind=${kind} namespace=${namespace} name=${object} />`
    : view === "sources" ? html`<${Sources} store=${store} />`
    : view === "policies" ? html`<${Policies} store=${store} />`
    : view === "operators" ? html`<${Operators} store=${store} />`
    : view === "workloads" ? html`<${Workloads} store=${store} />`
    : html`<h1 tabindex="-1" id="heading">There is no such page</h1>`;
  const skip = (event) => {
    event.preventDefault();
    document.getElementById("heading")?.focus();
  };
  return html`
    <a class="skip" href="#heading" onClick=${skip}>Skip to the content</a>
    <header>
      <p class="brand"><img src="/icon.svg" alt="" width="22" height="22" /> kubexx-reloader</p>
      <nav aria-label="Views">
        <ul>${Object.entries(VIEWS).map(([key, label]) => html`<li key=${key}><a href=${`#/${key}`} aria-current=${current === key ? "page" : undefined}>${label}</a></li>`)}</ul>
      </nav>
      <${Status} />
      <${SignOut} />
    </header>
    <main class=${view === "workloads" || view === "sources" ? "full" : ""}>
      <${Gaps} />
      ${shown}
    </main>
    <${Announcer} />
  `;
}

store.follow();
render(html`<${App} />`, document.getElementById("app"));
