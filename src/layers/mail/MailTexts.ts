import type { Mail, MailOf, MailTemplate } from "../../domain/mail/Mail.ts"
import { headerText } from "../../domain/mail/MailAddress.ts"
import { englishMails } from "./EnglishMails.ts"
import type { MailContent, MailLocales, MailScene, MailWriters } from "./MailContent.ts"
import { layOut } from "./MailLayout.ts"
import type { MailOptions } from "./MailSettings.ts"
import type { RenderedMail } from "./MailTransport.ts"

/** The canonical form of a language tag; undefined for an invalid one. */
export const canonicalLocale = (tag: string): string | undefined => {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** `de-AT` and then `de`. */
const ancestry = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("-"))
}

/** The writer of a template in the nearest language that has one, and that language. */
const writerOf = <T extends MailTemplate>(template: T, locales: MailLocales, wanted: ReadonlyArray<string>) => {
  for (const locale of wanted.flatMap(ancestry)) {
    const writer: MailWriters[T] | undefined = locales[locale]?.[template]
    if (writer !== undefined) return { locale, writer }
    if (locale === "en") break
  }
  return { locale: "en", writer: englishMails[template] }
}

const isWhole = (made: MailContent | RenderedMail): made is RenderedMail => "html" in made

/** The texts of a mail. Throws what a writer of the deployment throws. */
export const renderMail = (
  mail: Mail,
  options: Pick<MailOptions, "locale" | "locales" | "storeName">
): RenderedMail => {
  const asked = mail.locale === undefined ? undefined : canonicalLocale(mail.locale)
  const wanted = asked === undefined ? [options.locale] : [asked, options.locale]
  const write = <T extends MailTemplate>(template: T, data: MailOf<T>["data"]): RenderedMail => {
    const { locale, writer } = writerOf(template, options.locales, wanted)
    const scene: MailScene = { storeName: options.storeName, locale }
    const made = writer(data, scene)
    return isWhole(made) ? { ...made, subject: headerText(made.subject) } : layOut(made, scene)
  }
  switch (mail.template) {
    case "password-reset":
      return write(mail.template, mail.data)
    case "email-verification":
      return write(mail.template, mail.data)
    case "order-confirmation":
      return write(mail.template, mail.data)
    case "order-status-change":
      return write(mail.template, mail.data)
    case "order-invoice":
      return write(mail.template, mail.data)
  }
}
