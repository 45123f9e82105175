/**
 * better-auth refuses addresses beyond ASCII, of rare top-level domains and without a dot in the domain. It knows them
 * by an alias alone; the database, mails and answers have the address.
 */
const aliasDomain = "alias.stoa.invalid"

/** Addresses that better-auth takes. */
const plain = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/i

const alias = /x([0-9a-f]+)(@|%40)alias\.stoa\.invalid/g

/** Empty, which better-auth refuses, for the alias of another address. */
export const aliasOf = (email: string): string =>
  email.toLowerCase().endsWith(`@${aliasDomain}`)
    ? ""
    : plain.test(email)
    ? email
    : `x${Buffer.from(email.toLowerCase()).toString("hex")}@${aliasDomain}`

const addressOf = (hex: string): string => Buffer.from(hex, "hex").toString()

/** The address of an alias; an address without one stays. */
export const withoutAlias = (email: string): string => email.replace(alias, (_, hex: string) => addressOf(hex))

/** JSON and the links in it, with addresses instead of aliases. */
export const jsonWithoutAlias = (json: string): string =>
  json.replace(
    alias,
    (_, hex: string, at: string) =>
      at === "@" ? JSON.stringify(addressOf(hex)).slice(1, -1) : encodeURIComponent(addressOf(hex))
  )

const fields = ["email", "newEmail"]

/** A body with an alias in place of each address that better-auth refuses. */
export const bodyWithAlias = (body: unknown): unknown =>
  typeof body !== "object" || body === null ? body : Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) =>
      fields.includes(name) && typeof value === "string" ? [name, aliasOf(value)] : [name, value]
    )
  )
