// One workload: its sources, what holds it, its settings and its history.
import { History } from "./history.js";
import { Data, Heading, SourceLink, State, When, useAnswer } from "./parts.js";
import { html, useStore } from "./views.js";

function Holds({ explanation }) {
  const holds = [];
  if (explanation.hold) holds.push(explanation.hold);
  holds.push(...explanation.furtherHolds);
  const words = [];
  if (explanation.notWatched) words.push(`The operator does not watch it: ${explanation.notWatched}.`);
  if (explanation.pause) words.push(`It is paused ${explanation.pause}.`);
  if (explanation.refused) words.push(`A rollout ${explanation.due ? "is" : "would be"} refused: ${explanation.refused}`);
  if (explanation.leftAlone) words.push(`A rollout would not be made: ${explanation.leftAlone}.`);
  if (explanation.failure) words.push(`Its rollout has failed and is not mended: ${explanation.failure}.`);
  for (const type of explanation.unreadPolicies) words.push(`${type} may not be read: what they say is not known.`);
  words.push(...explanation.reported.map((each) => `The operator says: ${each}`));
  return html`
    <p>${explanation.due ? (explanation.mayBegin ? "A rollout is due and may begin." : "A rollout is due and does not begin.") : "No rollout is due."}</p>
    ${holds.length > 0 &&
    html`<p>${explanation.due ? "It waits:" : "One that became due would wait:"}</p>
      <ul>
        ${holds.map((hold) => html`<li key=${hold.message}><b>${hold.reason}</b>: ${hold.message}${hold.until && html` (until <${When} at=${hold.until} />)`}</li>`)}
      </ul>`}
    ${words.length > 0 && html`<ul>${words.map((word) => html`<li key=${word}>${word}</li>`)}</ul>`}
  `;
}

function Sources({ explanation }) {
  if (explanation.sources.length === 0) return html`<p class="faint">None; nothing rolls it.</p>`;
  return html`<div class="scroll" role="group" aria-label="Sources" tabindex="0">
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Source</th>
          <th scope="col">Runs with</th>
          <th scope="col">Present data</th>
          <th scope="col">What it does</th>
        </tr>
      </thead>
      <tbody>
        ${explanation.sources.map(
          (source) => html`<tr key=${source.kind + source.name} class=${source.due ? "is-due" : ""}>
            <th scope="row"><${SourceLink} kind=${source.kind} namespace=${explanation.namespace} name=${source.name} /><span class="line faint">${source.kind}</span></th>
            <td><${Data} digest=${source.recorded} missing="not recorded" /></td>
            <td><${Data} digest=${source.digest} missing=${source.exists ? "not known" : "missing"} /></td>
            <td class="words">${source.summary}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function Workload({ store, kind, namespace, name }) {
  useStore(store);
  const id = `${kind}/${namespace}/${name}`;
  const record = store.get(`w/${id}`);
  const { value, error } = useAnswer(`/workload?${id}`, record ? JSON.stringify(record) : "");
  const explanation = value?.explanation;
  const history = value?.history;
  return html`
    <${Heading} where=${id}>${name}</${Heading}>
    <p class="faint">${kind} in namespace ${namespace}</p>
    ${record ? html`<p class="state-line" role="status"><${State} state=${record.state} /> ${record.reason ? `${record.reason}: ` : ""}${record.why}</p>` : html`<p role="status">It does not exist, or may not be read.</p>`}
    ${error && html`<p class="alert">${error}</p>`}
    ${explanation &&
    html`
      <section><h2>What holds it</h2><${Holds} explanation=${explanation} /></section>
      <section><h2>Sources</h2><${Sources} explanation=${explanation} /></section>
      ${explanation.problems.length > 0 &&
      html`<section><h2>What has no effect</h2><ul>${explanation.problems.map((each) => html`<li key=${each}>${each}</li>`)}</ul></section>`}
      ${explanation.settings.length > 0 &&
      html`<section>
        <h2>Settings</h2>
        <dl>${explanation.settings.map((each) => html`<div key=${each.name + each.origin}><dt>${each.name}</dt><dd>${each.value} <span class="faint">${each.origin}</span></dd></div>`)}</dl>
      </section>`}
      <section>
        <h2>History</h2>
        ${history.problem && html`<p class="alert">${history.problem}</p>`}
        <${History} rollouts=${history.rollouts} namespace=${namespace} />
      </section>
      <p class="faint">By the flags ${explanation.flags}.</p>
    `}
  `;
}
