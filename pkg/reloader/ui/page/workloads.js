// All workloads: what each runs with, and what waits and why.
import { html, useMemo, useState, useStore } from "./views.js";
import { Data, Heading, SourceLink, State, WorkloadLink } from "./parts.js";
import { LongTable } from "./table.js";
import { STATES, plural } from "./words.js";

const SHOWN_SOURCES = 2;

function RunsWith({ row }) {
  const rolling = row.sources.filter((source) => source.rolls || source.due);
  return html`<span class="uses">
    ${rolling.slice(0, SHOWN_SOURCES).map(
      (source) => html`<span class=${source.due ? "use use-due" : "use"} key=${source.kind + source.name}>
        <${SourceLink} kind=${source.kind} namespace=${row.namespace} name=${source.name} tabindex=${-1} />${" "}
        <${Data} digest=${source.recorded || (source.due ? "" : source.digest)} missing=${source.due ? "older data" : source.there ? "not recorded" : "missing"} />
      </span>`,
    )}
    ${rolling.length > SHOWN_SOURCES && html`<span class="faint">and ${rolling.length - SHOWN_SOURCES} more</span>`}
  </span>`;
}

function why(row) {
  const reason = row.reason ? `${row.reason}: ` : "";
  return row.why ? reason + row.why : "";
}

const COLUMNS = [
  { name: "State", class: "column-state", cell: (row) => html`<${State} state=${row.state} />` },
  {
    name: "Workload",
    class: "column-name",
    head: true,
    cell: (row, tabindex, isNarrow) => html`
      <${WorkloadLink} workload=${row} tabindex=${tabindex} />
      <span class="line faint">${row.kind} · ${row.namespace}</span>
      ${isNarrow && html`<span class="line why">${why(row)}</span>`}
    `,
  },
  { name: "Runs with", class: "column-uses", wide: true, cell: (row) => html`<${RunsWith} row=${row} />` },
  { name: "What holds it", class: "column-why", wide: true, cell: (row) => html`<span class="why" title=${why(row)}>${why(row)}</span>` },
];

export function Workloads({ store }) {
  useStore(store);
  const [search, setSearch] = useState("");
  const [state, setState] = useState("");
  const all = store.workloads();
  const version = store.version;
  const counts = useMemo(() => {
    const found = {};
    for (const row of all) found[row.state] = (found[row.state] ?? 0) + 1;
    return found;
  }, [version]);
  const rows = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return all.filter((row) => (state === "" || row.state === state) && words.every((word) => row.text.includes(word)));
  }, [version, search, state]);
  const button = (name, label, count) => html`<button type="button" class="filter" aria-pressed=${state === name ? "true" : "false"} onClick=${() => setState(name)} title=${STATES[name]?.help}>
    ${label} <b>${count}</b>
  </button>`;
  return html`
    <${Heading} where="workloads">Workloads</${Heading}>
    <div class="tools">
      <label class="search">Find <input type="search" value=${search} placeholder="name, namespace, kind or source" onInput=${(event) => setSearch(event.target.value)} /></label>
      <div class="filters" role="group" aria-label="State">
        ${button("", "All", all.length)}
        ${Object.keys(STATES).map((name) => (counts[name] || state === name) && button(name, STATES[name].label, counts[name] ?? 0))}
      </div>
    </div>
    <p class="unseen" role="status">${search || state ? `${plural(rows.length, "workload is", "workloads are")} shown` : ""}</p>
    <${LongTable} label="Workloads" rows=${rows} columns=${COLUMNS} heights=${{ wide: 56, narrow: 76 }}
      empty=${all.length ? "No workload is like that." : "There are no workloads, or none that may be read."} />
  `;
}
