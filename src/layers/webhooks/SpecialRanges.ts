import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/**
 * Ranges without public servers, by what they are: the IANA special-purpose registries for IPv4 and IPv6, and two
 * addresses in public ranges at which clouds serve a machine's secrets. The first range that matches names the address.
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

/** The only range of IPv6 that is assigned to servers. */
const assigned = ipaddr.parseCIDR("2000::/3")

/**
 * Names why an address must not be connected to; undefined for a public one. IPv6 forms that carry an IPv4 address
 * (mapped, NAT64, 6to4, Teredo) are refused: no public server needs one. Zones (`%eth0`) count as unreadable.
 */
export const specialPurpose = (text: string): string | undefined => {
  if (isIP(text) === 0 || text.includes("%")) return "unreadable"
  const address = ipaddr.parse(text)
  const what = ipaddr.subnetMatch(address, ranges, "public")
  if (what !== "public") return what
  return address.kind() === "ipv6" && !address.match(assigned) ? "not handed out" : undefined
}
