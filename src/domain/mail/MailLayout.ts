import { headerText } from "./MailAddress.ts"
import type { ContentLine, MailContent, MailScene } from "./MailContent.ts"
import type { RenderedMail } from "./MailTransport.ts"

const entities = new Map([["&", "&amp;"], ["<", "&lt;"], [">", "&gt;"], ["\"", "&quot;"], ["'", "&#39;"]])

/** Text for HTML, between tags as well as inside of attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities.get(sign) ?? sign)

/** A link that a browser follows to a page and does nothing else with. */
const safeLink = (url: string): string | undefined =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !/[\s\p{Cc}]/u.test(url) ? url : undefined

const column = (lines: ReadonlyArray<ContentLine>): ReadonlyArray<string> => {
  const width = Math.min(60, Math.max(0, ...lines.map(({ label }) => label.length)))
  return lines.map(({ amount, label }) => `${label.padEnd(width)}  ${amount}`)
}

const textOf = (content: MailContent, { storeName }: MailScene): string => {
  const { button, lines = [], notes = [], paragraphs, totals = [] } = content
  const link = button === undefined ? undefined : safeLink(button.url)
  const blocks = [
    ...paragraphs,
    ...(button === undefined || link === undefined ? [] : [`${button.label}:\n${link}`]),
    ...(lines.length === 0 ? [] : [column(lines).join("\n")]),
    ...(totals.length === 0 ? [] : [column(totals).join("\n")]),
    ...notes,
    `-- \n${storeName}`
  ]
  return `${blocks.join("\n\n")}\n`
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const cell = "padding:6px 0;border-bottom:1px solid #e5e5e5;vertical-align:top"

const row = ({ amount, label }: ContentLine, strong: boolean): string => {
  const weight = strong ? ";font-weight:600" : ""
  return `<tr><td style="${cell}${weight}">${escapeHtml(label)}</td>` +
    `<td style="${cell}${weight};text-align:right;white-space:nowrap;padding-left:16px">${escapeHtml(amount)}</td></tr>`
}

const table = (lines: ReadonlyArray<ContentLine>, lastStrong: boolean): string =>
  lines.length === 0 ? "" : `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" ` +
    `style="border-collapse:collapse;margin:0 0 20px;font-size:15px">` +
    lines.map((line, index) => row(line, lastStrong && index === lines.length - 1)).join("") + "</table>"

const buttonOf = ({ button }: MailContent): string => {
  const link = button === undefined ? undefined : safeLink(button.url)
  if (button === undefined || link === undefined) return ""
  const href = escapeHtml(link)
  return `<p style="margin:24px 0"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:6px;` +
    `background:#1a1a1a;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(button.label)}</a></p>` +
    `<p style="margin:0 0 20px;font-size:13px;color:#666666;word-break:break-all">${href}</p>`
}

const htmlOf = (content: MailContent, { locale, storeName }: MailScene): string => {
  const { lines = [], notes = [], paragraphs, subject, totals = [] } = content
  const paragraph = (text: string) =>
    `<p style="margin:0 0 16px;font-size:16px;line-height:1.5">${escapeHtml(text)}</p>`
  const note = (text: string) =>
    `<p style="margin:0 0 12px;font-size:13px;line-height:1.5;color:#666666">${escapeHtml(text)}</p>`
  return `<!doctype html>
<html lang="${escapeHtml(locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:24px 12px;background:#f4f4f4;color:#1a1a1a;${font}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:8px">
<tr><td style="padding:28px 28px 0;font-size:18px;font-weight:600">${escapeHtml(storeName)}</td></tr>
<tr><td style="padding:20px 28px 16px">
${paragraphs.map(paragraph).join("\n")}
${buttonOf(content)}
${table(lines, false)}
${table(totals, true)}
${notes.map(note).join("\n")}
</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
}

/** Text and HTML of what a mail says; everything in it is text and nothing of it is markup. */
export const layOut = (content: MailContent, scene: MailScene): RenderedMail => ({
  subject: headerText(content.subject),
  text: textOf(content, scene),
  html: htmlOf(content, scene)
})
