// The words and times that the page shows.
export const STATES = {
  failed: { label: "Failed", help: "the last rollout has failed" },
  refused: { label: "Refused", help: "a rollout is due, and will not be made until annotations change" },
  held: { label: "Held", help: "a rollout is due, and somebody has paused it" },
  waiting: { label: "Waiting", help: "a rollout is due, and waits" },
  due: { label: "Due", help: "a rollout is due, and may begin" },
  rolling: { label: "Rolling", help: "pods are being replaced" },
  paused: { label: "Paused", help: "the workload itself is paused" },
  unavailable: { label: "Unavailable", help: "not all of its pods are available" },
  unknown: { label: "Unknown", help: "it could not be looked at" },
  loading: { label: "Loading", help: "not everything has been listed yet" },
  current: { label: "Current", help: "it runs with the present data, as far as is recorded" },
  nothing: { label: "No source", help: "no source rolls it" },
  unwatched: { label: "Not watched", help: "the operator does not watch it" },
};

const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });

// The time zone of all times that the page itself writes; those in the operator's messages end with Z, and are UTC.
export const ZONE = time.resolvedOptions().timeZone;

export function whenText(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : time.format(date);
}
export function hourText(date) {
  return hour.format(date);
}
export function dayText(date) {
  return day.format(date);
}
export function durationText(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
export function plural(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}
export function policyName(policy) {
  return policy.namespace ? `${policy.namespace}/${policy.name}` : policy.name;
}
