import { type IpAddress, isWithin, parseIp } from "./IpAddress.ts"

/**
 * Ranges that are nobody's server on the public internet (IANA special-purpose registries for IPv4 and IPv6), and what
 * they are. Two addresses of clouds that lie in public ranges and serve their machines' secrets stand with them.
 */
const special: ReadonlyArray<readonly [prefix: string, what: string]> = [
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared by carriers"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "cloud platform"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocol assignments"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "automatic multicast tunnels"],
  ["192.88.99.0/24", "6to4 relay"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
  // Within 2000::/3, the only range that is handed out to servers.
  ["2001::/23", "protocol assignments, Teredo among them"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
  // What lies outside of it is refused as a whole; these have names.
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", "IPv4-mapped"],
  ["::/96", "IPv4-compatible"],
  ["64:ff9b::/96", "NAT64"],
  ["64:ff9b:1::/48", "NAT64"],
  ["100::/64", "discard"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"]
]

const prefixOf = (text: string): readonly [IpAddress, number] => {
  const [address = "", bits = ""] = text.split("/")
  return [parseIp(address) ?? [], Number(bits)]
}

const ranges = special.map(([text, what]) => [...prefixOf(text), what] as const)

const [handedOut, handedOutBits] = prefixOf("2000::/3")

/**
 * What forbids to connect to an address, undefined for a public one. An address that carries an IPv4 address (mapped,
 * NAT64, 6to4, Teredo) is refused whatever it carries: no public server needs to be reached through one.
 */
export const specialPurpose = (text: string): string | undefined => {
  const address = parseIp(text)
  if (address === undefined) return "unreadable"
  const named = ranges.find(([prefix, bits]) => isWithin(address, prefix, bits))?.[2]
  if (named !== undefined) return named
  return address.length === 16 && !isWithin(address, handedOut, handedOutBits) ? "not handed out" : undefined
}
