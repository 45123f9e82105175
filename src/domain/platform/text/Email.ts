import { Schema, SchemaGetter } from "effect"
import { FreeText } from "./Storable.ts"

/** Longest address and part before the @ that mail servers take (RFC 5321, 4.5.3.1). */
const longest = 254
const longestLocal = 64

/**
 * Excludes everything that could end a header line, add a recipient or have a special meaning to a server, and quoted
 * parts.
 */
const local = /^[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+)*$/u
const internationalDomain = /^[\p{L}\p{M}\p{N}.-]+$/u
const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const host = new RegExp(`^${label}(?:\\.${label})*$`)
const domain = new RegExp(`^(?:${label}\\.)+(?!\\d+$)${label}$`)

/** The domain in ASCII (punycode) and lower case. */
const asciiDomain = (text: string): string | undefined => {
  if (!internationalDomain.test(text) || !URL.canParse(`http://${text}`)) return undefined
  return new URL(`http://${text}`).hostname
}

/** Letters beyond ASCII are stored in lower case: the database's `lower` may know ASCII only. */
const normalizedLocal = (text: string): string =>
  text.normalize("NFC").replace(/\P{ASCII}+/gu, (letters) => letters.toLowerCase())

const normalizedWith = (form: RegExp, sent: string): string | undefined => {
  const text = sent.trim()
  const at = text.lastIndexOf("@")
  const name = normalizedLocal(text.slice(0, Math.max(at, 0)))
  const server = asciiDomain(text.slice(at + 1))
  if (server === undefined || !form.test(server) || !local.test(name)) return undefined
  const address = `${name}@${server}`
  const bytes = (part: string) => new TextEncoder().encode(part).length
  return bytes(name) <= longestLocal && bytes(address) <= longest ? address : undefined
}

/** One e-mail address as it is stored; undefined for a text that is none. */
export const normalizedEmail = (sent: string): string | undefined => normalizedWith(domain, sent)

/** Also admits a domain without a dot, as in `root@localhost`: such users exist, sign in and get mail. */
export const normalizedMailbox = (sent: string): string | undefined => normalizedWith(host, sent)

/** Equal for all spellings of an address; a text that is no address is compared without case. */
export const emailKey = (email: string): string => (normalizedMailbox(email) ?? email.trim()).toLowerCase()

/** The same for a column: addresses are stored normalized, and an index has this expression. */
export const emailKeyOf = (column: string): string => `lower(${column})`

const wanted = "must be one e-mail address, such as ann@example.com."

const schemaOf = (normalized: (sent: string) => string | undefined) =>
  FreeText.check(Schema.isMaxLength(320)).annotate({ format: "idn-email", examples: ["ann@example.com"] }).pipe(
    Schema.decodeTo(
      Schema.String.check(
        Schema.makeFilter((text: string) => normalized(text) === text || wanted, { code: "format" })
      ),
      {
        decode: SchemaGetter.transform((sent) => normalized(sent) ?? sent),
        encode: SchemaGetter.transform((email) => email)
      }
    )
  )

/** As it is stored, or as it was given: a record of another time keeps what is no address. */
export const GivenEmail = FreeText.check(Schema.isMaxLength(320)).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((sent) => normalizedMailbox(sent) ?? sent.trim()),
    encode: SchemaGetter.transform((email) => email)
  })
)

/** The only rule for e-mail addresses that requests, files and plugins send. */
export const Email = schemaOf(normalizedEmail)

/** The address of an account that may be older than the rule. */
export const Mailbox = schemaOf(normalizedMailbox)
