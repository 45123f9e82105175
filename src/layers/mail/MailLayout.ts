import { Eta } from "eta/core"
import { headerText } from "../../domain/mail/Mail.ts"
import type { ContentLine, MailContent, MailScene, RenderedMail } from "../../domain/mail/MailContent.ts"

const safeLink = (url: string): string | undefined =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !/[\s\p{Cc}]/u.test(url) ? url : undefined

const column = (lines: ReadonlyArray<ContentLine>): string => {
  const width = Math.min(60, Math.max(0, ...lines.map(({ label }) => label.length)))
  return lines.map(({ amount, label }) => `${label.padEnd(width)}  ${amount}`).join("\n")
}

const unsubscribeWords: Readonly<Record<string, string>> = {
  en: "Unsubscribe from mails like this",
  de: "Solche E-Mails abbestellen",
  es: "Darse de baja de estos correos",
  fr: "Se désabonner de ces e-mails",
  it: "Annulla l'iscrizione a queste e-mail",
  nl: "Afmelden voor deze e-mails"
}

const unsubscribeWord = ({ locale }: MailScene): string =>
  unsubscribeWords[locale.split("-")[0] ?? ""] ?? "Unsubscribe from mails like this"

const textOf = (content: MailContent, scene: MailScene, link: string | undefined): string => {
  const { button, lines = [], notes = [], paragraphs, totals = [] } = content
  const blocks = [
    ...paragraphs,
    ...(button === undefined || link === undefined ? [] : [`${button.label}:\n${link}`]),
    ...(lines.length === 0 ? [] : [column(lines)]),
    ...(totals.length === 0 ? [] : [column(totals)]),
    ...notes,
    ...(scene.unsubscribeUrl === undefined ? [] : [`${unsubscribeWord(scene)}:\n${scene.unsubscribeUrl}`]),
    `-- \n${scene.storeName}`
  ]
  return `${blocks.join("\n\n")}\n`
}

const eta = new Eta({ autoTrim: [false, "nl"] })

const table = (rows: string, isTotal: boolean) =>
  `<% if (it.${rows}.length > 0) { %>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="border-collapse:collapse;margin:0 0 20px;font-size:15px">
<% it.${rows}.forEach((row, index) => {
     const weight = ${isTotal} && index === it.${rows}.length - 1 ? ";font-weight:600" : "" %>
<tr><td style="padding:6px 0;border-bottom:1px solid #e5e5e5;vertical-align:top<%= weight %>"><%= row.label %></td>` +
  `<td style="padding:6px 0;border-bottom:1px solid #e5e5e5;vertical-align:top<%= weight %>;text-align:right;` +
  `white-space:nowrap;padding-left:16px"><%= row.amount %></td></tr>
<% }) %>
</table>
<% } %>
`

const html = eta.compile(
  `<!doctype html>
<html lang="<%= it.locale %>">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title><%= it.subject %></title>
</head>
<body style="margin:0;padding:24px 12px;background:#f4f4f4;color:#1a1a1a;` +
    `font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:8px">
<tr><td style="padding:28px 28px 0;font-size:18px;font-weight:600"><%= it.storeName %></td></tr>
<tr><td style="padding:20px 28px 16px">
<% for (const paragraph of it.paragraphs) { %>
<p style="margin:0 0 16px;font-size:16px;line-height:1.5"><%= paragraph %></p>
<% } %>
<% if (it.link !== undefined) { %>
<p style="margin:24px 0"><a href="<%= it.link %>" style="display:inline-block;padding:12px 20px;border-radius:6px;` +
    `background:#1a1a1a;color:#ffffff;text-decoration:none;font-weight:600"><%= it.button.label %></a></p>
<p style="margin:0 0 20px;font-size:13px;color:#666666;word-break:break-all"><%= it.link %></p>
<% } %>
${table("lines", false)}${table("totals", true)}
<% for (const note of it.notes) { %>
<p style="margin:0 0 12px;font-size:13px;line-height:1.5;color:#666666"><%= note %></p>
<% } %>
<% if (it.unsubscribeUrl !== undefined) { %>
<p style="margin:0 0 12px;font-size:13px"><a href="<%= it.unsubscribeUrl %>" style="color:#666666"><%= it.word %></a></p>
<% } %>
</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
)

/** Renders text and HTML. All content is text, none is markup. */
export const layOut = (content: MailContent, scene: MailScene): RenderedMail => {
  const link = content.button === undefined ? undefined : safeLink(content.button.url)
  return {
    subject: headerText(content.subject),
    text: textOf(content, scene, link),
    html: eta.render(html, {
      lines: [],
      totals: [],
      notes: [],
      ...content,
      ...scene,
      link,
      word: unsubscribeWord(scene)
    })
  }
}

const linkTemplate = eta.compile(
  `<p style="font-size:13px"><a href="<%= it.unsubscribeUrl %>"><%= it.word %></a></p>\n`
)

/** Adds the link to texts that a template wrote itself, unless they have it. */
export const withUnsubscribeLink = (mail: RenderedMail, scene: MailScene): RenderedMail => {
  const { unsubscribeUrl } = scene
  if (unsubscribeUrl === undefined) return mail
  const word = unsubscribeWord(scene)
  const end = /<\/body\s*>(?!.*<\/body)/is.exec(mail.html)?.index ?? mail.html.length
  return {
    ...mail,
    text: mail.text.includes(unsubscribeUrl) ? mail.text : `${mail.text.trimEnd()}\n\n${word}:\n${unsubscribeUrl}\n`,
    html: mail.html.includes(unsubscribeUrl)
      ? mail.html
      : mail.html.slice(0, end) + eta.render(linkTemplate, { unsubscribeUrl, word }) + mail.html.slice(end)
  }
}
