import type { OriginTest } from "../server/Cors.ts"

/** Fields and parameters that name where a browser is sent, and how better-auth refuses them. */
const refusals = {
  callbackURL: "INVALID_CALLBACK_URL",
  redirectTo: "INVALID_REDIRECT_URL",
  errorCallbackURL: "INVALID_ERROR_CALLBACK_URL",
  newUserCallbackURL: "INVALID_NEW_USER_CALLBACK_URL"
} as const

/** What browsers drop or read as another character, and what an address never holds as it is. */
const ambiguous = /[\\\s\p{Cc}]/u

/** Stands for the origin of the service. */
const own = "http://stoa.invalid"

/** A path that begins with two slashes, or may after somebody else normalizes it, names a host. */
const namesAHost = ({ pathname }: URL): boolean => /\/\/|%2f|%5c/i.test(pathname)

/** Whether an address, read as a browser reads it, leads to this service or to a trusted origin. */
export const isTrustedAddress = (address: string, isTrusted: OriginTest): boolean => {
  if (ambiguous.test(address)) return false
  const isPath = address.startsWith("/")
  if (isPath ? address.startsWith("//") : !/^https?:\/\//i.test(address)) return false
  if (!URL.canParse(address, own)) return false
  const url = new URL(address, own)
  if (url.username !== "" || url.password !== "") return false
  return isPath ? url.origin === own && !namesAHost(url) : isTrusted(url.origin)
}

/** How a request is refused that would send a browser elsewhere; undefined for every other one. */
export const unusableAddress = (query: URLSearchParams, body: unknown, isTrusted: OriginTest) => {
  for (const [name, code] of Object.entries(refusals)) {
    const sent: unknown = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined
    const addresses = [...query.getAll(name), ...typeof sent === "string" ? [sent] : []]
    const stray = addresses.some((address) => address !== "" && !isTrustedAddress(address, isTrusted))
    if (stray) return { code, message: `Invalid ${name}` }
  }
  return undefined
}
