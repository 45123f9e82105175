import type { Fact, ShownDocument } from "./InvoiceDocument.ts"

const style = `
@page{size:A4;margin:18mm}
*{box-sizing:border-box}
body{margin:0;background:#f4f4f4;color:#1a1a1a;font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif}
main{max-width:820px;margin:24px auto;padding:40px;background:#fff}
header{display:flex;justify-content:space-between;gap:24px;margin-bottom:32px}
h1{margin:0 0 12px;font-size:26px;text-align:right}
h2{margin:28px 0 6px;font-size:13px;color:#555;font-weight:600}
.name{font-size:18px;font-weight:600}
.parties{display:flex;gap:48px;margin-bottom:28px}
.parties h2{margin-top:0}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:600;color:#555;border-bottom:2px solid #1a1a1a;padding:6px 0}
td{padding:7px 0;border-bottom:1px solid #e2e2e2;vertical-align:top}
tr{break-inside:avoid}
thead{display:table-header-group}
.n{text-align:right;white-space:nowrap;padding-left:14px;font-variant-numeric:tabular-nums}
.i{overflow-wrap:anywhere}
.details{color:#666;font-size:12px}
.facts{width:auto;margin-left:auto}
.facts td{border:0;padding:2px 0}
.facts td:first-child{color:#555}
.facts .n{padding-left:20px}
.totals{width:320px;margin:16px 0 0 auto}
.strong td{font-weight:700;border-bottom:2px solid #1a1a1a}
.half{display:flex;gap:48px;align-items:flex-start}
.half>section{flex:1}
footer{margin-top:36px;color:#555;font-size:12px}
@media print{body{background:#fff}main{margin:0;padding:0;max-width:none}}
`

const entities = new Map([["&", "&amp;"], ["<", "&lt;"], [">", "&gt;"], ["\"", "&quot;"], ["'", "&#39;"]])

const text = (value: string): string => value.replace(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)
const lines = (all: ReadonlyArray<string>) => all.map((line) => `<div>${text(line)}</div>`).join("")

const factRow = ({ label, strong, value }: Fact) =>
  `<tr${strong === true ? " class=\"strong\"" : ""}><td>${text(label)}</td><td class="n">${text(value)}</td></tr>`

const facts = (all: ReadonlyArray<Fact>, name: string) => `<table class="${name}">${all.map(factRow).join("")}</table>`

const heads = (columns: ReadonlyArray<string>) =>
  `<thead><tr>${
    columns.map((column, index) => `<th${index === 0 ? "" : " class=\"n\""}>${text(column)}</th>`).join("")
  }</tr></thead>`

const itemRow = ({ cells, details, title }: ShownDocument["rows"][number]) =>
  `<tr><td class="i">${text(title)}<div class="details">${lines(details)}</div></td>${
    cells.map((cell) => `<td class="n">${text(cell)}</td>`).join("")
  }</tr>`

const taxes = ({ columns, label, rows }: ShownDocument["taxes"]) =>
  rows.length === 0
    ? ""
    : `<section><h2>${text(label)}</h2><table>${heads(columns)}<tbody>${
      rows.map((row) =>
        `<tr>${row.map((cell, index) => `<td${index === 0 ? "" : " class=\"n\""}>${text(cell)}</td>`).join("")}</tr>`
      ).join("")
    }</tbody></table></section>`

export const htmlOf = (document: ShownDocument): string => {
  const { columns, facts: known, locale, notes, parties, payments, rows, seller, title, totals } = document
  const number = known[0]?.value ?? ""
  return `<!doctype html>
<html lang="${text(locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${text(`${title} ${number}`)}</title>
<style>${style}</style>
</head>
<body><main>
<header><div><div class="name">${text(seller.name)}</div>${lines(seller.lines)}</div><div><h1>${text(title)}</h1>${
    facts(known, "facts")
  }</div></header>
<div class="parties">${
    parties.map(({ label, lines: all }) => `<section><h2>${text(label)}</h2>${lines(all)}</section>`).join("")
  }</div>
<table>${heads(columns)}<tbody>
${rows.map(itemRow).join("\n")}
</tbody></table>
${facts(totals, "totals")}
<div class="half">${taxes(document.taxes)}<section><h2>${text(payments.label)}</h2>${
    facts(payments.facts, "payments")
  }</section></div>
<footer>${lines(notes)}</footer>
</main></body>
</html>
`
}
