import { Effect } from "effect"
import type { Server, Socket } from "node:net"

/** Lets a server of TCP or HTTP listen on the loopback interface until the scope ends, and its connections with it; the port. */
export const listening = Effect.fnUntraced(function*(server: Server) {
  const open = new Set<Socket>()
  server.on("connection", (socket) => {
    open.add(socket)
    socket.on("close", () => open.delete(socket))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        for (const socket of open) socket.destroy()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
})
