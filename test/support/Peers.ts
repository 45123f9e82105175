import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { onlyPeers, peerKeyOf } from "../../src/layers/cluster/PeerTransport.ts"

/** What became of a connection on which something was sent: what came back, and whether the other end closed it. */
export interface Exchange {
  readonly heard: string
  readonly closed: boolean
}

/** Sends bytes and listens until the other end closes, or until what it said contains `until`. */
const exchange = (socket: Socket, sent: string, until?: string): Promise<Exchange> =>
  new Promise((resolve) => {
    let heard = ""
    const end = (closed: boolean) => {
      resolve({ heard, closed })
      socket.destroy()
    }
    socket.on("data", (chunk) => {
      heard += String(chunk)
      if (until !== undefined && heard.includes(until)) end(false)
    })
    // A connection that is refused is closed as well.
    socket.on("error", () => undefined)
    socket.on("close", () => end(true))
    socket.write(sent)
  })

/** Somebody who knows nothing but the address. */
export const asOutsider = (port: number, sent: string, until?: string) =>
  exchange(connectPlain(port, "127.0.0.1"), sent, until)

/** A process that goes by the name of one secret, and by default proves it. */
export const asPeer = (
  port: number,
  secret: string,
  sent: string,
  options: { readonly until?: string; readonly provedWith?: string } = {}
) =>
  exchange(
    connectTls({
      ...onlyPeers,
      host: "127.0.0.1",
      port,
      pskCallback: () => ({
        identity: peerKeyOf(secret).identity,
        psk: peerKeyOf(options.provedWith ?? secret).psk
      }),
      checkServerIdentity: () => undefined
    }),
    sent,
    options.until
  )

/** A line of the protocol between processes that asks for nothing but an answer. */
export const ping = `${JSON.stringify({ _tag: "Request", id: "1", tag: "Ping", payload: null, headers: [] })}\n`

/** A line that asks the actor of a cart to set a quantity, with a shard that its sender chooses. */
export const toCart = (cart: string, shard: number, request: number): string =>
  `${
    JSON.stringify({
      _tag: "Request",
      id: String(request),
      tag: "Effect",
      headers: [],
      payload: {
        persisted: false,
        request: {
          _tag: "Request",
          requestId: String(request),
          address: { shardId: { group: "default", id: shard }, entityType: "Cart", entityId: cart },
          tag: "setQuantity",
          payload: {},
          headers: {}
        }
      }
    })
  }\n`
