import type { OriginTest } from "../server/Cors.ts"

/** Fields and parameters with an address for the browser, and better-auth's codes for refusing them. */
const refusals = {
  callbackURL: "INVALID_CALLBACK_URL",
  redirectTo: "INVALID_REDIRECT_URL",
  errorCallbackURL: "INVALID_ERROR_CALLBACK_URL",
  newUserCallbackURL: "INVALID_NEW_USER_CALLBACK_URL"
} as const

/** Characters that browsers drop or replace, and that no valid address contains. */
const ambiguous = /[\\\s\p{Cc}]/u

/** A placeholder for the origin of the service. */
const own = "http://stoa.invalid"

/** A path that begins with two slashes, or may after normalization, names a host. */
const namesAHost = ({ pathname }: URL): boolean => /\/\/|%2f|%5c/i.test(pathname)

/** Whether an address, parsed as browsers do, leads to this service or to a trusted origin. */
export const isTrustedAddress = (address: string, isTrusted: OriginTest): boolean => {
  if (ambiguous.test(address)) return false
  const isPath = address.startsWith("/")
  if (isPath ? address.startsWith("//") : !/^https?:\/\//i.test(address)) return false
  if (!URL.canParse(address, own)) return false
  const url = new URL(address, own)
  if (url.username !== "" || url.password !== "") return false
  return isPath ? url.origin === own && !namesAHost(url) : isTrusted(url.origin)
}

/** The refusal of a request that would send a browser to an untrusted address; undefined for any other. */
export const unusableAddress = (query: URLSearchParams, body: unknown, isTrusted: OriginTest) => {
  for (const [name, code] of Object.entries(refusals)) {
    const sent: unknown = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined
    const addresses = [...query.getAll(name), ...typeof sent === "string" ? [sent] : []]
    const isUntrusted = addresses.some((address) => address !== "" && !isTrustedAddress(address, isTrusted))
    if (isUntrusted) return { code, message: `Invalid ${name}` }
  }
  return undefined
}
