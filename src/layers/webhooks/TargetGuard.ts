import { Context, Data, Effect, Layer } from "effect"
import ipaddr from "ipaddr.js"
import { lookup, Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { TargetRefused } from "../../domain/webhooks/WebhookSender.ts"

/**
 * Ranges without public servers (IANA special-purpose registries), and two addresses at which clouds serve secrets. The
 * first match names the address.
 */
const special: Readonly<Record<string, ReadonlyArray<string>>> = {
  "this network": ["0.0.0.0/8"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
  "shared by carriers": ["100.64.0.0/10"],
  loopback: ["127.0.0.0/8", "::1/128"],
  "cloud platform": ["168.63.129.16/32"],
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  "protocol assignments": ["192.0.0.0/24"],
  documentation: [
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "2001:db8::/32",
    "3fff::/20"
  ],
  AS112: ["192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"],
  "automatic multicast tunnels": ["192.52.193.0/24"],
  "6to4 relay": ["192.88.99.0/24"],
  benchmarking: ["198.18.0.0/15"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  reserved: ["240.0.0.0/4"],
  "protocol assignments, Teredo among them": ["2001::/23"],
  "6to4": ["2002::/16"],
  unspecified: ["::/128"],
  "IPv4-mapped": ["::ffff:0:0/96"],
  "IPv4-compatible": ["::/96"],
  NAT64: ["64:ff9b::/96", "64:ff9b:1::/48"],
  discard: ["100::/64"],
  "unique local": ["fc00::/7"],
  "site-local": ["fec0::/10"]
}

const ranges = Object.fromEntries(
  Object.entries(special).map(([what, prefixes]) => [what, prefixes.map((prefix) => ipaddr.parseCIDR(prefix))])
)

const assigned = ipaddr.parseCIDR("2000::/3")

/**
 * Why an address must not be connected to; undefined for a public one. IPv6 forms of IPv4 addresses (mapped, NAT64,
 * 6to4, Teredo) and zones (`%eth0`) are refused.
 */
export const specialPurpose = (text: string): string | undefined => {
  if (isIP(text) === 0 || text.includes("%")) return "unreadable"
  const address = ipaddr.parse(text)
  const what = ipaddr.subnetMatch(address, ranges, "public")
  if (what !== "public") return what
  return address.kind() === "ipv6" && !address.match(assigned) ? "not handed out" : undefined
}

export class Unresolved extends Data.TaggedError("Unresolved")<{ readonly message: string }> {}

const found = (host: string, addresses: ReadonlyArray<string>) =>
  addresses.length > 0
    ? Effect.succeed(addresses)
    : Effect.fail(new Unresolved({ message: `The host ${host} was not found.` }))

export class HostResolver extends Context.Service<HostResolver, {
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>, Unresolved>
}>()("stoa/layers/webhooks/HostResolver") {
  /**
   * Asks name servers directly: a dead one would hold the system resolver's few threads, and its hosts file has
   * internal names.
   */
  static readonly dns: Layer.Layer<HostResolver> = Layer.succeed(HostResolver, {
    resolve: (host) =>
      Effect.callback<ReadonlyArray<string>, Unresolved>((resume) => {
        const resolver = new Resolver({ timeout: 2_000, tries: 2 })
        void Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]).then((answers) =>
          resume(found(host, answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : [])))
        )
        return Effect.sync(() => resolver.cancel())
      })
  })

  /** The system's resolver, for development: knows `localhost` and names of containers. */
  static readonly system: Layer.Layer<HostResolver> = Layer.succeed(HostResolver, {
    resolve: (host) =>
      Effect.promise(() => lookup(host, { all: true }).catch(() => [])).pipe(
        Effect.flatMap((answers) => found(host, answers.map(({ address }) => address)))
      )
  })
}

export interface TargetPolicy {
  /** Loopback, private networks and names of this machine: for development and tests. */
  readonly allowPrivate: boolean
  /** Plain http too; never in production. */
  readonly allowHttp: boolean
  readonly ports: ReadonlyArray<number> | undefined
}

export interface Target {
  readonly url: URL
  readonly host: string
  readonly port: number
}

export interface ResolvedTarget extends Target {
  readonly addresses: ReadonlyArray<string>
}

/** Without a public address, or with another inside a network (RFC 6761, 6762, 8375). */
const privateNames = ["localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "onion", "alt"]

const isPrivateName = (host: string): boolean =>
  // Names without a dot resolve through local search domains.
  !host.includes(".") || privateNames.some((name) => host === name || host.endsWith(`.${name}`))

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "").toLowerCase()

const addressRefusal = (address: string, policy: TargetPolicy): string | undefined => {
  const what = specialPurpose(address)
  if (what === undefined) return undefined
  return policy.allowPrivate && what !== "unreadable" ? undefined : `must not lead to an internal address (${what}).`
}

const hostRefusal = (host: string, policy: TargetPolicy): string | undefined => {
  if (host === "") return "must name a host."
  if (isIP(host) !== 0) return addressRefusal(host, policy)
  return isPrivateName(host) && !policy.allowPrivate ? "must not name an internal host." : undefined
}

/**
 * Checks a URL without a look-up. Returns the target, or a refusal to follow the field's name. The URL parser has
 * normalized IPv4 spellings (`0x7f.1`).
 */
export const targetOf = (text: string, policy: TargetPolicy): Target | string => {
  if (!URL.canParse(text)) return "must be a URL."
  const url = new URL(text)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && policy.allowHttp)) {
    return policy.allowHttp ? "must begin with https:// or http://." : "must begin with https://."
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user name or a password."
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (port === 0 || policy.ports?.includes(port) === false) return `must not use port ${port}.`
  const host = hostOf(url)
  return hostRefusal(host, policy) ?? { url, host, port }
}

/**
 * Keeps requests to clients' URLs away from internal targets (contract, platform §9.5): resolves the host once and
 * checks every address; the connection uses one of these.
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
