import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { access, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { waitFor } from "../support/waitFor.ts"
import {
  isRunning,
  launched,
  launchInChild,
  pretendBinaries,
  query,
  refusal,
  start,
  stoppedCluster,
  temporaryDirectory
} from "./Launcher.ts"

const deadProcess = async () => {
  const child = launchInChild({ binDir: "/nowhere" })
  child.kill("SIGKILL")
  await once(child, "exit")
  return child.pid
}

describe("crashes around the embedded PostgreSQL", () => {
  it("has all committed rows after the server was killed, and starts again at once", async () => {
    const dir = await stoppedCluster()
    const first = await start({ dir })
    await query(first.url, "create table kept as select generate_series(1, 50000) as id")
    process.kill(first.pid, "SIGKILL")
    // The same process starts again without waiting for the last backends to notice.
    await waitFor("the end of the server", async () => !await isRunning(first.pid))
    const second = await start({ dir })
    assert.isTrue(second.owner)
    assert.deepStrictEqual(await query(second.url, "select count(*)::int4 as n from kept"), [{ n: 50_000 }])
    assert.include(await readFile(second.log, "utf8"), "automatic recovery in progress")
  })

  it("waits at the next start for a backend that outlived the killed server", async () => {
    const dir = await stoppedCluster()
    const first = await start({ dir, settings: { fsync: "off" } })
    // A loop that never waits does not notice the end of its server, and keeps the shared memory until it is done.
    const busy = query(first.url, "do $$ begin for i in 1..300000000 loop null; end loop; end $$").catch(() =>
      undefined
    )
    const backend = await waitFor("the busy backend", async () => {
      const [row] = await query<{ pid: number }>(
        first.url,
        "select pid from pg_stat_activity where query like 'do $$%'"
      )
      return row?.pid
    })
    process.kill(first.pid, "SIGKILL")
    await waitFor("the end of the server", async () => !await isRunning(first.pid))
    assert.isTrue(await isRunning(backend), "the backend outlives its server")
    const second = await start({ dir })
    assert.isFalse(await isRunning(backend))
    assert.include(await readFile(second.log, "utf8"), "pre-existing shared memory block")
    await busy
  })

  it("ends the server when its parent is killed", async () => {
    const dir = await stoppedCluster()
    const child = launchInChild({ dir, settings: { fsync: "off" } })
    const server = await launched(child)
    const group = (await readFile(`/proc/${server.pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ")[2]
    assert.strictEqual(group, String(server.pid), "the server has a separate process group")
    child.kill("SIGKILL")
    await waitFor("the end of the server", async () => !await isRunning(server.pid))
    assert.include(await readFile(server.log, "utf8"), "database system is shut down")
  })

  it("leaves no process behind when the server is killed", async () => {
    const server = await start({ dir: await stoppedCluster(), throwaway: true })
    const members = async () => {
      const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
      const states = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")))
      return states.filter((state) => state.replace(/^.*\) /, "").split(" ")[2] === String(server.pid)).length
    }
    // A backend belongs to this group until it has made a separate one.
    await waitFor("the server and the holder of its life-line alone", async () => await members() === 2)
    process.kill(server.pid, "SIGKILL")
    await waitFor("the end of the whole group", async () => await members() === 0)
  })

  it("leaves nothing half made when initdb is killed", async () => {
    const dir = join(await temporaryDirectory(), "pg")
    const binDir = await pretendBinaries({
      postgres: "exit 1",
      initdb: "while [ \"$1\" != -D ]; do shift; done; echo 18 >\"$2/PG_VERSION\"; kill -9 $$"
    })
    const error = await refusal("InitFailed", { dir, binDir })
    assert.include(error.message, "SIGKILL")
    assert.deepStrictEqual(await readdir(dir), [])
    const server = await start({ dir, throwaway: true })
    assert.isTrue(server.owner)
  })

  it("starts on a directory whose launcher was killed in the middle of initdb", async () => {
    const dir = join(await temporaryDirectory(), "pg")
    const child = launchInChild({ dir })
    const unfinished = await waitFor("a half-made cluster", async () => {
      const name = (await readdir(dir).catch(() => [])).find((entry) => entry.startsWith("data.new"))
      return name !== undefined && await access(join(dir, name, "PG_VERSION")).then(() => name, () => undefined)
    })
    child.kill("SIGKILL")
    const server = await start({ dir, settings: { fsync: "off" } })
    assert.isTrue(server.owner)
    assert.deepStrictEqual(await query(server.url, "select 1::int4 as one"), [{ one: 1 }])
    assert.notStrictEqual(unfinished, "data")
  })

  it("removes a postmaster.pid whose process id now belongs to another program", async () => {
    const dir = await stoppedCluster()
    const file = join(dir, "data", "postmaster.pid")
    await writeFile(file, `${process.pid}\n${join(dir, "data")}\n1\n1\n\n127.0.0.1\n0 0\nready   \n`)
    const server = await start({ dir })
    assert.isTrue(server.owner)
    assert.notStrictEqual(server.pid, process.pid)
  })

  it("does not join the server of another directory", async () => {
    const other = await start({ dir: await stoppedCluster(), throwaway: true })
    const dir = await stoppedCluster()
    const lines = [other.pid, join(dir, "data"), 1, other.port, "", "127.0.0.1", "0 0", "ready   ", ""]
    await writeFile(join(dir, "data", "postmaster.pid"), lines.join("\n"))
    const server = await start({ dir })
    assert.isTrue(server.owner)
    assert.notStrictEqual(server.pid, other.pid)
  })

  it("takes over the start lock of a process that died, and waits for one that lives", async () => {
    const dir = await stoppedCluster()
    await writeFile(join(dir, "start.lock"), `${await deadProcess()} 1 left`)
    const server = await start({ dir })
    await server.stop()
    assert.notInclude((await readdir(dir)).join(), "start.lock")

    await writeFile(join(dir, "start.lock"), `${process.pid}  held`)
    const error = await refusal("Timeout", { dir, timeoutMs: 200 })
    assert.include(error.message, String(process.pid))
  })
})
