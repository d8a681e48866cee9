"""The style sheet of the page, and the script that adds sorting and a search to its tables."""

CSS = """
:root {
  --paper: #ffffff; --ink: #1a1f27; --quiet: #566070; --rule: #d5dae1; --soft: #f4f6f9;
  --fill: #2f6db3; --edge: #b3480f; --link: #1f5fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181f; --ink: #e7ebf1; --quiet: #a3adbb; --rule: #363e4a; --soft: #1c222b;
    --fill: #6aa5e8; --edge: #ffab70; --link: #8cbcf2;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 60rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: clamp(1.7rem, 5vw, 2.5rem); line-height: 1.15; margin: 0 0 .3rem;
  letter-spacing: -.02em; }
h2 { font-size: 1.35rem; margin: 0 0 .6rem; letter-spacing: -.01em; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); }
section { margin-top: 2.75rem; border-top: 1px solid var(--rule); padding-top: 1.5rem; }
code { font: .9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.eyebrow { color: var(--quiet); font-size: .85rem; font-weight: 600; margin: 0 0 .4rem; }
.about, .note, .quiet { color: var(--quiet); }
.promise { border-left: 4px solid var(--fill); padding-left: .9rem; margin: 1rem 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .75rem;
  margin: 1.25rem 0 0; }
.card { background: var(--soft); border: 1px solid var(--rule); border-radius: .5rem;
  padding: .7rem .9rem; }
.card dt { color: var(--quiet); font-size: .85rem; }
.card dd { margin: 0; }
.card strong { display: block; font-size: 1.45rem; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.card span { color: var(--quiet); font-size: .85rem; }
.scroll { overflow-x: auto; margin: .9rem 0; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: .92rem; width: 100%; }
caption { text-align: left; color: var(--quiet); padding-bottom: .4rem; }
th, td { padding: .32rem .7rem .32rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
thead th { border-bottom: 2px solid var(--ink); white-space: nowrap; vertical-align: bottom; }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 9rem; }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.num + :not(.num) { padding-left: .8rem; }
.facts th { width: 17rem; color: var(--quiet); font-weight: 400; }
.facts td { overflow-wrap: anywhere; }
thead button { all: unset; cursor: pointer; font-weight: 600; }
thead button:focus-visible, summary:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
thead button::after { content: " \\2195"; color: var(--quiet); }
th[aria-sort=ascending] button::after { content: " \\2191"; color: var(--ink); }
th[aria-sort=descending] button::after { content: " \\2193"; color: var(--ink); }
.search { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin-top: .9rem; }
.search input { font: inherit; padding: .35rem .6rem; border: 1px solid var(--quiet);
  border-radius: .35rem; background: var(--paper); color: var(--ink); min-width: 15rem; }
.search output { color: var(--quiet); font-size: .9rem; }
summary { cursor: pointer; color: var(--link); }
.terms { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
.terms dt { font-weight: 600; }
.terms dd { margin: 0; }
figure { margin: 1.4rem 0; }
figcaption { max-width: 46rem; margin-bottom: .3rem; }
.plot { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 32rem; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
svg .tick { fill: var(--quiet); font-size: 12px; }
svg .bar { fill: var(--fill); }
svg .line { fill: none; stroke: var(--fill); stroke-width: 2.5; stroke-linejoin: round; }
svg .end { fill: var(--fill); }
svg .dot { fill: var(--fill); fill-opacity: .6; }
svg .outline { fill: none; stroke: var(--edge); stroke-width: 2; }
svg .axis { fill: none; stroke: var(--quiet); }
svg .grid { fill: none; stroke: var(--rule); }
.key { white-space: nowrap; margin-right: .8rem; color: var(--quiet); font-size: .9rem; }
.key i { display: inline-block; width: .9rem; height: .75rem; vertical-align: -.05rem; }
.key .filled { background: var(--fill); }
.key .outlined { border: 2px solid var(--edge); border-bottom: 0; }
@media print {
  :root { --paper: #fff; --ink: #000; --quiet: #333; --rule: #bbb; --soft: #fff; --fill: #8a8a8a;
    --edge: #000; --link: #000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  section { break-inside: auto; margin-top: 1.5rem; }
  svg .line { stroke: var(--ink); }
  figure, tr, .card { break-inside: avoid; }
  .search { display: none; }
  .bar, .end, .dot, .key i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.interactive")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) => typeof a === "number" ? a - b
    : a.localeCompare(b, undefined, {numeric: true});
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.onclick = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      rows.sort((a, b) => (up ? 1 : -1) * compare(value(a, at), value(b, at)));
      body.append(...rows);
    };
  });
  const box = document.createElement("p"), input = document.createElement("input");
  const label = document.createElement("label"), shown = document.createElement("output");
  box.className = "search";
  input.type = "search";
  label.append("Search names ", input);
  box.append(label, shown);
  table.closest(".scroll").before(box);
  input.oninput = () => {
    const wanted = input.value.trim().toLowerCase();
    let found = 0;
    for (const row of rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      found += !row.hidden;
    }
    shown.textContent = wanted ? found + " of " + rows.length + " rows" : "";
  };
}
"""
