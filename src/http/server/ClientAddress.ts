import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isIP } from "node:net"

/** An IPv4 address as a socket of both families shows it. */
export const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "")

/**
 * The request under its client's own address: the first one of `X-Forwarded-For`, but only when the socket's other end
 * is the proxy that the deployment trusts (contract, platform §1.5). From anybody else the header is a mere claim, and
 * so is an entry that is no address.
 */
export const withClientAddress = (
  request: HttpServerRequest.HttpServerRequest,
  trustedProxy: string | undefined
): HttpServerRequest.HttpServerRequest => {
  const forwarded = request.headers["x-forwarded-for"]
  if (trustedProxy === undefined || forwarded === undefined) return request
  const peer = Option.getOrUndefined(request.remoteAddress)
  if (peer === undefined || withoutMapping(peer) !== trustedProxy) return request
  const client = withoutMapping(forwarded.split(",", 1)[0]?.trim() ?? "")
  return isIP(client) === 0 ? request : request.modify({ remoteAddress: Option.some(client) })
}
