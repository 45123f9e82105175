import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stoa } from "../support/Command.ts"
import { freePort } from "../support/FreePort.ts"
import { freshDatabase } from "../support/Postgres.ts"

const breaking = new URL("../support/breakAtStart.ts", import.meta.url).href

/** A start in which something breaks while the HTTP server is made. */
const brokenStart = Effect.fnUntraced(function*(how: string) {
  const { url } = yield* freshDatabase
  return yield* stoa(["serve"], {
    DATABASE_URL: url,
    NODE_ENV: "test",
    PORT: String(yield* Effect.promise(freePort)),
    STOA_RUNNER_PORT: "0",
    NODE_OPTIONS: `--import ${breaking}`,
    STOA_TEST_BREAK: how
  })
})

describe("a start says why it ended", () => {
  for (
    const [how, words] of [
      ["defect", /^stoa: ended by a defect of the program: TypeError: broken for the test\n +at /m],
      ["defect and log", /^stoa: ended by a defect of the program: TypeError: broken for the test\n +at /m],
      ["exception", /^stoa: ended by a defect of the program: TypeError: broken for the test\n +at /m],
      [
        "rejection",
        /^stoa: a promise without a handler failed; ended by a defect of the program: TypeError: broken for the/m
      ]
    ] as const
  ) {
    it.live(`when it meets: ${how}`, () =>
      Effect.gen(function*() {
        const { code, output } = yield* brokenStart(how)
        assert.strictEqual(code, 1, output)
        assert.match(output, words)
        assert.strictEqual(output.match(/broken for the test/g)?.length, 1, output)
      }))
  }
})

it.live("a file that cannot be written is named", () =>
  Effect.gen(function*() {
    const { code, output } = yield* stoa(["openapi", "--output", "/no/such/directory/doc.json"], {})
    assert.strictEqual(code, 1, output)
    assert.match(output, /^stoa: \/no\/such\/directory\/doc\.json cannot be written: .*ENOENT/m)
  }))
