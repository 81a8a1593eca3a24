// What each view imports.
export { html, useEffect, useMemo, useRef, useState } from "./html.js";
export { useStore } from "./store.js";
