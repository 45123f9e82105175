import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { BlockList, isIP, isIPv4 } from "node:net"
import type { Credential } from "../access/Actors.ts"

type Request = HttpServerRequest.HttpServerRequest

/** An IPv4 address as a socket of both families shows it. */
export const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "")

/** Tells whether an address belongs to a proxy of the deployment. */
export type ProxyTest = (address: string) => boolean

const family = (address: string) => isIPv4(address) ? "ipv4" : "ipv6"

/** One entry of the list of proxies, `10.0.0.5` or `10.1.0.0/16`; undefined where it is neither. */
const proxyEntry = (text: string): readonly [address: string, bits: number] | undefined => {
  const [address = "", prefix, ...rest] = text.trim().split("/")
  const most = isIPv4(address) ? 32 : 128
  if (isIP(address) === 0 || rest.length > 0) return undefined
  if (prefix === undefined) return [address, most]
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= most ? [address, Number(prefix)] : undefined
}

/** The proxies of a list of addresses and networks, separated by commas; undefined where an entry cannot be read. */
export const proxyTest = (list: string): ProxyTest | undefined => {
  const proxies = new BlockList()
  for (const text of list.split(",")) {
    const entry = proxyEntry(text)
    if (entry === undefined) return undefined
    proxies.addSubnet(entry[0], entry[1], family(entry[0]))
  }
  return (address) => isIP(address) !== 0 && proxies.check(address, family(address))
}

const peerOf = (request: Request): string => withoutMapping(Option.getOrElse(request.remoteAddress, () => ""))

/** An entry of `X-Forwarded-For`, without the port and brackets that some proxies write. */
const hopOf = (entry: string): string =>
  withoutMapping(entry.trim().replace(/^\[([^\]]*)\](:\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1"))

/**
 * The request under its client's own address (contract, platform §1.5). `X-Forwarded-For` counts only when the socket's
 * other end is a trusted proxy, and is read from its end, where that proxy wrote: over trusted proxies up to the first
 * address that is none. Entries further left are mere claims of the client, and so is an entry that is no address.
 */
export const withClientAddress = (request: Request, isProxy: ProxyTest | undefined): Request => {
  const forwarded = request.headers["x-forwarded-for"]
  if (isProxy === undefined || forwarded === undefined || !isProxy(peerOf(request))) return request
  let client: string | undefined
  for (const entry of forwarded.split(",").reverse()) {
    const hop = hopOf(entry)
    if (isIP(hop) === 0) break
    client = hop
    if (!isProxy(hop)) break
  }
  return client === undefined ? request : request.modify({ remoteAddress: Option.some(client) })
}

/** The proxy in front says that its client came without TLS. */
export const cameInPlain = (request: Request, isProxy: ProxyTest | undefined): boolean =>
  isProxy !== undefined && request.headers["x-forwarded-proto"] === "http" && isProxy(peerOf(request))

/** Whether a request may name this host (`Host`), as what it believes to be talking to. */
export type HostTest = (host: string | undefined) => boolean

const nameOf = (host: string): string | undefined => {
  const url = `http://${host}`
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : undefined
}

/** Names of this machine, and addresses: rebinding needs a name that its owner can lead elsewhere. */
const ofMachine = /^(([^.]+\.)*localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])$/

/**
 * Outside of production addresses, the names of this machine, and the host of the deployment's public address: any other
 * name was made to lead here by its owner, whose page would be of the same origin then (DNS rebinding). A request that
 * names none is no browser's. In production the proxy in front knows the names.
 */
export const hostTest = (publicUrl: string | undefined, production: boolean): HostTest => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).hostname
  return (host) => {
    if (production || host === undefined) return true
    const name = nameOf(host)
    return name !== undefined && (ofMachine.test(name) || name === own)
  }
}

const allowedHeaders = [
  "Content-Type",
  "Authorization",
  "x-api-key",
  "x-request-id",
  "x-store-id",
  "x-cart-secret",
  "idempotency-key",
  "Prefer",
  "If-None-Match"
]
const exposedHeaders = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Retry-After",
  "ETag",
  "Location",
  "X-Ignored-Fields",
  "Preference-Applied",
  "set-auth-token"
].join(", ")

/** Decides whether a browser page of this origin may read the answers. */
export type OriginTest = (origin: string) => boolean

/** Origins whose pages may read answers and act for their visitors (`auth.trustedOrigins`). */
export class TrustedOrigins extends Context.Service<TrustedOrigins, {
  readonly isTrusted: OriginTest
  readonly production: boolean
  /** Where clients reach the deployment (`STOA_PUBLIC_URL`), where that is said. */
  readonly publicUrl?: string | undefined
}>()("stoa/http/server/TrustedOrigins") {}

/** Listed origins; outside production any page served from this machine too (contract, platform §1.4). */
export const originTest = (trusted: ReadonlyArray<string>, production: boolean): OriginTest => (origin) =>
  trusted.includes(origin) || (!production && /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin))

/** Headers for an allowed cross-origin request; none for anything else (contract, platform §1.3). */
export const corsHeaders = (origin: string | undefined, allowed: OriginTest): Record<string, string> =>
  origin !== undefined && allowed(origin)
    ? {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": exposedHeaders
    }
    : {}

/** Headers of the answer to a preflight request (204); `others` are request headers that routes of plugins read. */
export const preflightHeaders = (others: ReadonlyArray<string> = []) => ({
  "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE, OPTIONS",
  "access-control-allow-headers": [...new Set([...allowedHeaders, ...others])].join(", "),
  "access-control-max-age": "86400"
})

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** A page of the host that it talks to. In production over TLS only: plain HTTP can be forged on its way. */
const isOwn = (origin: string, host: string | undefined, production: boolean): boolean => {
  if (host === undefined || !URL.canParse(origin)) return false
  const { host: from, protocol } = new URL(origin)
  const own = `${protocol}//${host}`
  return (protocol === "https:" || (protocol === "http:" && !production)) && URL.canParse(own) &&
    new URL(own).host === from
}

const originOf = (referer: string): string => URL.canParse(referer) ? new URL(referer).origin : ""

/**
 * Whether a change may be the work of another site's page in its visitor's browser (spec §5, contract, platform §1.4).
 * Such a page cannot make a browser send an API key or a bearer token, so a request that one of them authenticated is
 * safe; the mere presence of the header is not enough. All else must come from a trusted origin or the same one, with
 * any content type: a request with a session's cookie has to show it; else an absent `Origin` means no browser.
 */
export const isCrossSite = (
  request: Request,
  credential: Credential,
  trusted: OriginTest,
  production: boolean
): boolean => {
  if (safeMethods.has(request.method) || (credential !== "none" && credential !== "cookie")) return false
  const { host, origin, referer, "sec-fetch-site": site } = request.headers
  if (site === "same-origin") return false
  const isTrusted = (from: string) => trusted(from) || isOwn(from, host, production)
  if (origin !== undefined) return !isTrusted(origin)
  if (credential === "none") return false
  return referer === undefined || !isTrusted(originOf(referer))
}
