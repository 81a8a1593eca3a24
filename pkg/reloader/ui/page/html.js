// What all parts of the page use of the libraries.
import htm from "./vendor/htm.gen.js";
import { h } from "./vendor/preact.gen.js";

export { h, render } from "./vendor/preact.gen.js";
export { useEffect, useMemo, useReducer, useRef, useState } from "./vendor/hooks.gen.js";
export const html = htm.bind(h);
