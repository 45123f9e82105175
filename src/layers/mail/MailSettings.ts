import { Context, Layer } from "effect"
import type { MailTemplate } from "../../domain/mail/Mail.ts"
import { developmentKeyring, type Keyring } from "../../domain/webhooks/SecretEncryption.ts"
import type { MailLocales } from "./MailContent.ts"

/** Settings of a deployment's mails. */
export interface MailOptions {
  /** Whether there is a transport: a server, an adapter, or the files of development. */
  readonly isOn: boolean
  /** Keys that encrypt mails in the queue. */
  readonly keyring: Keyring
  /** Templates that are not sent. */
  readonly switchedOff: ReadonlyArray<MailTemplate>
  /** Name of the store, in texts and as the name of the sender. */
  readonly storeName: string
  /** Default language. */
  readonly locale: string
  /** Writers of the deployment, which take precedence over the built-in ones. */
  readonly locales: MailLocales
  /** Right side of the ids of messages: the domain of the sender. */
  readonly domain: string
}

export const defaultMailOptions: MailOptions = {
  isOn: true,
  keyring: developmentKeyring,
  switchedOff: [],
  storeName: "Stoa",
  locale: "en",
  locales: {},
  domain: "localhost"
}

/** The settings of this deployment's mails. */
export class MailSettings extends Context.Service<MailSettings, MailOptions>()("stoa/layers/mail/MailSettings") {
  static readonly layerOf = (options: Partial<MailOptions> = {}): Layer.Layer<MailSettings> =>
    Layer.succeed(MailSettings, { ...defaultMailOptions, ...options })
}
