import { Option, Schema } from "effect"
import { isPluginMail, Mail, type MailContent } from "../../domain/mail/Mail.ts"
import type { OrderId } from "../../domain/platform/ids/Id.ts"
import { encryptSecret, type Keyring, openSecret } from "../../domain/webhooks/SecretEncryption.ts"

/**
 * Input of `mail/send`. The mail is encrypted: it holds an address and often a link that opens an account. Additions
 * must be optional: jobs outlive versions.
 */
export const EncryptedMail = Schema.Struct({
  template: Schema.String,
  orderId: Schema.optional(Schema.String),
  keyId: Schema.String,
  encrypted: Schema.String,
  mailId: Schema.optional(Schema.String),
  postponed: Schema.optional(Schema.Int)
})
export type EncryptedMail = typeof EncryptedMail.Type

const MailJson = Schema.fromJsonString(Mail)
const encode = Schema.encodeSync(MailJson)
const decodeMail = Schema.decodeUnknownOption(MailJson)

export const orderOf = (mail: Mail): OrderId | undefined =>
  !isPluginMail(mail) && "orderId" in mail.data ? mail.data.orderId : undefined

/** Binds the input to its organization: elsewhere it does not decrypt. */
const ownerOf = (organizationId: string) => `mail/${organizationId}`

export const encryptMail = (keyring: Keyring, mail: Mail): EncryptedMail => {
  const { keyId, text } = encryptSecret(keyring, ownerOf(mail.organizationId), encode(mail))
  const orderId = orderOf(mail)
  const about = orderId === undefined ? {} : { orderId }
  return { template: mail.template, ...about, keyId, encrypted: text }
}

export const openMail = (keyring: Keyring, organizationId: string, input: MailContent): Mail | undefined => {
  const text = openSecret(keyring, ownerOf(organizationId), { keyId: input.keyId, text: input.encrypted })
  return text === undefined ? undefined : Option.getOrUndefined(decodeMail(text))
}
