import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { writePlugin } from "../../src/plugins/kit/install/PluginCommand.ts"

const root = resolve(import.meta.dirname, "../..")
/** Inside of the project, where `stoa/plugin` means what it says, and ignored by git. */
const place = join(root, "tmp", `guide-${process.pid}`)

const Report = Schema.fromJsonString(Schema.Struct({
  testResults: Schema.Array(Schema.Struct({
    name: Schema.String,
    message: Schema.String,
    assertionResults: Schema.Array(Schema.Struct({
      status: Schema.String,
      title: Schema.String,
      failureMessages: Schema.Array(Schema.String)
    }))
  }))
}))

/** As `vitest.config.ts` reads sources: by Node.js. All files in one process, which loads the service once. */
const config = `export default { test: { include: ["**/*.test.ts"], isolate: false, maxWorkers: 1, pool: "forks",
  experimental: { viteModuleRunner: false, nodeLoader: false } } }\n`

/** Runs the tests of all plugins and gives what the runner reports. */
const runTests = async () => {
  await writeFile(join(place, "vitest.config.ts"), config)
  const [vitest, report] = [join(root, "node_modules/vitest/vitest.mjs"), join(place, "report.json")]
  const args = [vitest, "run", "-c", join(place, "vitest.config.ts"), "--root", place, "--reporter=json"]
  const said = await new Promise<string>((done) => {
    execFile(
      process.execPath,
      [...args, `--outputFile=${report}`],
      { cwd: root, maxBuffer: 20_000_000 },
      (_, out, err) => done(`${out}${err}`)
    )
  })
  return Schema.decodeUnknownSync(Report)(await readFile(report, "utf8").catch(() => assert.fail(said))).testResults
}

describe("a reader of docs/plugins.md", () => {
  let results: typeof Report.Type["testResults"] = []
  const created = join(place, "new")

  /** Fails with what went wrong below a folder, or when so many tests did not pass there. */
  const passed = (folder: string, count: number) => {
    const files = results.filter(({ name }) => name.startsWith(join(place, folder)))
    const tests = files.flatMap(({ assertionResults }) => assertionResults)
    const wrong = [...files.map(({ message }) => message), ...tests.flatMap(({ failureMessages }) => failureMessages)]
    assert.deepStrictEqual(wrong.filter((text) => text !== ""), [])
    assert.isAtLeast(tests.filter(({ status }) => status === "passed").length, count)
    assert.deepStrictEqual(tests.filter(({ status }) => status !== "passed"), [])
  }

  beforeAll(async () => {
    const guide = await readFile(join(root, "docs/plugins.md"), "utf8")
    for (const [, path = "", code = ""] of guide.matchAll(/^```ts plugins\/(\S+)\n([\s\S]*?)^```$/gm)) {
      await mkdir(dirname(join(place, "guide", path)), { recursive: true })
      await writeFile(join(place, "guide", path), code)
    }
    await Effect.runPromise(writePlugin(created, "gift-notes"))
    results = await runTests()
  })
  afterAll(() => rm(place, { recursive: true, force: true }))

  it("comes to plugins whose tests pass", () => passed("guide", 5))

  it("gets a plugin by `stoa plugin new` whose tests pass too, and is not written over", async () => {
    passed("new", 1)
    const refused = await Effect.runPromise(Effect.flip(writePlugin(created, "gift-notes")))
    assert.match(refused.message, /already exists/)
    assert.match((await Effect.runPromise(Effect.flip(writePlugin(created, "Gift")))).message, /lower case/)
  })
})
