import { Redacted } from "effect"

export interface Connection {
  readonly url: string
  readonly apiKey?: string | Redacted.Redacted<string>
  /** Session token; calls at `/rpc` accept keys only. */
  readonly bearer?: string | Redacted.Redacted<string>
  readonly organization?: string
}

const shown = (value: string | Redacted.Redacted<string>): string =>
  typeof value === "string" ? value : Redacted.value(value)

export const credentialHeaders = ({ apiKey, bearer, organization }: Connection): Readonly<Record<string, string>> => ({
  ...(apiKey === undefined ? {} : { "x-api-key": shown(apiKey) }),
  ...(bearer === undefined ? {} : { authorization: `Bearer ${shown(bearer)}` }),
  ...(organization === undefined ? {} : { "x-organization-id": organization })
})
