// A table of thousands of rows, of which only those in sight are in the document. Up, Down, Page Up, Page Down, Home and End go from row
// to row, and Enter follows the row's link.
import { html, useEffect, useRef, useState } from "./html.js";

const SPARE_ROWS = 6;
const narrow = matchMedia("(max-width: 700px)");

function useNarrow() {
  const [is, set] = useState(narrow.matches);
  useEffect(() => {
    const change = () => set(narrow.matches);
    narrow.addEventListener("change", change);
    return () => narrow.removeEventListener("change", change);
  }, []);
  return is;
}

// `rows`: the records, each with a unique `key`. `columns`: {name, wide, cell(row, tabindex)}; of a narrow table those that are `wide` are
// left out, and their content is for `cell` of another column to show.
export function LongTable({ label, rows, columns, heights, empty }) {
  const region = useRef(null);
  const isNarrow = useNarrow();
  const height = isNarrow ? heights.narrow : heights.wide;
  const [view, setView] = useState({ top: 0, size: 900 });
  const [active, setActive] = useState(null);
  const shown = columns.filter((column) => !isNarrow || !column.wide);

  useEffect(() => {
    const element = region.current;
    const look = () => {
      const top = Math.floor(element.scrollTop / height) * height;
      setView((before) => (before.top === top && before.size === element.clientHeight ? before : { top, size: element.clientHeight }));
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      resized.disconnect();
    };
  }, [height]);

  const first = Math.max(0, Math.min(Math.floor(view.top / height) - SPARE_ROWS, rows.length - 1));
  const last = Math.min(rows.length, Math.ceil((view.top + view.size) / height) + SPARE_ROWS);
  const activeAt = Math.max(0, active === null ? 0 : rows.findIndex((row) => row.key === active));

  const focusOn = (at) => {
    const element = region.current;
    const index = Math.max(0, Math.min(rows.length - 1, at));
    setActive(rows[index].key);
    const top = index * height;
    const head = element.querySelector("thead").offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + height + head > element.scrollTop + element.clientHeight) element.scrollTop = top + height + head - element.clientHeight;
    // After the rows that are in sight now have been made.
    requestAnimationFrame(() => requestAnimationFrame(() => element.querySelector(`tr[aria-rowindex="${index + 2}"] a`)?.focus({ preventScroll: true })));
  };
  const onKeyDown = (event) => {
    if (rows.length === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(view.size / height) - 1);
    const steps = { ArrowDown: activeAt + 1, ArrowUp: activeAt - 1, PageDown: activeAt + page, PageUp: activeAt - page, Home: 0, End: rows.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    // From the table itself, the first key goes to the row that Tab would go to.
    focusOn(event.target === region.current && event.key === "ArrowDown" ? activeAt : steps[event.key]);
  };

  // All rows are equally high, whatever is in them.
  const inRow = (content) => html`<div class="cell" style=${{ maxHeight: `${height - 1}px` }}>${content}</div>`;
  const space = (count) => count > 0 && html`<tr class="space" aria-hidden="true"><td colspan=${shown.length} style=${{ height: `${count * height}px` }}></td></tr>`;
  return html`
    <div class="region" role="region" aria-label=${label} tabindex="0" ref=${region} onKeyDown=${onKeyDown}>
      <table aria-rowcount=${rows.length + 1} class=${isNarrow ? "long narrow" : "long"}>
        <caption class="unseen">${label}; the arrow keys go from row to row</caption>
        <thead>
          <tr aria-rowindex="1">${shown.map((column) => html`<th scope="col" class=${column.class}>${column.name}</th>`)}</tr>
        </thead>
        <tbody>
          ${space(first)}
          ${rows.slice(first, last).map(
            (row, i) => html`
              <tr key=${row.key} aria-rowindex=${first + i + 2} class=${row.key === active ? "active" : ""} onFocusIn=${() => setActive(row.key)} style=${{ height: `${height}px` }}>
                ${shown.map((column) => (column.head ? html`<th scope="row" class=${column.class}>${inRow(column.cell(row, first + i === activeAt ? 0 : -1, isNarrow))}</th>` : html`<td class=${column.class}>${inRow(column.cell(row, -1, isNarrow))}</td>`))}
              </tr>
            `,
          )}
          ${space(rows.length - last)}
        </tbody>
      </table>
      ${rows.length === 0 && html`<p class="empty">${empty}</p>`}
    </div>
  `;
}
