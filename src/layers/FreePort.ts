import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/** Whether no process listens on this port of this machine. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })

/**
 * A free port of this machine, for a service without a fixed one. It is below the ports that
 * systems give to outgoing connections (from 32,768 on): one of those could be taken by any connection, of this process
 * too, between this answer and the moment when somebody listens.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(12_000, 30_000)
    if (await isFree(port)) return port
  }
}
