// Small parts that several views share.
import { html, useEffect, useState } from "./html.js";
import { STATES, whenText } from "./words.js";

export function State({ state }) {
  const known = STATES[state] ?? { label: state, help: "" };
  return html`<span class=${`state state-${state}`} title=${known.help}>${known.label}</span>`;
}

export function When({ at }) {
  return at ? html`<time datetime=${at}>${whenText(at)}</time>` : null;
}

export function WorkloadLink({ workload, tabindex }) {
  return html`<a href=${`#/workload/${workload.kind}/${workload.namespace}/${workload.name}`} tabindex=${tabindex}>${workload.name}</a>`;
}

export function SourceLink({ kind, namespace, name, tabindex }) {
  return html`<a href=${`#/source/${kind}/${namespace}/${name}`} tabindex=${tabindex}>${name}</a>`;
}

// The digest of the data that a workload runs with, or of a source's present data.
export function Data({ digest, missing = "not known" }) {
  return digest ? html`<code class="digest">${digest}</code>` : html`<span class="faint">${missing}</span>`;
}

// The heading of a view, which gets the focus when the view is opened, so that a screen reader tells of it.
export function Heading({ children, where }) {
  return html`<h1 tabindex="-1" id="heading" data-where=${where}>${children}</h1>`;
}

// What `path` answers, fetched again whenever `version` is another one, at most twice a second.
export function useAnswer(path, version) {
  const [answer, setAnswer] = useState({});
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const response = await fetch(path, { signal: ended.signal });
        const next = response.ok ? { value: await response.json() } : { error: (await response.text()).trim() };
        setAnswer((before) => ({ value: before.value, ...next }));
      } catch {
        // Either nobody waits for it any more, or the program does not answer, which the page says elsewhere.
      }
    }, answer.value === undefined ? 0 : 500);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [path, version]);
  return answer;
}
