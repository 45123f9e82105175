import { Redacted } from "effect"

/** The address of a Stoa and the credentials for it. */
export interface Connection {
  /** Address of the service, `https://shop.example`. */
  readonly url: string
  /** An API key (docs/access.md). */
  readonly apiKey?: string | Redacted.Redacted<string>
  /** Session token, instead of a key; calls at `/rpc` accept keys only. */
  readonly bearer?: string | Redacted.Redacted<string>
  /** The organization that the key is meant for: one that acts in another is refused. */
  readonly organization?: string
}

const shown = (value: string | Redacted.Redacted<string>): string =>
  typeof value === "string" ? value : Redacted.value(value)

/** The request headers for the credentials. */
export const credentialHeaders = ({ apiKey, bearer, organization }: Connection): Readonly<Record<string, string>> => ({
  ...(apiKey === undefined ? {} : { "x-api-key": shown(apiKey) }),
  ...(bearer === undefined ? {} : { authorization: `Bearer ${shown(bearer)}` }),
  ...(organization === undefined ? {} : { "x-organization-id": organization })
})
