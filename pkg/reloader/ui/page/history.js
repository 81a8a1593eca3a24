// Histories of rollouts, as operators with --history keep them.
import { html } from "./html.js";
import { Data, SourceLink, When, WorkloadLink } from "./parts.js";
import { durationText } from "./words.js";

// Of objects of described kinds, fields count.
const wordFor = (kind) => (["ConfigMap", "Secret", "SecretProviderClass"].includes(kind) ? "key" : "field");

function Keys({ source }) {
  if (!source.keysAreKnown) return `which ${wordFor(source.kind)}s have changed is not known`;
  const keys = source.keys.map((key) => `${key.key} ${key.is}`);
  if (source.moreKeys > 0) keys.push(`${source.moreKeys} more`);
  return keys.length ? keys.join(", ") : `no ${wordFor(source.kind)} has changed`;
}

// `namespace`: that of the sources. With `workloads`, each rollout names its workload.
export function History({ rollouts, namespace, workloads }) {
  if (rollouts.length === 0) return html`<p class="faint">No rollout is recorded. An operator records them with <code>--history</code>.</p>`;
  return html`<div class="scroll" role="group" aria-label="History" tabindex="0">
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">When</th>
          ${workloads && html`<th scope="col">Workload</th>`}
          <th scope="col">Outcome</th>
          <th scope="col">For</th>
        </tr>
      </thead>
      <tbody>
        ${rollouts.map(
          (rollout) => html`<tr key=${rollout.at + (rollout.workload?.name ?? "")}>
            <td><${When} at=${rollout.at} /></td>
            ${workloads && html`<td><${WorkloadLink} workload=${rollout.workload} /></td>`}
            <td>${rollout.outcome}${rollout.seconds !== undefined ? ` in ${durationText(rollout.seconds)}` : ""}${rollout.inPlace ? `, in place by ${rollout.inPlace}` : ""}</td>
            <td>
              <ul class="bare">
                ${rollout.sources.map(
                  (source) => html`<li key=${source.kind + source.name}>
                    ${source.kind} <${SourceLink} kind=${source.kind} namespace=${namespace} name=${source.name} />${" "}
                    <${Data} digest=${source.digest} missing="deleted" />: <${Keys} source=${source} />${source.by ? `; written by ${source.by}` : ""}
                  </li>`,
                )}
                ${rollout.moreSources > 0 && html`<li>and ${rollout.moreSources} more sources</li>`}
              </ul>
            </td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
