import { parseIp } from "./IpAddress.ts"
import { specialPurpose } from "./SpecialRanges.ts"

/** What a deployment lets its webhooks reach. */
export interface TargetPolicy {
  /** Loopback, private networks and names of this machine: for development and tests. */
  readonly allowPrivate: boolean
  /** Plain http too; never in production. */
  readonly allowHttp: boolean
  /** The only ports that may be used; undefined: any. */
  readonly ports: ReadonlyArray<number> | undefined
}

/** A target that may be looked up: its URL, and the host as it is resolved, without brackets and trailing dots. */
export interface Target {
  readonly url: URL
  readonly host: string
  readonly port: number
}

/** Names that no public resolver answers, or that answer differently inside of a network (RFC 6761, 6762, 8375). */
const privateNames = ["localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "onion", "alt"]

const isPrivateName = (host: string): boolean =>
  // A name without a dot is looked up in the search domains of whoever asks: `redis`, `metadata`.
  !host.includes(".") || privateNames.some((name) => host === name || host.endsWith(`.${name}`))

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "").toLowerCase()

/** Why an address that a name was resolved to, or that a URL names, is not connected to; undefined when it may be. */
export const addressRefusal = (address: string, policy: TargetPolicy): string | undefined => {
  const what = specialPurpose(address)
  if (what === undefined) return undefined
  return policy.allowPrivate && what !== "unreadable" ? undefined : `must not lead to an internal address (${what})`
}

const hostRefusal = (host: string, policy: TargetPolicy): string | undefined => {
  if (host === "") return "must name a host"
  if (parseIp(host) !== undefined) return addressRefusal(host, policy)
  return isPrivateName(host) && !policy.allowPrivate ? "must not name an internal host" : undefined
}

/**
 * Looks at a URL without asking anybody: the target, or the reason why it is refused, worded to follow the name of the
 * field. The parser has already made one form of the many in which an IPv4 address can be written (`0x7f.1`).
 */
export const targetOf = (text: string, policy: TargetPolicy): Target | string => {
  if (!URL.canParse(text)) return "must be a URL"
  const url = new URL(text)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && policy.allowHttp)) {
    return policy.allowHttp ? "must begin with https:// or http://" : "must begin with https://"
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user name or a password"
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (port === 0 || policy.ports?.includes(port) === false) return `must not use port ${port}`
  const host = hostOf(url)
  return hostRefusal(host, policy) ?? { url, host, port }
}
