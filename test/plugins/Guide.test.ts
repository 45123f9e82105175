import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { writePlugin } from "../../src/layers/plugins/PluginCommand.ts"

const root = resolve(import.meta.dirname, "../..")
/** Inside of the project, where `stoa/plugin` means what it says, and ignored by git. */
const place = join(root, "tmp", `guide-${process.pid}`)

/** Runs the tests below a folder and gives what the runner says at its end. */
const runTests = (folder: string) =>
  new Promise<{ readonly failed: boolean; readonly text: string }>((done) => {
    const config = join(folder, "vitest.config.ts")
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "-c", config, "--root", folder]
    execFile(process.execPath, args, { cwd: root, maxBuffer: 20_000_000 }, (error, out, err) =>
      done({ failed: error !== null, text: `${out}${err}` }))
  })

const ownConfig = (folder: string) =>
  writeFile(join(folder, "vitest.config.ts"), "export default { test: { include: [\"**/*.test.ts\"] } }\n")

describe("a reader of docs/plugins.md", () => {
  beforeAll(async () => {
    const guide = await readFile(join(root, "docs/plugins.md"), "utf8")
    for (const [, path = "", code = ""] of guide.matchAll(/^```ts plugins\/(\S+)\n([\s\S]*?)^```$/gm)) {
      await mkdir(dirname(join(place, "guide", path)), { recursive: true })
      await writeFile(join(place, "guide", path), code)
    }
    await ownConfig(join(place, "guide"))
  })
  afterAll(() => rm(place, { recursive: true, force: true }))

  it("comes to a plugin whose own tests pass", async () => {
    const { failed, text } = await runTests(join(place, "guide"))
    assert.isFalse(failed, text)
    assert.match(text, /2 passed/)
  }, 60_000)

  it("gets a plugin by `stoa plugin new` whose tests pass too, and is not written over", async () => {
    const folder = join(place, "new")
    await Effect.runPromise(writePlugin(folder, "gift-notes"))
    await ownConfig(folder)
    const { failed, text } = await runTests(folder)
    assert.isFalse(failed, text)
    const refused = await Effect.runPromise(Effect.flip(writePlugin(folder, "gift-notes")))
    assert.match(refused.message, /is there already/)
    assert.match((await Effect.runPromise(Effect.flip(writePlugin(folder, "Gift")))).message, /lower case/)
  }, 60_000)
})
