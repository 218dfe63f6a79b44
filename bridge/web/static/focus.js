// Changes the page; a link or move that has the focus keeps it, or passes it on to the one that stands in its place.
export function keepFocus(change) {
  const mark = markOf(document.activeElement);
  change();
  if (mark && document.activeElement === document.body) document.querySelector(mark)?.focus({ preventScroll: true });
}

function markOf(element) {
  if (element?.matches("a[href]")) return `a[href="${CSS.escape(element.getAttribute("href"))}"]:not([tabindex="-1"])`;
  return element?.dataset.ply ? `[data-ply="${CSS.escape(element.dataset.ply)}"]` : null;
}
