import type { Socket } from "node:net"

/** Sends what comes from each of two connections to the other; `open` has both for as long as they last, and they end together. */
export const forward = (client: Socket, server: Socket, open: Set<Socket>): void => {
  for (const [from, to] of [[client, server], [server, client]] as const) {
    open.add(from)
    from.pipe(to)
    from.on("error", () => to.destroy())
    from.on("close", () => {
      open.delete(from)
      to.destroy()
    })
  }
}
