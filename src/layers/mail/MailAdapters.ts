import { Effect, Layer } from "effect"
import { defaultMailOptions, MailSettings } from "../../domain/mail/MailSettings.ts"
import type { AppSettings } from "../config/AppConfig.ts"

const withoutMail = "no mail leaves this deployment: neither email.smtp nor email.send is configured (docs/mail.md)"

/** The settings of mails and their way out, as the deployment configured them. */
export const mailAdapters = ({ deployment: { email, storeName }, environment, mail: { keyring, way } }: AppSettings) =>
  Layer.mergeAll(
    way.kind === "off" && environment === "production"
      ? Layer.effectDiscard(Effect.logWarning(withoutMail))
      : Layer.empty,
    MailSettings.layerOf({
      isOn: way.kind !== "off",
      keyring,
      switchedOff: email?.switchedOff ?? [],
      storeName: storeName ?? defaultMailOptions.storeName,
      locale: email?.locale ?? defaultMailOptions.locale
    })
  )
