// The operators of the cluster, and by whose rules the page judges.
import { Heading } from "./parts.js";
import { html, useStore } from "./views.js";

export function Operators({ store }) {
  useStore(store);
  const operators = store.list("o/");
  const view = store.get("view");
  const error = store.get("cluster")?.operatorsError;
  return html`
    <${Heading} where="operators">Operators</${Heading}>
    ${view && html`<p>The page judges by the flags ${view.rules}.</p>`}
    ${error && html`<p class="alert">The operators are not known: ${error}</p>`}
    ${!error && operators.length === 0 && html`<p class="faint">None has published itself in a ConfigMap reloader-meta-info that you may read.</p>`}
    ${operators.map(
      (operator) => html`<section class="card" key=${operator.key}>
        <h2>${operator.name || "An operator"} <span class="faint">in namespace ${operator.namespace}</span></h2>
        ${operator.unread.map((why) => html`<p class="alert" key=${why}>${why}</p>`)}
        ${operator.flags.length ? html`<p>Its flags that decide what is rolled and when:</p><ul class="flags">${operator.flags.map((flag) => html`<li key=${flag}><code>${flag}</code></li>`)}</ul>` : html`<p>It runs with the default flags.</p>`}
      </section>`,
    )}
  `;
}
