import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** Debian's browser, or the one that STOA_TEST_CHROMIUM names on other systems. */
const executable = process.env["STOA_TEST_CHROMIUM"] ?? "/usr/bin/chromium"

/** What keeps the browser from looking for anything outside of this machine, at its start and later. */
const flags = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"
]

/** Ends the run with one line where the browser is missing: a gate that skips its tests guards nothing. */
export default (): void => {
  if (existsSync(executable)) return
  const missing = new Error(
    `No Chromium at ${executable}: install Debian's package "chromium" (apt-get install chromium), ` +
      "or say in STOA_TEST_CHROMIUM where it is."
  )
  // A stack trace into this file helps no reader.
  missing.stack = missing.message
  throw missing
}

/** Starts the browser without a window, on a new and empty profile; it ends with the scope. */
export const startChromium: Effect.Effect<Browser, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() =>
    chromium.launch({ executablePath: executable, headless: true, chromiumSandbox: false, args: flags })
  ),
  (browser) => Effect.promise(() => browser.close())
)
