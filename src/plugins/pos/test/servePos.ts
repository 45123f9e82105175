import { Effect } from "effect"
import { hash, randomUUID } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runEmulated } from "../../../../test/support/EmulatedProgram.ts"
import { giftCards } from "../../gift-cards/index.ts"
import { type FiscalAdapter, pos } from "../index.ts"

/** Keeps the signature of each key in a file. The process dies as soon as it has made one. */
const signer = (directory: string): FiscalAdapter => ({
  id: "signer",
  sign: (_, key) =>
    Effect.sync(() => {
      const file = join(directory, hash("sha256", key))
      if (!existsSync(file)) {
        writeFileSync(file, randomUUID())
        process.kill(process.pid, "SIGKILL")
      }
      return { signature: readFileSync(file, "utf8") }
    })
})

const directory = process.env["STOA_TEST_SIGNATURES"]

runEmulated({
  auth: { apiKeys: { enabled: true } },
  plugins: [
    giftCards({ holdHours: 1 }),
    pos(directory === undefined ? {} : { fiscal: signer(directory) })
  ]
})
