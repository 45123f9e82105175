import { Effect } from "effect"
import { isIP } from "node:net"
import { TargetRefused } from "../../domain/webhooks/WebhookSender.ts"
import { HostResolver } from "./HostResolver.ts"
import { specialPurpose } from "./SpecialRanges.ts"

/** Targets that the deployment allows for webhooks and fetched images. */
export interface TargetPolicy {
  /** Loopback, private networks and names of this machine: for development and tests. */
  readonly allowPrivate: boolean
  /** Plain http too; never in production. */
  readonly allowHttp: boolean
  /** The only ports that may be used; undefined: any. */
  readonly ports: ReadonlyArray<number> | undefined
}

/** An allowed URL. `host` is the name to resolve, without brackets and trailing dots. */
export interface Target {
  readonly url: URL
  readonly host: string
  readonly port: number
}

/** An allowed URL and the addresses of its host, all of them allowed. */
export interface ResolvedTarget extends Target {
  readonly addresses: ReadonlyArray<string>
}

/** Names without a public address, or with another one inside a network (RFC 6761, 6762, 8375). */
const privateNames = ["localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "onion", "alt"]

const isPrivateName = (host: string): boolean =>
  // A name without a dot (`redis`, `metadata`) resolves through the local search domains.
  !host.includes(".") || privateNames.some((name) => host === name || host.endsWith(`.${name}`))

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "").toLowerCase()

/** Why an address is refused, whether it was resolved or is part of a URL; undefined when it is allowed. */
const addressRefusal = (address: string, policy: TargetPolicy): string | undefined => {
  const what = specialPurpose(address)
  if (what === undefined) return undefined
  return policy.allowPrivate && what !== "unreadable" ? undefined : `must not lead to an internal address (${what})`
}

const hostRefusal = (host: string, policy: TargetPolicy): string | undefined => {
  if (host === "") return "must name a host"
  if (isIP(host) !== 0) return addressRefusal(host, policy)
  return isPrivateName(host) && !policy.allowPrivate ? "must not name an internal host" : undefined
}

/**
 * Checks a URL without any look-up. Returns the target, or the reason of the refusal, to be read after the field's name.
 * The URL parser has already normalized the many spellings of an IPv4 address (`0x7f.1`).
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

/**
 * Keeps requests to URLs that clients name away from internal targets (contract, platform §9.5). Checks the URL,
 * resolves its host once and checks every address; a connection goes to one of these and looks up nothing itself.
 */
export const targetGuard = (policy: TargetPolicy) =>
  Effect.map(HostResolver, ({ resolve }) =>
    Effect.fnUntraced(function*(url: string) {
      const target = targetOf(url, policy)
      if (typeof target === "string") return yield* new TargetRefused({ message: target })
      const addresses = isIP(target.host) === 0 ? yield* resolve(target.host) : [target.host]
      for (const address of addresses) {
        const refusal = addressRefusal(address, policy)
        if (refusal !== undefined) return yield* new TargetRefused({ message: refusal })
      }
      return { ...target, addresses } satisfies ResolvedTarget
    }))
