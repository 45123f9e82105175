import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { access, readdir, readFile, stat } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { EmbeddedPostgres } from "../../src/layers/postgres/EmbeddedPostgres.ts"
import {
  isRunning,
  launched,
  launchInChild,
  query,
  refusal,
  start,
  stoppedCluster,
  temporaryDirectory
} from "./Launcher.ts"

const setting = async (url: string, name: string) => {
  const rows = await query<{ value: string }>(url, `select current_setting('${name}') as value`)
  return rows[0]?.value
}

const occupy = async (port: number) => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(port, "127.0.0.1", resolve))
  const address = holder.address()
  return { port: typeof address === "object" && address !== null ? address.port : 0, free: () => holder.close() }
}

/** The local addresses of listening sockets with that port, as Linux writes them (hexadecimal). */
const listeners = async (port: number) => {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")))
  return tables.join("\n").split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/)
    return local.endsWith(suffix) && state === "0A" ? [local.slice(0, -5)] : []
  })
}

describe("starting and stopping the embedded PostgreSQL", () => {
  it("makes a cluster at the first start, and keeps its rows, password and port for the next", async () => {
    const dir = join(await temporaryDirectory(), "made", "on", "demand")
    const first = await start({ dir })
    assert.isTrue(first.owner)
    await query(first.url, "create table kept (id int4)")
    await query(first.url, "insert into kept select generate_series(1, 1000)")
    await first.stop()
    assert.isFalse(await isRunning(first.pid))

    const second = await start({ dir })
    assert.strictEqual(second.url, first.url)
    assert.deepStrictEqual(await query(second.url, "select count(*)::int4 as n from kept"), [{ n: 1000 }])
    assert.strictEqual(await setting(second.url, "fsync"), "on")
    assert.strictEqual(await setting(second.url, "max_connections"), "100")
    assert.strictEqual(await setting(second.url, "shared_buffers"), "128MB")
    assert.strictEqual(await setting(second.url, "shared_preload_libraries"), "pg_stat_statements")
    assert.strictEqual(await setting(second.url, "TimeZone"), "UTC")
    assert.deepStrictEqual(
      await query(
        second.url,
        "select datcollate::text as c, pg_encoding_to_char(encoding)::text as e from pg_database where datname = 'postgres'"
      ),
      [{ c: "C", e: "UTF8" }]
    )
  })

  it("listens on the loopback address only, without a Unix socket, and wants the password", async () => {
    const dir = await stoppedCluster()
    const server = await start({ dir, throwaway: true, settings: { listen_addresses: "*" } })
    assert.deepStrictEqual(await listeners(server.port), ["0100007F"])
    assert.strictEqual(await setting(server.url, "unix_socket_directories"), "")
    assert.notInclude(await readFile("/proc/net/unix", "utf8"), `.s.PGSQL.${server.port}`)
    const credentials = await stat(join(dir, "credentials.json"))
    assert.strictEqual(credentials.mode & 0o777, 0o600)
    const wrong = new URL(server.url)
    wrong.password = "wrong"
    const outcome = await query(wrong.href, "select 1").then(() => "let in", () => "refused")
    assert.strictEqual(outcome, "refused")
  })

  it("removes a throwaway directory at stop, but not one that held data before", async () => {
    const parent = await temporaryDirectory()
    const server = await start({ dir: join(parent, "pg"), throwaway: true, settings: { work_mem: "8MB" } })
    assert.strictEqual(await setting(server.url, "fsync"), "off")
    assert.strictEqual(await setting(server.url, "max_connections"), "400")
    assert.strictEqual(await setting(server.url, "work_mem"), "8MB")
    await query(server.url, "create extension pg_stat_statements")
    await server.stop()
    assert.deepStrictEqual(await readdir(parent), [])

    const dir = await stoppedCluster()
    const again = await start({ dir, throwaway: true })
    await again.stop()
    await access(join(dir, "data", "PG_VERSION"))
  })

  it("lets a second process join the running server and leaves it running when that one stops", async () => {
    const dir = await stoppedCluster()
    const owner = await launched(launchInChild({ dir, settings: { fsync: "off" } }))
    const joined = await start({ dir })
    assert.isFalse(joined.owner)
    assert.deepStrictEqual([joined.url, joined.pid, joined.major], [owner.url, owner.pid, owner.major])
    await joined.stop()
    assert.deepStrictEqual(await query(joined.url, "select 1::int4 as one"), [{ one: 1 }])
  })

  it("starts one server when several processes start on a new directory at the same moment", async () => {
    const dir = join(await temporaryDirectory(), "pg")
    const servers = await Promise.all([
      launched(launchInChild({ dir, settings: { fsync: "off" } })),
      launched(launchInChild({ dir, settings: { fsync: "off" } })),
      start({ dir, settings: { fsync: "off" } })
    ])
    assert.strictEqual(new Set(servers.map((server) => server.pid)).size, 1)
    assert.strictEqual(servers.filter((server) => server.owner).length, 1)
    await Promise.all(servers.map((server) => query(server.url, "select 1")))
  })

  it("takes another port when that of its last run is taken, and refuses a fixed port that is taken", async () => {
    const dir = await stoppedCluster()
    const first = await start({ dir, settings: { fsync: "off" } })
    await first.stop()
    const holder = await occupy(first.port)
    const second = await start({ dir })
    assert.notStrictEqual(second.port, first.port)
    await second.stop()
    const error = await refusal("PortInUse", { dir, port: holder.port })
    assert.match(error.message, /could not bind IPv4 address/)
    holder.free()
    const third = await start({ dir, port: first.port })
    assert.strictEqual(third.port, first.port)
  })

  it.effect("lives as long as its scope and fails with a tagged error", () =>
    Effect.gen(function*() {
      const parent = yield* Effect.promise(() => temporaryDirectory())
      const server = yield* Effect.scoped(Effect.gen(function*() {
        const running = yield* EmbeddedPostgres.start({ dir: join(parent, "pg"), throwaway: true })
        assert.isTrue(yield* Effect.promise(() => isRunning(running.pid)))
        return running
      }))
      assert.isFalse(yield* Effect.promise(() => isRunning(server.pid)))
      const outcome = yield* Effect.exit(
        Effect.scoped(EmbeddedPostgres.start({ dir: join(parent, "pg"), binDir: "/nowhere" })).pipe(
          Effect.catchTag("EmbeddedPostgresError", (error) => Effect.succeed(error.code))
        )
      )
      assert.deepStrictEqual(outcome, Exit.succeed("NoBinaries"))
    }))
})
