// ConfigMaps, Secrets and SecretProviderClasses, and who uses them.
import { History } from "./history.js";
import { Data, Heading, SourceLink, State, WorkloadLink, useAnswer } from "./parts.js";
import { LongTable } from "./table.js";
import { html, useMemo, useState, useStore } from "./views.js";
import { plural } from "./words.js";

const COLUMNS = [
  {
    name: "Source",
    class: "column-name",
    head: true,
    cell: (row, tabindex, isNarrow) => html`
      <${SourceLink} kind=${row.kind} namespace=${row.namespace} name=${row.name} tabindex=${tabindex} />
      <span class="line faint">${row.kind} · ${row.namespace}</span>
      ${isNarrow && html`<span class="line"><${Data} digest=${row.digest} missing=${row.there ? "not known" : "missing"} /></span>`}
    `,
  },
  { name: "Present data", class: "column-data", wide: true, cell: (row) => html`<${Data} digest=${row.digest} missing=${row.there || row.unknown ? "not known" : "missing"} />` },
  { name: "Used by", class: "column-users", cell: (row) => html`${plural(row.users.length, "workload", "workloads")}${row.due > 0 && html`<span class="line warn">${row.due} not rolled yet</span>`}` },
];

export function Sources({ store }) {
  useStore(store);
  const [search, setSearch] = useState("");
  const all = store.allSources();
  const rows = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return all.filter((row) => words.every((word) => row.text.includes(word)));
  }, [store.version, search]);
  return html`
    <${Heading} where="sources">Sources</${Heading}>
    <div class="tools">
      <label class="search">Find <input type="search" value=${search} placeholder="name, namespace or kind" onInput=${(event) => setSearch(event.target.value)} /></label>
      <p class="faint">Those that a workload uses, or that its annotations name. Data are shown by the first digits of their digest, and never by value.</p>
    </div>
    <p class="unseen" role="status">${search ? `${plural(rows.length, "source is", "sources are")} shown` : ""}</p>
    <${LongTable} label="Sources" rows=${rows} columns=${COLUMNS} heights=${{ wide: 56, narrow: 76 }} empty=${all.length ? "No source is like that." : "No workload uses a source."} />
  `;
}

export function Source({ store, kind, namespace, name }) {
  useStore(store);
  const id = `${kind}/${namespace}/${name}`;
  const source = store.allSources().find((each) => each.key === id);
  const { value, error } = useAnswer(`/source?${id}`, source ? source.digest + source.users.map((each) => each.workload.last?.at + each.workload.last?.outcome).join() : "");
  return html`
    <${Heading} where=${id}>${name}</${Heading}>
    <p class="faint">${kind} in namespace ${namespace}</p>
    ${source
      ? html`<p>Present data: <${Data} digest=${source.digest} missing=${source.there ? "not known" : "missing"} /></p>
          <section>
            <h2>${plural(source.users.length, "workload uses", "workloads use")} it</h2>
            <div class="scroll" role="group" aria-label="Workloads" tabindex="0">
              <table class="plain">
                <thead>
                  <tr><th scope="col">State</th><th scope="col">Workload</th><th scope="col">Runs with</th></tr>
                </thead>
                <tbody>
                  ${source.users.slice(0, 500).map(
                    ({ workload, use }) => html`<tr key=${workload.key} class=${use.due ? "is-due" : ""}>
                      <td><${State} state=${workload.state} /></td>
                      <th scope="row"><${WorkloadLink} workload=${workload} /><span class="line faint">${workload.kind}</span></th>
                      <td>${use.rolls || use.due ? html`<${Data} digest=${use.recorded || (use.due ? "" : use.digest)} missing=${use.due ? "older data" : "not recorded"} />` : html`<span class="faint">never rolled for it</span>`}</td>
                    </tr>`,
                  )}
                </tbody>
              </table>
            </div>
            ${source.users.length > 500 && html`<p class="faint">and ${source.users.length - 500} more, which the search for its name among the workloads finds.</p>`}
          </section>`
      : html`<p role="status">No workload uses it.</p>`}
    <section>
      <h2>Rollouts that were made for it</h2>
      ${error && html`<p class="alert">${error}</p>`}
      ${value && html`<${History} rollouts=${value.rollouts} namespace=${namespace} workloads=${true} />`}
    </section>
  `;
}
