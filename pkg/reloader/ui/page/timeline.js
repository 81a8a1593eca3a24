// When the maintenance windows of a policy are open.
import { html } from "./html.js";
import { dayText, hourText, whenText } from "./words.js";

const WIDTH = 700;
const HEIGHT = 46;
const BAR = 22;
const HOUR_MS = 3600 * 1000;
const LISTED = 6;

// The marks below the bar: full hours of a day, or the beginnings of days.
function marksIn(from, hours) {
  const marks = [];
  const at = new Date(from);
  at.setMinutes(0, 0, 0);
  at.setHours(hours > 48 ? 0 : Math.ceil(at.getHours() / 6) * 6);
  while (at.getTime() < from + hours * HOUR_MS) {
    if (at.getTime() >= from) marks.push({ at: at.getTime(), label: hours > 48 ? dayText(at) : hourText(at) });
    if (hours > 48) at.setDate(at.getDate() + 1);
    else at.setHours(at.getHours() + 6);
  }
  return marks;
}

export function Timeline({ windows, hours, now }) {
  const end = now + hours * HOUR_MS;
  const open = windows
    .map((each) => ({ from: Math.max(new Date(each.from).getTime(), now), until: Math.min(new Date(each.until).getTime(), end) }))
    .filter((each) => each.until > now && each.from < end);
  const x = (time) => Math.round(((time - now) / (end - now)) * WIDTH);
  const isOpen = open.length > 0 && open[0].from <= now;
  const text = isOpen ? `Open now, until ${whenText(open[0].until)}.` : open.length ? `Closed now; opens ${whenText(open[0].from)}.` : `Closed for the next ${hours === 24 ? "24 hours" : "7 days"}.`;
  return html`
    <p class=${isOpen ? "open-now" : "closed-now"}>${text}</p>
    <svg class="timeline" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="closed" x="0" y="0" width=${WIDTH} height=${BAR} />
      ${open.map((each) => html`<rect class="open" key=${each.from} x=${x(each.from)} y="0" width=${Math.max(2, x(each.until) - x(each.from))} height=${BAR} />`)}
      ${marksIn(now, hours).map((mark) => html`<line class="mark" key=${mark.at} x1=${x(mark.at)} x2=${x(mark.at)} y1="0" y2=${HEIGHT} />`)}
    </svg>
    <ol class="marks" aria-hidden="true">
      ${marksIn(now, hours).map((mark) => html`<li key=${mark.at} style=${{ left: `${((mark.at - now) / (end - now)) * 100}%` }}>${mark.label}</li>`)}
    </ol>
    ${open.length > 0 &&
    html`<details>
      <summary>${open.length === 1 ? "The time" : "The times"} in words</summary>
      <ul>
        ${open.slice(0, LISTED).map((each) => html`<li key=${each.from}>${each.from <= now ? "now" : whenText(each.from)} until ${whenText(each.until)}</li>`)}
        ${open.length > LISTED && html`<li>and ${open.length - LISTED} more</li>`}
      </ul>
    </details>`}
  `;
}
