import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stoa } from "../support/Command.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"

/** A port that another program has. */
const takenPort = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => String((server.address() as AddressInfo).port)
)

const emptyDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-start-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

/** The same address with one part changed. */
const withPart = (url: string, part: "password" | "pathname" | "hostname" | "port", value: string): string => {
  const changed = new URL(url)
  changed[part] = value
  return changed.href
}

describe("a start that cannot succeed", () => {
  it.live("names the variable of a port that is taken and of a host that is unknown, before it starts PostgreSQL", () =>
    Effect.gen(function*() {
      const taken = yield* takenPort
      const directory = yield* emptyDirectory
      const settings = { DATABASE_URL: "", STOA_DATA_DIR: directory, STOA_RUNNER_PORT: "0", PORT: taken }
      const busy = yield* stoa(["serve"], settings)
      assert.strictEqual(busy.code, 1, busy.output)
      assert.include(busy.output, `stoa: PORT 127.0.0.1:${taken} is taken -> end the program that uses it, or set PORT`)
      const lost = yield* stoa(["serve"], {
        ...settings,
        HOST: "no-such-host.invalid",
        STOA_ALLOW_DEVELOPMENT_ON_NETWORK: "true"
      })
      assert.strictEqual(lost.code, 1, lost.output)
      assert.match(lost.output, /stoa: HOST no-such-host\.invalid is unknown -> set HOST to an address of this machine/)
      const twice = yield* stoa(["serve"], { ...settings, PORT: "4123", STOA_RUNNER_PORT: "4123" })
      assert.match(twice.output, /stoa: PORT and STOA_RUNNER_PORT are both 4123/)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
    }))

  it.live("says of DATABASE_URL what does not fit: server, host, password or database", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const free = { PORT: "0", STOA_RUNNER_PORT: "0" }
      for (
        const [changed, words] of [
          [
            withPart(url, "port", "1"),
            /database of DATABASE_URL \(127\.0\.0\.1:1\) does not answer \(.*ECONNREFUSED.*-> /
          ],
          [
            withPart(url, "hostname", "no-such-host.invalid"),
            /the host no-such-host\.invalid.* of DATABASE_URL is unknown/
          ],
          [withPart(url, "password", "wrong"), /DATABASE_URL refuses the user \w+ \(password authentication failed/],
          [withPart(url, "pathname", "/no_such"), /DATABASE_URL has no database "no_such" -> make it: createdb no_such/]
        ] as const
      ) {
        const { code, output } = yield* stoa(["serve"], { ...free, DATABASE_URL: changed })
        assert.strictEqual(code, 1, output)
        assert.match(output, words)
        assert.strictEqual(output.match(/^stoa: /gm)?.length, 1, output)
      }
    }))
})

describe("the doctor", () => {
  it.live("knows a running service on the ports, and finds nothing wrong with it", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const { ports } = yield* startService({ databaseUrl: url })
      const { code, output } = yield* stoa(["doctor"], {
        DATABASE_URL: url,
        PORT: String(ports.http),
        STOA_RUNNER_PORT: String(ports.runner)
      })
      assert.strictEqual(code, 0, output)
      assert.match(output, new RegExp(`^ok +PORT 127\\.0\\.0\\.1:${ports.http} has a running Stoa \\d`, "m"))
      assert.match(output, /^ok +all tables are up to date/m)
    }))

  it.live("goes on after a setting that cannot be read", () =>
    Effect.gen(function*() {
      const taken = yield* takenPort
      const { code, output } = yield* stoa(["doctor"], {
        NODE_ENV: "production",
        STOA_AUTH_SECRET: "",
        PORT: taken,
        STOA_RUNNER_PORT: "0",
        DATABASE_URL: "postgres://shop:secret@127.0.0.1:1/shop"
      })
      assert.strictEqual(code, 1, output)
      assert.match(output, /^WRONG STOA_AUTH_SECRET is missing/m)
      assert.match(output, /^WRONG PORT 127\.0\.0\.1:\d+ is taken -> /m)
      assert.match(output, /^WRONG the database of DATABASE_URL \(127\.0\.0\.1:1\) does not answer/m)
      assert.notInclude(output, "secret@")
    }))
})
