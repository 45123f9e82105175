import { Option, Schema } from "effect"
import { Mail } from "../../domain/mail/Mail.ts"
import { encryptSecret, type Keyring, openSecret } from "../../domain/webhooks/SecretEncryption.ts"

/**
 * Input of the task `mail/send`: what anybody who may see jobs may see, and the mail itself sealed: it holds an address
 * and often a link that opens an account. Additions are optional, as jobs outlive versions.
 */
export const EncryptedMail = Schema.Struct({
  template: Schema.String,
  /** The order that the mail is about. */
  orderId: Schema.optional(Schema.String),
  keyId: Schema.String,
  encrypted: Schema.String,
  /** The first job of this mail, when it was put off. */
  mailId: Schema.optional(Schema.String),
  /** How often it was put off, because its order was not paid yet. */
  postponed: Schema.optional(Schema.Int)
})
export type EncryptedMail = typeof EncryptedMail.Type

const MailJson = Schema.fromJsonString(Mail)
const encode = Schema.encodeSync(MailJson)
const decode = Schema.decodeUnknownOption(MailJson)

/** A job's input that was copied to another organization does not open there. */
const ownerOf = (organizationId: string) => `mail/${organizationId}`

/** The input of the job that sends a mail. */
export const encryptMail = (keyring: Keyring, mail: Mail): EncryptedMail => {
  const { keyId, text } = encryptSecret(keyring, ownerOf(mail.organizationId), encode(mail))
  const about = "orderId" in mail.data ? { orderId: mail.data.orderId } : {}
  return { template: mail.template, ...about, keyId, encrypted: text }
}

/** The mail of a job of an organization; undefined when no key of the deployment opens it. */
export const openMail = (keyring: Keyring, organizationId: string, input: EncryptedMail): Mail | undefined => {
  const text = openSecret(keyring, ownerOf(organizationId), { keyId: input.keyId, text: input.encrypted })
  return text === undefined ? undefined : Option.getOrUndefined(decode(text))
}
