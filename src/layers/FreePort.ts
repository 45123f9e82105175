import { randomInt } from "node:crypto"
import { createServer } from "node:net"

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })

/** Below 32,768: an outgoing connection could take a higher port before the caller listens. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(12_000, 30_000)
    if (await isFree(port)) return port
  }
}
