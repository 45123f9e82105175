import { assert, describe, it } from "@effect/vitest"
import { freePort } from "../../src/layers/FreePort.ts"

describe("a port that a process picks itself", () => {
  it("lies below those of outgoing connections, which could take it before anybody listens", async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort))
    for (const port of ports) assert.isTrue(port >= 1024 && port < 32_768, String(port))
  })
})
