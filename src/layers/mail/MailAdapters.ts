import { Effect, Layer, Option } from "effect"
import { join } from "node:path"
import { DeclineSettings } from "../../domain/mail/MailChoices.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { MailSettings } from "./MailTexts.ts"
import { adapterTransport, fileTransport, MailRefused, MailTransport } from "./MailTransport.ts"
import { smtpTransport } from "./SmtpTransport.ts"

const withoutMail = "no mail leaves this deployment: neither email.smtp nor email.send is configured (docs/mail.md)"

/** For jobs from a time when mail was configured. */
const noTransport = Layer.succeed(MailTransport, {
  deliver: () => Effect.fail(new MailRefused({ message: "This deployment sends no mail." }))
})

const transportOf = ({ dataDir, mail: { way } }: AppSettings): Layer.Layer<MailTransport> => {
  switch (way.kind) {
    case "smtp":
      return smtpTransport(way.smtp)
    case "adapter":
      return adapterTransport(way.send)
    case "files":
      return fileTransport(join(dataDir, "mail"))
    case "off":
      return noTransport
  }
}

/** The address of links: in production https or none, because mailboxes follow no other (RFC 8058). */
const originOf = ({ auth: { publicUrl }, environment, host, port }: AppSettings): string | undefined =>
  environment === "production"
    ? Option.getOrUndefined(Option.filter(publicUrl, (url) => url.startsWith("https:")))
    : Option.getOrElse(publicUrl, () => `http://${host}:${port}`)

export const mailAdapters = (settings: AppSettings) => {
  const { deployment: { email, storeName }, environment, mail: { domain, keyring, locale, locales, way } } = settings
  return Layer.mergeAll(
    way.kind === "off" && environment === "production"
      ? Layer.effectDiscard(Effect.logWarning(withoutMail))
      : Layer.empty,
    transportOf(settings),
    DeclineSettings.layerOf({ keyring, storeName, origin: originOf(settings) }),
    MailSettings.layerOf({
      isOn: way.kind !== "off",
      keyring,
      switchedOff: email.switchedOff,
      storeName,
      locale,
      locales,
      domain
    })
  )
}
