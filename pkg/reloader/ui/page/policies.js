// Policies: what they limit, what they hold back, their windows and waves.
import { Heading, SourceLink, When } from "./parts.js";
import { Timeline } from "./timeline.js";
import { html, useEffect, useState, useStore } from "./views.js";
import { ZONE, plural, policyName } from "./words.js";

// The fields of a policy's spec, with the names that they have in YAML; the windows and waves are shown by themselves.
function fieldsOf(spec, path = "") {
  const fields = [];
  for (const [name, value] of Object.entries(spec)) {
    const full = path ? `${path}.${name}` : name;
    if (Array.isArray(value)) fields.push([full, value.map((each) => (typeof each === "object" ? Object.entries(each).map(([key, of]) => `${key}: ${of}`).join(", ") : String(each))).join("; ")]);
    else if (value !== null && typeof value === "object") fields.push(...fieldsOf(value, full));
    else fields.push([full, String(value)]);
  }
  return fields;
}

// The elements with the same text, as [text, elements], in the order of the first of each.
function togetherBy(elements, textOf) {
  const groups = new Map();
  for (const each of elements) groups.set(textOf(each), [...(groups.get(textOf(each)) ?? []), each]);
  return [...groups];
}

function linkTo(workload, namespace) {
  const parts = workload.split("/");
  const [kind, space, name] = parts.length === 3 ? parts : [parts[0], namespace, parts[1]];
  return html`<a href=${`#/workload/${kind}/${space}/${name}`}>${workload}</a>`;
}

function Waves({ waves }) {
  const part = (count, label, state) => count > 0 && html`<span class=${`state state-${state}`}>${count} ${label}</span>`;
  return waves.map(
    (line) => html`<div class="waves" key=${line.kind + line.namespace + line.name}>
      <h3>Waves for ${line.kind} <${SourceLink} kind=${line.kind} namespace=${line.namespace} name=${line.name} /> <code class="digest">${line.digest}</code></h3>
      <ol>
        ${line.waves.map(
          (wave, i) => html`<li key=${i}>
            <span class="wave-parts">${part(wave.failed, "failed", "failed")}${part(wave.rolling, "rolling", "rolling")}${part(wave.waiting, "waiting", "waiting")}${part(wave.done, "done", "current")}</span>
            <span class="line faint">${wave.first.map((each) => each.split("/").pop()).join(", ")}${wave.first.length < wave.done + wave.rolling + wave.failed + wave.waiting ? " …" : ""}</span>
          </li>`,
        )}
      </ol>
    </div>`,
  );
}

function Policy({ policy, hours, now }) {
  const standing = policy.standing;
  const fields = fieldsOf(policy.spec).filter(([name]) => name !== "paused");
  return html`<section class="card">
    <h2>${policyName(policy)} <span class="faint">${policy.kind}</span></h2>
    <p>
      ${standing.paused && html`<span class="state state-held">Paused</span> `}
      ${plural(standing.active, "rollout", "rollouts")} under way, ${standing.pending} ${standing.pending === 1 ? "waits" : "wait"}, ${standing.failed} failed${standing.seen ? "" : "; no operator has looked at its present state"}
    </p>
    ${standing.invalid && html`<p class="alert">It cannot be understood: ${standing.invalid}</p>`}
    ${standing.stopped && html`<p class="alert">Nothing more is rolled: ${standing.stopped}</p>`}
    ${policy.windows ? html`<h3>Maintenance windows</h3><${Timeline} windows=${policy.windows} hours=${hours} now=${now} />` : html`<p class="faint">It has no maintenance windows: rollouts may begin at any time.</p>`}
    <${Waves} waves=${policy.waves} />
    ${standing.waiting.length > 0 &&
    html`<h3>What waits</h3>
      <ul>
        ${togetherBy(standing.waiting, (each) => `${each.reason}: ${each.message}`).map(
          ([why, all]) => html`<li key=${why}>
            <b>${all[0].reason}</b>${all[0].message ? `: ${all[0].message}` : ""}
            <ul class="row">${all.map((each) => html`<li key=${each.workload}>${linkTo(each.workload, policy.namespace)}${each.since && html`<span class="faint"> since <${When} at=${each.since} /></span>`}</li>`)}</ul>
          </li>`,
        )}
        ${standing.pending > standing.waiting.length && html`<li>and ${standing.pending - standing.waiting.length} more</li>`}
      </ul>`}
    ${standing.failures.length > 0 &&
    html`<h3>What has failed</h3>
      <ul>${standing.failures.map((each) => html`<li key=${each.workload}>${linkTo(each.workload, policy.namespace)}, rolled <${When} at=${each.rolledAt} /></li>`)}</ul>`}
    ${standing.failedWaves.length > 0 &&
    html`<h3>What has failed in a wave</h3>
      <ul>${standing.failedWaves.map((each) => html`<li key=${each.workload}>${linkTo(each.workload, policy.namespace)}, for ${each.sources.join(", ")}, <span class="faint">since <${When} at=${each.since} /></span>: no other rollout begins for these data</li>`)}</ul>`}
    ${standing.restored && html`<p>Restored: ${standing.restored}</p>`}
    ${standing.notRestored && html`<p class="alert">Not restored: ${standing.notRestored}</p>`}
    ${fields.length > 0 &&
    html`<details>
      <summary>What it says</summary>
      <dl>${fields.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    </details>`}
  </section>`;
}

export function Policies({ store }) {
  useStore(store);
  const [hours, setHours] = useState(24);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60 * 1000);
    return () => clearInterval(timer);
  }, []);
  const policies = store.list("p/");
  const choice = (count, label) => html`<button type="button" class="filter" aria-pressed=${hours === count ? "true" : "false"} onClick=${() => setHours(count)}>${label}</button>`;
  return html`
    <${Heading} where="policies">Policies</${Heading}>
    ${policies.some((policy) => policy.windows) && html`<div class="tools"><div class="filters" role="group" aria-label="Time line">${choice(24, "24 hours")}${choice(24 * 7, "7 days")}</div><p class="faint">Times are those of ${ZONE}.</p></div>`}
    ${policies.length === 0 && html`<p class="faint">There are no ReloadPolicies and ClusterReloadPolicies, or none that may be read.</p>`}
    ${policies.map((policy) => html`<${Policy} key=${policy.key} policy=${policy} hours=${hours} now=${now} />`)}
  `;
}
