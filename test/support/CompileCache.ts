import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Where `src/main.ts` keeps what it has compiled; processes that tests start with other programs find it there too. */
export const compileCache = fileURLToPath(new URL("../../node_modules/.cache/stoa", import.meta.url))

/** Fills it in a tree that is new: the processes of tests are killed, and who is killed writes nothing down. */
export const compileOnce = (): Promise<void> =>
  existsSync(compileCache)
    ? Promise.resolve()
    : new Promise((resolve) =>
      spawn(process.execPath, [main, "--version"], { stdio: "ignore" }).once("close", () => resolve())
    )
