import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { BlockList, isIP, isIPv4 } from "node:net"

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
